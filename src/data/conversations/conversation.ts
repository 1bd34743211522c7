/**
 * A row of an SFT set as a conversation: its messages, and the tools that it names. Does not read files, and does not tokenise.
 */
import type { Message } from '../../domain/message.js';
import type { ToolDescription } from '../../tools/jsonSchema.js';
import { broken, isRecord, isText, parseJsonText } from './fields.js';
import { readMessages } from './readMessages.js';
import { readTools } from './readTools.js';

export interface Conversation {
  readonly messages: readonly Message[];
  /** Absent where the row has none; an empty list says that there were none. */
  readonly tools?: readonly ToolDescription[];
}

/**
 * Reads the columns `messages` and `tools`, each a nested list or its JSON text. Messages have the OpenAI form: calls with arguments as
 * JSON text or as an object, `tool_call_id`, `name`, content that is null or a list of text parts, `reasoning_content`. Calls that stand
 * as `<tool_call>` in the assistant's text become calls, and a user's message of `<tool_response>` the results.
 *
 * @param where stands in front of errors, for example `set.parquet: row 12`
 * @throws UserError naming the row and the message
 */
export function readConversation(values: Readonly<Record<string, unknown>>, where: string): Conversation {
  const messages = readMessages(listOf(values.messages, `${where}: messages`), where);
  const tools = readTools(values.tools, where);
  return tools === undefined ? { messages } : { messages, tools };
}

const MESSAGES_HINT =
  'A row is for example {"messages": [{"role": "user", "content": "What is 6 * 7?"}, {"role": "assistant", "content": "42"}]}.';

/** The raw items of a row's `messages`. @throws UserError when there are none */
function listOf(given: unknown, where: string): readonly Readonly<Record<string, unknown>>[] {
  if (given === undefined || given === null) throw broken(where, 'there are none', MESSAGES_HINT);
  const list = isText(given) ? parseJsonText(given, where) : given;
  if (!Array.isArray(list)) throw broken(where, 'not a list', MESSAGES_HINT);
  if (list.length === 0) throw broken(where, 'the list is empty', MESSAGES_HINT);
  return list.map((item: unknown, i) => {
    if (!isRecord(item)) throw broken(where, `item ${i + 1} is not an object`, MESSAGES_HINT);
    return item;
  });
}
