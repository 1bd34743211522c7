/**
 * What a chat template does, found by rendering small conversations: how it ends a turn, whether it knows tools and the tool role, and
 * whether a longer conversation begins with the text of the shorter one. Does not tokenise beyond finding the end-of-turn token.
 */
import type { ToolCall } from '../domain/message.js';
import { UserError } from '../userError.js';
import type { ChatTemplate, TemplateMessage } from './chatTemplate.js';
import { parseTurn } from './parseTurn.js';
import type { Tokenizer } from './tokenizer.js';

export interface TemplateTraits {
  /** What ends an assistant's turn, up to and with its end-of-turn token. */
  readonly turnEnd: string;
  readonly describesTools: boolean;
  readonly hasToolRole: boolean;
  /** False where the template refuses system messages; one that leaves them out on purpose has the role. */
  readonly hasSystemRole: boolean;
  /** Whether the header of a turn already opens the thinking. */
  readonly opensThinking: boolean;
  /** Whether a longer conversation begins with the text of the shorter one, thinking included. */
  readonly prefixPreserving: boolean;
  readonly notes: readonly string[];
  /** The text after the end-of-turn token when these messages follow, up to where the assistant writes again. */
  afterTurn(messages: readonly TemplateMessage[]): string;
  /** Calls as they follow a turn's content, in the form that the template writes and we read; undefined where it writes another. */
  writeCalls(calls: readonly ToolCall[]): string | undefined;
}

const QUESTION: TemplateMessage = { role: 'user', content: 'QuestionMark' };
const TURN = 'TurnMark';

/** @throws UserError when the template cannot carry a conversation at all. */
export function inspectTemplate(template: ChatTemplate, tokenizer: Tokenizer): TemplateTraits {
  const notes: string[] = [];
  const turnEnd = findTurnEnd(template, tokenizer, notes);

  const afterTurn = (messages: readonly TemplateMessage[]): string => {
    const rendered = template.render([QUESTION, { role: 'assistant', content: TURN }, ...messages], true);
    return rest(rendered, turnEnd);
  };
  const hasToolRole = knowsToolRole(template);
  const preserving = checkPrefixes(template, turnEnd, afterTurn, hasToolRole);
  notes.push(...preserving.notes);
  return {
    turnEnd,
    describesTools: printsTools(template),
    hasToolRole,
    hasSystemRole: template.tryRender([{ role: 'system', content: 'SystemMark' }, QUESTION], true) !== undefined,
    opensThinking: template.render([QUESTION], true).trimEnd().endsWith('<think>'),
    prefixPreserving: preserving.ok,
    notes,
    afterTurn,
    writeCalls: callWriter(template, turnEnd),
  };
}

/** What follows a turn's content and its end, or only its content where the template has no end of its own. */
function rest(rendered: string, turnEnd: string): string {
  const at = rendered.indexOf(TURN);
  const after = rendered.slice(at + TURN.length);
  return after.startsWith(turnEnd) ? after.slice(turnEnd.length) : after;
}

function findTurnEnd(template: ChatTemplate, tokenizer: Tokenizer, notes: string[]): string {
  const conversation: TemplateMessage[] = [QUESTION, { role: 'assistant', content: TURN }, { role: 'user', content: 'NextMark' }];
  let rendered: string;
  try {
    rendered = template.render(conversation, true);
  } catch (error) {
    throw new UserError(`The chat template cannot render a conversation: ${(error as Error).message}`);
  }
  const at = rendered.indexOf(TURN);
  const next = rendered.indexOf('NextMark', at);
  if (at === -1 || next === -1 || rendered.indexOf('QuestionMark') === -1) {
    throw new UserError('The chat template does not print all messages of a conversation.', 'Use a template that does.');
  }
  const ids = tokenizer.encode(rendered.slice(at + TURN.length, next));
  const end = ids.findIndex((id) => tokenizer.isAdded(id));
  if (end !== -1) return tokenizer.decode(ids.slice(0, end + 1));
  const eos = tokenizer.namedToken('eos_token');
  if (eos === undefined || tokenizer.idOf(eos) === undefined) {
    throw new UserError('The chat template ends turns without a token of its own, and the tokenizer names no eos_token.');
  }
  notes.push(`The chat template ends turns without a token of its own: ${eos} ends the model's turns.`);
  return eos;
}

