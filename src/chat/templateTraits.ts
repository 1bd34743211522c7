/**
 * What a chat template does, found by rendering small conversations: how it ends a turn, whether it knows tools and the tool role, and
 * whether a longer conversation begins with the text of the shorter one. Does not tokenise beyond finding the end-of-turn token.
 */
import { UserError } from '../userError.js';
import type { ChatTemplate, TemplateMessage } from './chatTemplate.js';
import type { Tokenizer } from './tokenizer.js';

export interface TemplateTraits {
  /** What ends an assistant's turn, up to and with its end-of-turn token. */
  readonly turnEnd: string;
  readonly describesTools: boolean;
  readonly hasToolRole: boolean;
  /** Whether the header of a turn already opens the thinking. */
  readonly opensThinking: boolean;
  /** Whether a longer conversation begins with the text of the shorter one, thinking included. */
  readonly prefixPreserving: boolean;
  readonly notes: readonly string[];
  /** The text after the end-of-turn token when these messages follow, up to where the assistant writes again. */
  afterTurn(messages: readonly TemplateMessage[]): string;
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
    opensThinking: template.render([QUESTION], true).trimEnd().endsWith('<think>'),
    prefixPreserving: preserving.ok,
    notes,
    afterTurn,
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
  const rendered = template.tryRender([{ role: 'system', content: 'SystemMark' }, QUESTION], true, [probe]);
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

/** Two calls and their results, with thinking before each: are our own tokens what the template would print? */
function checkPrefixes(
  template: ChatTemplate,
  turnEnd: string,
  afterTurn: (messages: readonly TemplateMessage[]) => string,
  hasToolRole: boolean,
): { ok: boolean; notes: string[] } {
  const reply = (text: string): TemplateMessage =>
    hasToolRole ? { role: 'tool', content: text } : { role: 'user', content: `<tool_response>\n${text}\n</tool_response>` };
  const breaksWith = (think: boolean): string | undefined => {
    const turn = (n: number): string => `${think ? `<think>\nThought${n}\n</think>\n\n` : ''}Call${n}`;
    const messages: TemplateMessage[] = [QUESTION];
    let expected = template.render(messages, true);
    for (const n of [1, 2]) {
      messages.push({ role: 'assistant', content: turn(n) }, reply(`Result${n}`));
      expected += turn(n) + turnEnd + afterTurn([reply(`Result${n}`)]);
    }
    const whole = template.tryRender(messages, true);
    if (whole === undefined) return 'it fails on a conversation with two calls';
    return whole === expected ? undefined : difference(expected, whole);
  };
  const plain = breaksWith(false);
  const thinking = breaksWith(true);
  if (plain === undefined && thinking === undefined) return { ok: true, notes: [] };
  const what =
    plain === undefined
      ? `The chat template is not prefix-preserving: it changes the thinking of earlier turns (${thinking}).`
      : `The chat template is not prefix-preserving: it renders earlier turns differently (${plain}).`;
  return {
    ok: false,
    notes: [`${what} Earlier turns are never rendered again: the tokens as sampled are kept, and only what comes new is rendered.`],
  };
}

function difference(expected: string, actual: string): string {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at++;
  const show = (text: string): string => (at >= text.length ? 'the end' : JSON.stringify(text.slice(at, at + 24)));
  return `${show(actual)} where ${show(expected)} was`;
}
