/** The conversations of a file of any format that `tables/` reads, one after the other. Bad rows are told, and left out or fatal. */
import { openTable } from '../../tables/openTable.js';
import { type BadRow, requireColumns, type TableRow } from '../../tables/table.js';
import { UserError } from '../../userError.js';
import { type Conversation, readConversation } from './conversation.js';

export interface ConversationRecord {
  /** The row's `id` where it has one, else where it stands. */
  readonly id: string;
  readonly conversation: Conversation;
  readonly row: TableRow;
}

export interface ReadConversationsOptions {
  /** Told of a row that cannot be read, which is then left out. Absent: the first one ends the reading. */
  readonly onBad?: (row: BadRow) => void;
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** @throws UserError for a file that cannot be read or has no column `messages`, and for a bad row where nobody is told of it */
export async function* readConversations(
  source: string,
  options: ReadConversationsOptions = {},
): AsyncGenerator<ConversationRecord, void, void> {
  const { onBad } = options;
  const table = await openTable(source);
  if (table.format !== 'jsonl' && table.format !== 'json') requireColumns(table, ['messages']);
  for await (const batch of table.batches(options)) {
    for (const row of batch) {
      const { id } = row.values;
      let conversation: Conversation;
      try {
        conversation = readConversation(row.exact ?? row.values, row.where);
      } catch (error) {
        if (!(error instanceof UserError) || onBad === undefined) throw error;
        onBad({ where: row.where, error: error.message.slice(`${row.where}: `.length) });
        continue;
      }
      yield { id: typeof id === 'string' || typeof id === 'number' ? String(id) : row.where, conversation, row };
    }
  }
}
