/**
 * The second pass over the sources: the drawn rows go to disk in the order of their files, and from there into the set in the set's order. Does
 * not choose them (`mix.ts`).
 */
import { deserialize, serialize } from 'node:v8';
import type { Problem } from '../../domain/problem.js';
import type { Schema } from '../../problems/schemas/schema.js';
import { type CreateOptions, createTable } from '../../tables/writeTable.js';
import { UserError } from '../../userError.js';
import { DiversityMeter } from '../diversity.js';
import type { Pool } from './pool.js';
import { Scratch } from './scratch.js';

export interface WriteOptions {
  readonly out: string;
  readonly schema: Schema;
  readonly force: boolean;
  /** Where there is room for the rows. */
  readonly folder: string;
  /** Of the sample whose diversity is measured. */
  readonly seed: number;
  readonly onProgress: ((what: string, done: number, all: number) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface WrittenSet {
  readonly rows: number;
  readonly bytes: number;
  readonly diversity: DiversityMeter;
}

const NOT_CHOSEN = 0xffffffff;

/**
 * @param order numbers in the pool, in the order of the set
 * @throws UserError where the set cannot be written, or a source changed meanwhile
 */
export async function writeSet(pool: Pool, order: Uint32Array, options: WriteOptions): Promise<WrittenSet> {
  const { out, schema, force, folder, seed, onProgress, signal } = options;
  const positions = new Uint32Array(pool.size).fill(NOT_CHOSEN);
  order.forEach((row, position) => {
    positions[row] = position;
  });
  const records = new Uint32Array(order.length);
  const diversity = new DiversityMeter({ seed });
  const ids = new Ids();
  const scratch = new Scratch(folder);
  const { originals, columns } = formOf(pool, schema);
  const table = await createTable(out, { force, ...columns }).catch((error: unknown) => {
    scratch.close();
    throw error;
  });
  try {
    for await (const { problem, values, number } of chosenRows(pool, positions, signal)) {
      const own = ids.unique(problem, number.source);
      const record = scratch.add(serialize(schema.write!(own, originals ? values : undefined)));
      records[positions[number.row]!] = record;
      diversity.add({ text: problem.question, source: problem.source, ability: problem.kind ?? 'math' });
      if (record % 1000 === 0) onProgress?.('copied', record, order.length);
    }
    for (let position = 0; position < order.length; position++) {
      if (position % 1000 === 0) {
        signal?.throwIfAborted();
        onProgress?.('written', position, order.length);
      }
      await table.write(deserialize(scratch.get(records[position]!)) as Record<string, unknown>);
    }
    return { ...(await table.close()), diversity };
  } catch (error) {
    await table.discard();
    throw error;
  } finally {
    scratch.close();
  }
}

/**
 * Rows stay as they stand in their files, every column, where all files have the same columns in the set's own schema; else they are written
 * anew in the schema's columns, so that all rows of the set are alike.
 */
function formOf({ sources }: Pool, schema: Schema): { originals: boolean; columns: Pick<CreateOptions, 'like' | 'schema'> } {
  const files = sources.map(({ file }) => file);
  // Of rows of text it is not known before what all of them hold.
  const declared = files.map(({ table }) => table.parquet && JSON.stringify(table.parquet.elements));
  const alike = files.length === 1 || declared.every((one) => one !== undefined && one === declared[0]);
  if (!alike || files.some((file) => file.schema.name !== schema.name)) return { originals: false, columns: { schema: schema.columns } };
  return { originals: true, columns: { like: files[0]!.table } };
}

interface ChosenRow {
  readonly problem: Problem;
  /** Of the row in its file. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly number: { readonly row: number; readonly source: string };
}

async function* chosenRows(pool: Pool, positions: Uint32Array, signal: AbortSignal | undefined): AsyncGenerator<ChosenRow> {
  let place = 0;
  for (const { file, name, first, rows } of pool.sources) {
    let row = first;
    let read = 0;
    for await (const { problem, row: tableRow } of file.rows()) {
      if (++read % 1000 === 0) signal?.throwIfAborted();
      if (read > rows) break;
      if (!pool.passedAt(place++)) continue;
      const number = { row: row++, source: name };
      if (positions[number.row] === NOT_CHOSEN) continue;
      yield { problem, values: tableRow.values, number };
    }
    if (read !== rows) throw new UserError(`${file.name} changed while it was read`, 'Mix again.');
  }
}

/** Ids that are unique in the set: one that stood in an earlier row gets its source before it. */
class Ids {
  readonly #seen = new Set<string>();

  unique(problem: Problem, source: string): Problem {
    let { id } = problem;
    for (let i = 1; this.#seen.has(id); i++) id = i === 1 ? `${source}:${problem.id}` : `${source}:${problem.id}#${i}`;
    this.#seen.add(id);
    return id === problem.id ? problem : { ...problem, id };
  }
}
