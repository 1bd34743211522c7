/**
 * What kind of set a file is, and its rows as what they are: problems of a known schema, conversations, a difficulty profile, or rows of an
 * unknown table. Row by row; a row that cannot be read is a value, not an error.
 */
import type { Problem } from '../domain/problem.js';
import { SCHEMAS } from '../problems/schemas/index.js';
import type { Schema } from '../problems/schemas/schema.js';
import { openTable } from '../tables/openTable.js';
import type { BadRow, Table, TableRow } from '../tables/table.js';
import { UserError } from '../userError.js';
import { type Conversation, readConversation } from './conversations/conversation.js';

export type SetKind = 'problems' | 'conversations' | 'difficulty profile' | 'table';

export type SetRow =
  | { readonly kind: 'problem'; readonly row: TableRow; readonly problem: Problem }
  | { readonly kind: 'conversation'; readonly row: TableRow; readonly conversation: Conversation }
  /** Of a profile or an unknown table. */
  | { readonly kind: 'row'; readonly row: TableRow }
  /** `row` where its values could be read, but not what they mean. */
  | { readonly kind: 'bad'; readonly bad: BadRow; readonly row?: TableRow };

export interface SetFile {
  readonly table: Table;
  readonly kind: SetKind;
  /** Of problems. */
  readonly schema?: Schema;
  /** From the first row, each time it is called. @throws UserError for damage of the file */
  rows(options?: { readonly limit?: number; readonly signal?: AbortSignal }): AsyncGenerator<SetRow, void, void>;
}

/** Lists and objects nested deeper are no data anybody meant; what walks through rows relies on it. */
export const DEEPEST = 100;

/** @throws UserError where the file cannot be read */
export async function openSet(source: string): Promise<SetFile> {
  const table = await openTable(source);
  const { kind, schema } = await kindOf(table);
  return {
    table,
    kind,
    ...(schema !== undefined && { schema }),
    async *rows({ limit, signal } = {}) {
      const bad: BadRow[] = [];
      const options = { ...(limit !== undefined && { limit }), ...(signal && { signal }), onBad: (row: BadRow) => void bad.push(row) };
      const badBefore = (number: number): SetRow[] => {
        const count = bad.findIndex((one) => numberOf(one) > number);
        return bad.splice(0, count === -1 ? bad.length : count).map((one) => ({ kind: 'bad', bad: one }));
      };
      for await (const batch of table.batches(options)) {
        for (const row of batch) {
          if (bad.length > 0) yield* badBefore(row.number);
          yield readRow(row, kind, schema);
        }
      }
      yield* badBefore(Number.POSITIVE_INFINITY);
    },
  };
}

/** Of the row, from the place where it stands. */
const numberOf = ({ where }: BadRow): number => Number(/\d+$/.exec(where)?.[0] ?? 0);

async function kindOf(table: Table): Promise<{ readonly kind: SetKind; readonly schema?: Schema }> {
  const { columns } = table;
  for await (const [first] of table.batches({ limit: 1, onBad: () => undefined })) {
    const values = first?.values ?? {};
    if (columns.includes('messages') && isConversation(values.messages)) return { kind: 'conversations' };
    if (['accuracy', 'valid', 'fingerprint', 'settings'].every((name) => columns.includes(name))) return { kind: 'difficulty profile' };
    const schema = SCHEMAS.find((one) => one.matches(columns, values));
    if (schema !== undefined) return { kind: 'problems', schema };
  }
  return { kind: 'table' };
}

function isConversation(messages: unknown): boolean {
  if (typeof messages === 'string') return /^\s*\[\s*\{/.test(messages) && messages.includes('"role"');
  return Array.isArray(messages) && messages.every((item) => typeof item === 'object' && item !== null);
}

function readRow(row: TableRow, kind: SetKind, schema: Schema | undefined): SetRow {
  if (deeper(row.values, DEEPEST)) return { kind: 'bad', bad: { where: row.where, error: `nested more than ${DEEPEST} deep` } };
  try {
    if (kind === 'conversations') return { kind: 'conversation', row, conversation: readConversation(row.values, row.where) };
    if (schema !== undefined) return { kind: 'problem', row, problem: schema.read(row) };
    return { kind: 'row', row };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { where } = row;
    const { message } = error;
    return { kind: 'bad', row, bad: { where, error: message.startsWith(`${where}: `) ? message.slice(where.length + 2) : message } };
  }
}

/** Whether a value is nested deeper; without recursion of its own beyond that depth. */
function deeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  if (depth === 0) return true;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return items.some((item) => typeof item === 'object' && deeper(item, depth - 1));
}
