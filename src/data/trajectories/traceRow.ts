/**
 * One line of a log of chat completions as a conversation: the messages that were sent, and the one that came back. Understands the forms in
 * which such logs are kept; what a message may look like is known by `data/conversations/`.
 */
import type { TableRow } from '../../tables/table.js';
import { UserError } from '../../userError.js';
import { type Conversation, readConversation } from '../conversations/conversation.js';
import { isRecord, isText, parseJsonText, shown } from '../conversations/fields.js';

type Fields = Readonly<Record<string, unknown>>;

export interface Trace extends Conversation {
  readonly id: string;
  /** As the request or the response names it. */
  readonly model?: string;
  /** Answers beside the first, which is the one that is taken. */
  readonly otherChoices: number;
}

const HINT =
  'A line is {"messages": [...], "tools": [...]}, or {"request": {"messages": [...]}, "response": {"choices": [{"message": {...}}]}}; both as objects or as JSON text.';

/**
 * Forms: `{messages, tools?}` with the answer among the messages; `{request, response}`, also with `body` inside each or in place of
 * `request`, as batches have it; `{messages, tools?, response}`.
 * @throws UserError naming the row
 */
export function readTrace({ values, where }: TableRow): Trace {
  const sent = within(values.request ?? values.body, `${where}: request`) ?? values;
  const request = within(sent.body, `${where}: request`) ?? sent;
  if (request.messages === undefined || request.messages === null) throw new UserError(`${where}: it has no messages`, HINT);
  const answered = answerOf(values.response ?? values.completion, where);
  const messages = messagesOf(request.messages, `${where}: messages`);
  const { message, otherChoices = 0, id, model } = answered ?? {};
  const fields = {
    messages: (message === undefined ? messages : [...messages, message]).map(asSystem),
    tools: request.tools ?? values.tools,
  };
  const name = [values.id, values.custom_id, id].find((text): text is string | number => isText(text) || typeof text === 'number');
  const used = [model, request.model, values.model].find(isText);
  return {
    ...readConversation(fields, where),
    id: name === undefined || name === '' ? where : String(name),
    ...(used !== undefined && { model: used }),
    otherChoices,
  };
}

/** An object, or one written as JSON text; undefined for nothing. */
function within(given: unknown, where: string): Fields | undefined {
  if (given === undefined || given === null) return undefined;
  if (isText(given) && given.trimStart().startsWith('data:'))
    throw new UserError(`${where} is a stream of pieces`, 'Log the whole response, put together.');
  const value = isText(given) ? parseJsonText(given, where) : given;
  if (!isRecord(value)) throw new UserError(`${where} is not an object: ${shown(value)}`, HINT);
  return value;
}

function messagesOf(given: unknown, where: string): readonly unknown[] {
  const list = isText(given) ? parseJsonText(given, where) : given;
  if (!Array.isArray(list)) throw new UserError(`${where}: not a list`, HINT);
  return list;
}

interface Answered {
  readonly message: Fields;
  readonly otherChoices: number;
  readonly id: unknown;
  readonly model: unknown;
}

function answerOf(given: unknown, place: string): Answered | undefined {
  const where = `${place}: response`;
  const outer = within(given, where);
  if (outer === undefined) return undefined;
  const response = within(outer.body, where) ?? outer;
  const error = response.error ?? outer.error;
  if (error !== undefined && error !== null)
    throw new UserError(`${where} is an error: ${shown((isRecord(error) && error.message) || error)}`);
  const { choices } = response;
  if (!Array.isArray(choices) || choices.length === 0) throw new UserError(`${where} has no choices`, HINT);
  const [choice] = choices as unknown[];
  if (!isRecord(choice) || !isRecord(choice.message)) throw new UserError(`${where} has no message in its first choice`, HINT);
  const { finish_reason: ending } = choice;
  if (ending === 'length') throw new UserError(`${where} was cut at a token limit`);
  if (ending === 'content_filter') throw new UserError(`${where} was stopped by a content filter`);
  return { message: choice.message, otherChoices: choices.length - 1, id: response.id, model: response.model };
}

/** Newer models call their system message so. */
const asSystem = (message: unknown): unknown =>
  isRecord(message) && message.role === 'developer' ? { ...message, role: 'system' } : message;
