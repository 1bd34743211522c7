/** Whether a conversation could have been: messages in order, every call answered, arguments as the tools' schemas say, a final answer. */
import type { Message, ToolCall } from '../../domain/message.js';
import { finalAnswer } from '../../problems/schemas/finalAnswer.js';
import { gradeChoice } from '../../reward/choice.js';
import { extractAnswer } from '../../reward/extract.js';
import { checkGold, sameAnswer } from '../../reward/math/gradeAnswer.js';
import type { ToolDescription } from '../../tools/jsonSchema.js';
import { UserError } from '../../userError.js';
import type { Conversation } from '../conversations/conversation.js';
import { type FaultOfRow, shown } from './fault.js';
import { mismatch } from './matchSchema.js';

/** @param values the row: its right answer, where it has one, is among them */
export function checkConversation({ messages, tools }: Conversation, values: Readonly<Record<string, unknown>>): FaultOfRow[] {
  return [...orderFaults(messages), ...callFaults(messages, tools), ...answerFaults(messages, values)];
}

/** Message numbers count from 1. */
function orderFaults(messages: readonly Message[]): FaultOfRow[] {
  const faults: FaultOfRow[] = [];
  const order = (detail: string): void => void faults.push({ kind: 'order', detail });
  const result = (detail: string): void => void faults.push({ kind: 'result', detail });
  let before: Message | undefined;
  let open: ToolCall[] = [];
  for (const [i, message] of messages.entries()) {
    const at = `message ${i + 1}`;
    if (message.role === 'tool') {
      const answered = open.findIndex(({ id }) => message.callId === undefined || id === undefined || id === message.callId);
      if (before?.role !== 'assistant' && before?.role !== 'tool') result(`${at} is a result, and no call stands before it`);
      else if (open.length === 0) result(`${at} is a result more than there were calls`);
      else if (answered === -1) result(`${at} answers the call ${shown(message.callId)}, which was not made`);
      else open = open.filter((_, k) => k !== answered);
    } else {
      if (open.length > 0) result(`${at} comes before ${openText(open)} has a result`);
      open = message.role === 'assistant' ? [...(message.toolCalls ?? [])] : [];
      if (message.role === 'system' && i > 0) order(`${at} is a system message; only the first can be`);
      if (message.role === 'assistant') {
        if (before === undefined || before.role === 'system') order(`${at} is the assistant's, and nobody has asked`);
        else if (before.role === 'assistant' && (before.toolCalls?.length ?? 0) === 0)
          order(`${at} is the assistant's, and so is the one before it`);
      }
      if (message.role === 'user' && before?.role === 'user') order(`${at} is the user's, and so is the one before it`);
    }
    before = message;
  }
  if (open.length > 0) result(`the conversation ends before ${openText(open)} has a result`);
  else if (before?.role === 'tool') order('the conversation ends with a result, not with an answer');
  else if (before?.role === 'user' || before?.role === 'system') order(`the conversation ends with a ${before.role} message`);
  return faults;
}

const openText = (open: readonly ToolCall[]): string =>
  open.length === 1 ? `the call of ${open[0]!.name}` : `each of ${open.length} calls (${open.map(({ name }) => name).join(', ')})`;

function callFaults(messages: readonly Message[], tools: readonly ToolDescription[] | undefined): FaultOfRow[] {
  if (tools === undefined) return [];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return messages.flatMap((message, i) => {
    if (message.role !== 'assistant') return [];
    return (message.toolCalls ?? []).flatMap((call): FaultOfRow[] => {
      const tool = byName.get(call.name);
      const at = `message ${i + 1} calls ${call.name}`;
      if (tool === undefined)
        return [
          {
            kind: 'tool',
            detail: `${at}, and the row lists ${tools.length === 0 ? 'no tools' : `only ${tools.map(({ name }) => name).join(', ')}`}`,
          },
        ];
      const wrong = mismatch(call.arguments, tool.parameters);
      return wrong === undefined ? [] : [{ kind: 'arguments', detail: `${at}: ${wrong}` }];
    });
  });
}

/** Columns that hold the right answer of a conversation's problem. */
const GOLD_NAMES = ['gold', 'answer', 'ground_truth', 'expected_answer', 'reference_answer', 'final_answer'];

/** Undefined where the row has none. */
export function goldOf(values: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of GOLD_NAMES) {
    const value = values[name];
    if (typeof value === 'number') return String(value);
    if (typeof value === 'string' && value.trim() !== '') return finalAnswer(value) ?? value;
  }
  return undefined;
}

function answerFaults(messages: readonly Message[], values: Readonly<Record<string, unknown>>): FaultOfRow[] {
  const gold = goldOf(values);
  const last = messages.at(-1);
  if (gold === undefined || values.kind === 'code' || last?.role !== 'assistant' || (last.toolCalls?.length ?? 0) > 0) return [];
  const { answer, note } = extractAnswer(last.content);
  if (answer === undefined)
    return [{ kind: 'answer', detail: `the last message boxes no answer (${note}); the right one is ${shown(gold)}` }];
  if (isRight(answer, gold, values)) return [];
  const unusable = values.kind === 'choice' ? undefined : checkGold(gold);
  if (unusable !== undefined) return [{ kind: 'gold', detail: `the right answer ${shown(gold)} cannot be used: ${unusable}` }];
  return [{ kind: 'answer', detail: `the last message boxes ${shown(answer)}; the right answer is ${shown(gold)}` }];
}

function isRight(answer: string, gold: string, { kind, options }: Readonly<Record<string, unknown>>): boolean {
  const texts = Array.isArray(options) && options.every((option) => typeof option === 'string') ? options : undefined;
  const same = checkGold(gold) === undefined && sameAnswer(answer, gold);
  // A lone letter may be that of a choice whose options the row does not keep.
  if (same || (kind !== 'choice' && texts === undefined && !/^[A-Z]$/.test(gold))) return same;
  try {
    return gradeChoice(answer, { gold, ...(texts !== undefined && { options: texts }) }).correct;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
