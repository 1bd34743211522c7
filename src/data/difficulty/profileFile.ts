/** A difficulty profile as a file: its columns, and read back as a table from a problem's text to what was measured. */
import { openTable } from '../../tables/openTable.js';
import type { ParquetColumns } from '../../tables/parquetSchema.js';
import { requireColumns } from '../../tables/table.js';
import { UserError } from '../../userError.js';
import type { ProfileRow } from './profile.js';

export const PROFILE_COLUMNS = {
  id: 'text',
  source: 'text',
  problem: 'text',
  accuracy: 'number',
  correct: 'integer',
  valid: 'integer',
  n: 'integer',
  label: 'text',
  drop: 'text',
  tokens: 'number',
  fingerprint: 'text',
  settings: 'text',
} as const satisfies ParquetColumns & Record<keyof ProfileRow, unknown>;

export interface Profile {
  readonly name: string;
  readonly rows: number;
  /** Rollouts a problem. */
  readonly n: number;
  readonly fingerprint: string;
  /** By the hash of a problem's text; null where too few rollouts were valid. */
  readonly accuracies: ReadonlyMap<string, number | null>;
}

/** @throws UserError where the file is no profile, holds nothing, or holds those of several models */
export async function readProfile(file: string, signal?: AbortSignal): Promise<Profile> {
  const table = await openTable(file);
  const columns = ['problem', 'accuracy', 'n', 'fingerprint'];
  requireColumns(table, columns);
  const accuracies = new Map<string, number | null>();
  let rows = 0;
  let most = 0;
  let fingerprint: string | undefined;
  for await (const batch of table.batches({ columns, ...(signal && { signal }) })) {
    for (const { values, where } of batch) {
      const { problem, n } = values;
      const accuracy = values.accuracy ?? null;
      if (typeof problem !== 'string' || typeof values.fingerprint !== 'string' || !isCount(n) || !isAccuracy(accuracy))
        throw new UserError(`${where} is no row of a difficulty profile`, 'Measure it by `toolwise data difficulty`.');
      fingerprint ??= values.fingerprint;
      if (values.fingerprint !== fingerprint)
        throw new UserError(
          `${where} is of another model than the rows before it: ${values.fingerprint}, not ${fingerprint}`,
          'A profile is one of one model; keep them in files of their own.',
        );
      accuracies.set(problem, accuracy);
      rows++;
      most = Math.max(most, n);
    }
  }
  if (fingerprint === undefined) throw new UserError(`${file} is an empty profile`, 'Measure it by `toolwise data difficulty`.');
  return { name: table.name, rows, n: most, fingerprint, accuracies };
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 1;
const isAccuracy = (value: unknown): value is number | null => value === null || (typeof value === 'number' && value >= 0 && value <= 1);
