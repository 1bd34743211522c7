import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { calcProblems } from '../../problems/calc.js';
import { deriveSeed } from '../../random.js';
import { readTable } from '../../tables/openTable.js';
import { duckDb, temporaryFolder } from '../../tables/testSupport.js';
import { createTable } from '../../tables/writeTable.js';
import { problemHash } from '../difficulty/problemHash.js';
import { type ProfileRow, profileRow } from '../difficulty/profile.js';
import { PROFILE_COLUMNS } from '../difficulty/profileFile.js';
import { selectFile } from './selectFile.js';

const folder = temporaryFolder();
const oracle = duckDb();
const at = (name: string): string => join(folder.path, name);

const question = (i: number): string => `What is ${i} + 1?`;
const rowOf = (i: number, correct: number, n = 8): ProfileRow =>
  profileRow(
    { id: `p${i}`, question: question(i), answer: String(i + 1) },
    { n, valid: n, correct, tokens: 10 },
    { fingerprint: 'weights', settings: 's', enough: 4 },
  );

async function writeProfile(name: string, rows: readonly Record<string, unknown>[]): Promise<string> {
  const file = at(name);
  const table = await createTable(file, { schema: PROFILE_COLUMNS, force: true });
  for (const row of rows) await table.write(row);
  await table.close();
  return file;
}

/** 90 problems, ten of each number of right rollouts out of 8; columns that selection knows nothing of. */
async function makePool(name: string, count = 90): Promise<string> {
  const file = at(name);
  const table = await createTable(file, {
    force: true,
    schema: {
      question: 'text',
      answer: 'text',
      id: 'text',
      big: 'integer',
      nested: { struct: { list: { list: 'number' }, note: 'text' } },
    },
  });
  for (let i = 0; i < count; i++) {
    await table.write({
      question: question(i),
      answer: String(i + 1),
      id: `row ${i}`,
      big: i === 3 ? '9007199254740993' : i,
      nested: i % 7 === 0 ? null : { list: [i, 0.5], note: `n\u0000ö${i}` },
    });
  }
  await table.close();
  return file;
}
const profileRows = (count = 90): ProfileRow[] => Array.from({ length: count }, (_, i) => rowOf(i, i % 9));

