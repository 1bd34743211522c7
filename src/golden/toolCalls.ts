/**
 * The vectors of tool calls. Calls are read by `parseTurn` and run by `ToolSession`; the loop around them is a small one of this file, with
 * one character (code point) a token and the released limits. It is not the loop of `rollout/`, which has tests of its own.
 */
import { z } from 'zod';
import { parseTurn } from '../chat/parseTurn.js';
import type { CallSegment, CutOffCallSegment, MalformedCallSegment, Segment } from '../domain/segment.js';
import { Toolbox, ToolSession } from '../tools/callTool.js';
import type { Tool } from '../tools/tool.js';
import { type Inputs, isRecord, list, number, text, VectorError } from './vector.js';

type CallLike = CallSegment | MalformedCallSegment | CutOffCallSegment;

const isCall = (segment: Segment): segment is CallLike =>
  segment.kind === 'call' || segment.kind === 'malformedCall' || segment.kind === 'cutOffCall';

export function hermesParse(inputs: Inputs): unknown {
  const segments = parseTurn(text(inputs, 'text'));
  const calls = segments.flatMap((segment) => (segment.kind === 'call' ? [{ name: segment.name, argumentsValue: segment.arguments }] : []));
  return { calls, malformed: segments.filter(isCall).length - calls.length };
}

/** One call against one stub tool. The released limit counts code points, and does not shorten errors. */
export async function callTool(inputs: Inputs): Promise<unknown> {
  const stub = inputs.tool;
  if (!isRecord(stub)) throw new VectorError('input "tool" is no object');
  const limit = number(inputs, 'limit');
  const side = text(inputs, 'side');
  const run = (): { kind: 'ok' | 'error'; text: string } =>
    typeof stub.raises === 'string'
      ? { kind: 'error', text: `Error when executing tool: ${stub.raises}` }
      : { kind: 'ok', text: truncateCharacters(String(stub.returns), limit, side) };
  const required =
    typeof stub.requires === 'string' ? { [stub.requires]: z.unknown().refine((value) => value !== undefined, 'is missing') } : {};
  const session = sessionOf({ name: String(stub.name), description: '', parameters: z.looseObject(required), execute: run });
  const [call] = parseTurn(
    `<tool_call>{"name": ${JSON.stringify(text(inputs, 'name'))}, "arguments": ${text(inputs, 'arguments')}}</tool_call>`,
  ).filter(isCall);
  return { text: call === undefined ? '' : await answer(session, call) };
}

/** Scripted turns, one token a code point; "S[q]A:" is the prompt, a round of results adds "[" text "]" each and then "A:". */
export async function toolAgentLoop(inputs: Inputs): Promise<unknown> {
  const turns = list(inputs, 'turns').map(String);
  const results = list(inputs, 'toolResults').map(String);
  const limits = {
    response: number(inputs, 'responseLength'),
    /** Generation stops at prompt and response together; what then exceeds the response's own limit is cut off at the end. */
    context: number(inputs, 'promptLength') + number(inputs, 'responseLength'),
    assistantTurns: number(inputs, 'maxAssistantTurns'),
    userTurns: number(inputs, 'maxUserTurns'),
    calls: number(inputs, 'maxParallelCalls'),
    result: number(inputs, 'maxToolResponseLength'),
  };
  const side = typeof inputs.side === 'string' ? inputs.side : 'middle';
  const executedArguments: unknown[] = [];
  const session = sessionOf({
    name: 'code_interpreter',
    description: '',
    parameters: z.looseObject({}),
    execute: (args) => {
      executedArguments.push(args);
      return truncateCharacters(results[executedArguments.length - 1] ?? '', limits.result, side);
    },
  });
  const tokens: string[] = [];
  const mask: number[] = [];
  const append = (characters: readonly string[], bit: number): void => {
    for (const character of characters) {
      tokens.push(character);
      mask.push(bit);
    }
  };
  let assistantTurns = 0;
  let userTurns = 0;
  let malformedInARow = 0;
  for (const turn of turns) {
    const written = Array.from(turn).slice(0, Math.max(0, limits.context - PROMPT.length - tokens.length));
    append(written, 1);
    assistantTurns++;
    if (tokens.length >= limits.response || assistantTurns >= limits.assistantTurns || userTurns >= limits.userTurns) break;
    const calls = admitted(parseTurn(written.join('')).filter(isCall), limits.calls);
    if (calls.length === 0) break;
    malformedInARow = calls.some((call) => call.kind === 'call') ? 0 : malformedInARow + 1;
    if (malformedInARow >= MALFORMED_IN_A_ROW) break;
    let round = '';
    for (const call of calls) round += `[${await answer(session, call)}]`;
    const read = Array.from(`${round}A:`);
    if (tokens.length + read.length >= limits.response) break;
    append(read, 0);
    userTurns++;
  }
  const response = tokens.slice(0, limits.response).join('');
  const responseMask = mask.slice(0, limits.response).join('');
  return { response, responseMask, numTurns: userTurns + assistantTurns + 1, executedArguments, prompt: PROMPT };
}

const MALFORMED_IN_A_ROW = 3;
const PROMPT = 'S[q]A:';

/** The first `limit` calls that can be read, and all that cannot, in order. */
function admitted(calls: readonly CallLike[], limit: number): CallLike[] {
  let read = 0;
  return calls.filter((call) => call.kind !== 'call' || read++ < limit);
}

function sessionOf(tool: Tool<z.ZodType<Record<string, unknown>>>): ToolSession {
  return new ToolSession(new Toolbox([tool]), {
    problem: { id: 'golden', question: 'q' },
    trajectoryId: 'golden',
    signal: new AbortController().signal,
    timeoutSeconds: 60,
    shorten: (result) => result,
  });
}

async function answer(session: ToolSession, call: CallLike): Promise<string> {
  if (call.kind !== 'call') return session.refuse(call).text;
  const outcome = await session.call(call);
  return outcome.kind === 'replied' ? outcome.reply.text : outcome.error;
}

/** `middle` keeps both ends, `left` the head, `right` the tail; code points, the marker not counted. */
export function truncateCharacters(result: string, limit: number, side: string): string {
  const characters = Array.from(result);
  if (characters.length <= limit) return result;
  const head = (count: number): string => characters.slice(0, count).join('');
  const tail = (count: number): string => characters.slice(characters.length - count).join('');
  if (side === 'left') return `${head(limit)}...(truncated)`;
  if (side === 'right') return `(truncated)...${tail(limit)}`;
  const half = Math.floor(limit / 2);
  return `${head(half)}...(truncated)...${tail(half)}`;
}