function printsTools(template: ChatTemplate): boolean {
  const probe = { name: 'tool_probe', description: 'DescriptionMark', parameters: { type: 'object', properties: {} } };
  const rendered = template.tryRender([QUESTION], true, [probe]);
  return rendered?.includes('tool_probe') ?? false;
}

/** A template that prints any made-up role in the same way does not know this one. */
function knowsToolRole(template: ChatTemplate): boolean {
  const withRole = (role: string): string | undefined =>
    template.tryRender([QUESTION, { role: 'assistant', content: TURN }, { role, content: 'ReplyMark' }], true);
  const tool = withRole('tool');
  if (tool === undefined || !tool.includes('ReplyMark')) return false;
  return withRole('zzrole')?.replace('zzrole', 'tool') !== tool;
}

/** The template's own way to write calls, where it is one that `parseTurn` reads. */
function callWriter(template: ChatTemplate, turnEnd: string): TemplateTraits['writeCalls'] {
  const write = (calls: readonly ToolCall[]): string | undefined => {
    const tool_calls = calls.map((call) => ({ type: 'function', function: call }));
    const rendered = template.tryRender([QUESTION, { role: 'assistant', content: TURN, tool_calls }], false);
    const at = rendered?.indexOf(TURN) ?? -1;
    if (rendered === undefined || at === -1) return undefined;
    const end = rendered.lastIndexOf(turnEnd);
    return end < at ? undefined : rendered.slice(at + TURN.length, end);
  };
  const probe: ToolCall = { name: 'tool_probe', arguments: { text: 'say "1"\n<2>', number: 3 } };
  const read = parseTurn(write([probe]) ?? '');
  const [call] = read;
  const readable =
    read.length === 1 &&
    call?.kind === 'call' &&
    call.name === probe.name &&
    call.repairs.length === 0 &&
    JSON.stringify(call.arguments) === JSON.stringify(probe.arguments);
  return readable ? write : () => undefined;
}

/** Two calls with their results and a second question, with thinking: are the tokens that we keep what the template would print? */
function checkPrefixes(
  template: ChatTemplate,
  turnEnd: string,
  afterTurn: (messages: readonly TemplateMessage[]) => string,
  hasToolRole: boolean,
): { ok: boolean; notes: string[] } {
  const reply = (text: string): TemplateMessage =>
    hasToolRole ? { role: 'tool', content: text } : { role: 'user', content: `<tool_response>\n${text}\n</tool_response>` };
  const breaksWith = (think: boolean, follow: readonly TemplateMessage[]): string | undefined => {
    const messages: TemplateMessage[] = [QUESTION];
    let expected = template.render(messages, true);
    for (const [n, next] of follow.entries()) {
      const content = `${think ? `<think>\nThought${n}\n</think>\n\n` : ''}Turn${n}`;
      messages.push({ role: 'assistant', content }, next);
      expected += content + turnEnd + afterTurn([next]);
    }
    const whole = template.tryRender(messages, true);
    if (whole === undefined) return 'it fails on a conversation of several turns';
    return whole === expected ? undefined : difference(expected, whole);
  };
  const calls = [reply('Result0'), reply('Result1')];
  const kept = 'Earlier turns are never rendered again: the tokens as sampled are kept, and only what comes new is rendered.';
  const broken = (what: string): { ok: boolean; notes: string[] } => ({
    ok: false,
    notes: [`The chat template is not prefix-preserving: ${what}. ${kept}`],
  });
  const plain = breaksWith(false, calls);
  if (plain !== undefined) return broken(`it renders earlier turns differently (${plain})`);
  const thinking = breaksWith(true, calls);
  if (thinking !== undefined) return broken(`it changes the thinking of earlier turns (${thinking})`);
  const nextQuestion = breaksWith(true, [...calls, { role: 'user', content: 'NextMark' }]);
  if (nextQuestion !== undefined) return broken('it drops the thinking before a new question; within one question it keeps it');
  return { ok: true, notes: [] };
}

function difference(expected: string, actual: string): string {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at++;
  const show = (text: string): string => (at >= text.length ? 'the end' : JSON.stringify(text.slice(at, at + 24)));
  return `${show(actual)} where ${show(expected)} was`;
}