describe('a selection from a file', () => {
  it('writes the rows it took as the pool has them, in the order and columns of the pool', async () => {
    const pool = await makePool('pool.parquet');
    const profile = await writeProfile(
      'profile.parquet',
      profileRows().map((row) => ({ ...row })),
    );
    const out = at('set.parquet');
    const selected = await selectFile({ pool, profile, target: 'uniform', out });
    expect(selected).toMatchObject({ rows: 70, pool: 90, solved: 10, unsolved: 10, unknown: 0, distance: 0 });
    expect(selected.buckets.every(({ taken }) => taken === 10)).toBe(true);
    const [types, wanted] = await Promise.all([
      oracle.query(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${out}')`),
      oracle.query(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${pool}')`),
    ]);
    expect(types).toEqual(wanted);
    const rows = await oracle.query(`SELECT * FROM '${out}'`);
    expect(rows).toEqual((await oracle.query(`SELECT * FROM '${pool}'`)).filter((_, i) => i % 9 !== 0 && i % 9 !== 8));
    const card = readFileSync(selected.card, 'utf8');
    for (const text of ['never solved', 'pool.parquet', 'profile.parquet', 'weights weights', 'seed 1']) expect(card).toContain(text);
    expect(card).not.toContain(folder.path);
  });

  it('under one seed is the same whatever the order of the pool, and another under another', async () => {
    const profile = await writeProfile(
      'order.parquet',
      profileRows().map((row) => ({ ...row })),
    );
    const lines = Array.from({ length: 90 }, (_, i) => JSON.stringify({ id: i, question: question(i), answer: String(i + 1) }));
    const forward = folder.write('forward.jsonl', lines.join('\n'));
    const backward = folder.write('backward.jsonl', [...lines].reverse().join('\n'));
    const idsOf = async (pool: string, seed: number): Promise<number[]> => {
      const out = at(`order-${seed}.jsonl`);
      await selectFile({ pool, profile, target: 'easy=1,medium=2,hard=1', size: 20, seed, out, force: true });
      return (await readTable(out)).map(({ values }) => values.id as number).sort((a, b) => a - b);
    };
    const first = await idsOf(forward, 1);
    expect(first).toHaveLength(20);
    expect(await idsOf(backward, 1)).toEqual(first);
    expect(await idsOf(forward, 2)).not.toEqual(first);
  });

  it("follows another model's profile, measured with another number of rollouts", async () => {
    const pool = await makePool('pool2.parquet');
    const profile = await writeProfile(
      'mine.parquet',
      profileRows().map((row) => ({ ...row })),
    );
    const other = [1, 1, 1, 2, 3, 4, 0].map((correct, i) => ({ ...rowOf(i, correct, 4) }));
    const target = await writeProfile('theirs.parquet', other);
    const selected = await selectFile({ pool, profile, target, size: 10, out: at('followed.jsonl') });
    expect(Object.fromEntries(selected.buckets.filter(({ taken }) => taken > 0).map(({ name, taken }) => [name, taken]))).toEqual({
      '2/8': 6,
      '4/8': 2,
      '6/8': 2,
    });
    expect(selected.targetLeftOut).toBeCloseTo(2 / 7);
  });

  it('says where the pool is too small, or refuses when it must be exact', async () => {
    const pool = await makePool('small.parquet', 20);
    const profile = await writeProfile(
      'small-profile.parquet',
      profileRows(20).map((row) => ({ ...row })),
    );
    const base = { pool, profile, target: 'uniform', size: 14, out: at('small.jsonl') };
    await expect(selectFile({ ...base, size: 21, exact: true })).rejects.toThrow('too small for this target: 2/8 (wanted 3, there 2)');
    expect(existsSync(base.out)).toBe(false);
    const exact = await selectFile({ ...base, exact: true });
    expect([exact.rows, exact.short]).toEqual([14, []]);
    const short = await selectFile({ ...base, target: 'easy=1,hard=1', size: 12, force: true });
    expect(short.rows).toBeLessThanOrEqual(12);
    expect(short.short).toContain('easy');
  });

  it('without a size is refused where the target needs what the pool has nothing of', async () => {
    const pool = await makePool('gap.parquet');
    const rows = profileRows().map((row, i) => ({ ...(i % 9 === 7 ? rowOf(i, 6) : row) }));
    const base = { pool, profile: await writeProfile('gap-profile.parquet', rows), target: 'uniform', out: at('gap.jsonl') };
    await expect(selectFile(base)).rejects.toThrow('no set follows this target: the pool has no problem in 7/8');
    expect(existsSync(base.out)).toBe(false);
    expect(await selectFile({ ...base, size: 30 })).toMatchObject({ rows: 30, short: ['7/8'] });
  });

  it('takes always and never solved ones only when asked to', async () => {
    const pool = await makePool('certain.parquet');
    const profile = await writeProfile(
      'certain-profile.parquet',
      profileRows().map((row) => ({ ...row })),
    );
    const kept = await selectFile({ pool, profile, target: 'uniform', keepSolved: true, keepUnsolved: true, out: at('certain.jsonl') });
    expect([kept.rows, kept.solved, kept.unsolved, kept.buckets.length]).toEqual([90, 0, 0, 9]);
  });

  it('counts what the profile does not know and what has no label, and finds a problem by its text, not by its id', async () => {
    const pool = await makePool('gaps.parquet', 30);
    const rows = profileRows(20).map((row, i) => ({ ...row, id: 'renamed', ...(i === 4 && { accuracy: null, label: null }) }));
    const profile = await writeProfile('gaps-profile.parquet', rows);
    const selected = await selectFile({ pool, profile, target: 'medium=1', out: at('gaps.jsonl') });
    expect(selected).toMatchObject({ pool: 30, unknown: 10, unlabelled: 1 });
    expect(selected.rows).toBe([...Array(20).keys()].filter((i) => i !== 4 && [3, 4, 5].includes(i % 9)).length);
  });

  it('leaves out bad rows, told by place, or ends at the first', async () => {
    const profile = await writeProfile(
      'bad-profile.parquet',
      profileRows(3).map((row) => ({ ...row })),
    );
    const good = (i: number): string => JSON.stringify({ question: question(i), answer: String(i + 1) });
    const pool = folder.write('bad.jsonl', [good(1), '{"question": 5}', JSON.stringify({ question: 'No answer?' }), good(2)].join('\n'));
    const lines: string[] = [];
    const selected = await selectFile({ pool, profile, target: 'hard=1', out: at('bad-out.jsonl'), log: (line) => lines.push(line) });
    expect([selected.rows, selected.bad]).toEqual([2, 2]);
    expect(lines).toEqual([expect.stringMatching(/bad\.jsonl:2: .*not a text/), expect.stringMatching(/bad\.jsonl:3: .*no answer/)]);
    await expect(selectFile({ pool, profile, target: 'hard=1', out: at('bad-strict.jsonl'), strict: true })).rejects.toThrow('bad.jsonl:2');
  });

  it('draws from a generator too', async () => {
    const problems = calcProblems({ size: 'small', split: 'train', seed: deriveSeed(1, 'train'), count: 12 });
    const rows = problems.map((problem, i) => ({ ...rowOf(i, 1 + (i % 7)), problem: problemHash(problem) }));
    const profile = await writeProfile('calc-profile.parquet', rows);
    const out = at('calc.jsonl');
    const selected = await selectFile({ pool: 'calc-small', count: 12, profile, target: 'medium=1', out });
    expect((await readTable(out)).map(({ values }) => values.id)).toEqual(
      problems.filter((_, i) => [3, 4, 5].includes(1 + (i % 7))).map(({ id }) => id),
    );
    expect(selected.rows).toBeGreaterThan(2);
    await expect(selectFile({ pool: 'calc-small', profile, target: 'uniform', out: at('none.jsonl') })).rejects.toThrow('endless');
  });

  it.each([
    ['a profile of other problems', { rows: () => [rowOf(500, 3)] }, 'none of the 10 problems'],
    ['rows of two models', { rows: () => [rowOf(1, 3), { ...rowOf(2, 3), fingerprint: 'others' }] }, 'another model'],
    ['an empty profile', { rows: () => [] }, 'empty profile'],
    ['a bucket that the target needs and the pool lacks', { rows: () => [rowOf(1, 3)], target: 'easy=1,medium=1' }, 'no problem in easy'],
    ['--exact without a size', { rows: () => [rowOf(1, 3)], exact: true }, 'goes with --size'],
  ])('refuses %s', async (name, { rows, ...options }: { rows: () => ProfileRow[]; target?: string; exact?: boolean }, message) => {
    const pool = await makePool('refused.parquet', 10);
    const profile = await writeProfile(
      'refused-profile.parquet',
      rows().map((row) => ({ ...row })),
    );
    const out = at(`refused ${name}.jsonl`);
    await expect(selectFile({ pool, profile, target: 'medium=1', out, ...options })).rejects.toThrow(message);
    expect(existsSync(out)).toBe(false);
  });

  it('refuses a file that is no profile, and to write over a set', async () => {
    const pool = await makePool('twice.parquet', 10);
    await expect(selectFile({ pool, profile: pool, target: 'uniform', out: at('x.jsonl') })).rejects.toThrow(/no column "problem"/);
    const profile = await writeProfile('twice-profile.parquet', [{ ...rowOf(1, 3) }]);
    const out = at('twice.jsonl');
    await selectFile({ pool, profile, target: 'medium=1', out });
    await expect(selectFile({ pool, profile, target: 'medium=1', out })).rejects.toThrow('is there already');
  });
});
