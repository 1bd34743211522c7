/**
 * Problems from a file of any format and any known schema, row by row: no more than one row group of Parquet is held. A bad row is reported
 * by file and row, counted and skipped, or fatal where that is asked for.
 */
import type { Problem } from '../domain/problem.js';
import { type OpenOptions, openTable } from '../tables/openTable.js';
import type { BadRow, Table, TableRow } from '../tables/table.js';
import { UserError } from '../userError.js';
import { findSchema, SCHEMAS } from './schemas/index.js';
import type { Schema } from './schemas/schema.js';

export interface OpenProblemsOptions extends OpenOptions {
  /** A schema's name; absent: found from the columns and the first row. */
  readonly schema?: string;
  /** The first bad row is an error. */
  readonly strict?: boolean;
  /** At most so many rows, from the first. */
  readonly limit?: number;
  readonly onBad?: (row: BadRow) => void;
  readonly signal?: AbortSignal;
}

export interface ProblemRow {
  readonly problem: Problem;
  readonly row: TableRow;
}

export interface ProblemFile {
  /** As messages name it. */
  readonly name: string;
  readonly schema: Schema;
  readonly table: Table;
  /** From the first row, each time it is called. @throws UserError for damage of the file, and for the first bad row where `strict` */
  rows(): AsyncGenerator<ProblemRow, void, void>;
  /** Bad rows of the latest reading. */
  readonly bad: number;
  /** Rows of the latest reading whose id stood in an earlier one: they got `#2`, `#3` and so on behind it. */
  readonly renamed: number;
}

/**
 * @param source a path, or `hf:owner/name/path@revision`
 * @throws UserError where the file cannot be read, or is written in no known schema
 */
export async function openProblems(source: string, options: OpenProblemsOptions = {}): Promise<ProblemFile> {
  const { strict = false, limit, onBad, signal } = options;
  const table = await openTable(source, options);
  const schema = options.schema === undefined ? await schemaOf(table) : findSchema(options.schema);
  let bad = 0;
  let renamed = 0;
  async function* rows(): AsyncGenerator<ProblemRow, void, void> {
    bad = 0;
    renamed = 0;
    const ids = new SeenIds();
    const tell = (row: BadRow): void => {
      bad++;
      onBad?.(row);
    };
    // Row by row, so that bad rows are told in their order, whichever room finds them.
    const reading = { batchRows: 1, ...(limit !== undefined && { limit }), ...(signal && { signal }), ...(!strict && { onBad: tell }) };
    for await (const batch of table.batches(reading)) {
      for (const row of batch) {
        let problem: Problem;
        try {
          problem = schema.read(row);
        } catch (error) {
          if (strict || !(error instanceof UserError)) throw error;
          tell({ where: row.where, error: withoutPlace(error.message, row.where) });
          continue;
        }
        const times = ids.count(problem.id);
        if (times > 1) renamed++;
        yield { problem: times === 1 ? problem : { ...problem, id: `${problem.id}#${times}` }, row };
      }
    }
  }
  return {
    name: table.name,
    schema,
    table,
    rows,
    get bad() {
      return bad;
    },
    get renamed() {
      return renamed;
    },
  };
}

/** Counts ids without keeping those that come once: of millions of rows their hashes are enough. */
class SeenIds {
  readonly #hashes = new Set<number>();
  readonly #repeated = new Map<string, number>();

  /** How often it came, with this time. Two different ones in 10^15 are taken for one, which does no harm: the later gets a longer id. */
  count(id: string): number {
    const hash = hashOf(id);
    if (!this.#hashes.has(hash)) {
      this.#hashes.add(hash);
      return 1;
    }
    const times = (this.#repeated.get(id) ?? 1) + 1;
    this.#repeated.set(id, times);
    return times;
  }
}

/** 52 bits. */
function hashOf(text: string): number {
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 15);
  }
  return (high >>> 12) * 2 ** 32 + (low >>> 0);
}

async function schemaOf(table: Table): Promise<Schema> {
  let first: TableRow | undefined;
  for await (const [row] of table.batches({ limit: 1, onBad: () => undefined })) first = row;
  const found = SCHEMAS.find((schema) => schema.matches(table.columns, first?.values ?? {}));
  if (found !== undefined) return found;
  const columns = table.columns.join(', ');
  throw new UserError(
    columns === '' ? `${table.name} has no rows` : `${table.name} is in no known form: it has the columns ${columns}`,
    `It must have a question (or problem, or prompt) and an answer; known forms: ${SCHEMAS.map(({ name }) => name).join(', ')}.`,
  );
}

const withoutPlace = (message: string, where: string): string =>
  message.startsWith(`${where}: `) ? message.slice(where.length + 2) : message;
