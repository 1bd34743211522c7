import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { madeProblem, textOf } from '../../bench/madeProblems.js';
import { openProblems } from '../../problems/readProblems.js';
import { readTable } from '../../tables/openTable.js';
import { createTable } from '../../tables/writeTable.js';
import { DiversityMeter } from '../diversity.js';
import { type MixOptions, mix, type RemovedPair } from './mix.js';
import { type MixPlanInput, resolvePlan } from './plan.js';

let folder: string;
const at = (name: string): string => join(folder, name);
const write = (name: string, rows: readonly object[]): string => {
  writeFileSync(at(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return at(name);
};
const made = (seed: number, count: number, prefix = 'p'): { id: string; question: string; answer: string }[] =>
  Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, question: textOf(madeProblem(seed, i)), answer: String(i) }));
const mixed = (name: string, plan: MixPlanInput, options: Partial<MixOptions> = {}) =>
  mix(resolvePlan(plan), { out: at(name), schema: 'plain', ...options });
const questions = async (name: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const { problem } of (await openProblems(at(name))).rows()) found.push(problem.question);
  return found;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwise-mix-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('mixing sources', () => {
  it('draws the counts that are wanted by seed, mixes the rows, and says what became of every row', async () => {
    const [a, b] = [write('a.jsonl', made(1, 40, 'a')), write('b.jsonl', made(2, 30, 'b'))];
    const plan = {
      sources: [
        { file: a, count: 12, name: 'first' },
        { file: b, name: 'second' },
      ],
    };
    const report = await mixed('one.jsonl', plan);
    expect(report.rows).toBe(42);
    expect(report.sources).toMatchObject([
      { name: 'first', rows: 40, available: 40, wanted: 12, kept: 12 },
      { name: 'second', rows: 30, available: 30, wanted: undefined, kept: 30 },
    ]);
    await mixed('two.jsonl', plan);
    expect(readFileSync(at('two.jsonl'), 'utf8')).toBe(readFileSync(at('one.jsonl'), 'utf8'));
    await mixed('three.jsonl', { ...plan, seed: 2 });
    const [one, three] = [await questions('one.jsonl'), await questions('three.jsonl')];
    expect(new Set(one).size).toBe(42);
    expect(one.filter((text) => three.includes(text)).length).toBeLessThan(42);
    const order = one.map((text) => made(1, 40).some(({ question }) => question === text));
    expect(order.indexOf(false)).toBeLessThan(order.lastIndexOf(true));
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('keeps the order of the sources where that is asked for', async () => {
    const a = write('order.jsonl', made(3, 9));
    await mixed('ordered.jsonl', { sources: [{ file: a }], shuffle: false });
    expect(await questions('ordered.jsonl')).toEqual(made(3, 9).map(({ question }) => question));
  });

  it('tells of a source that has too few rows, and goes on', async () => {
    const notes: string[] = [];
    const report = await mixed(
      'few.jsonl',
      { sources: [{ file: write('small.jsonl', made(4, 5)), count: 50 }] },
      { onNote: (text) => notes.push(text) },
    );
    expect(report.rows).toBe(5);
    expect(notes).toEqual([`${at('small.jsonl')}: 50 rows are wanted, 5 are left after all filters: 5 are in the set`]);
  });

  it('keeps the first copy in the order of the sources, and shows both', async () => {
    const [first, second, third] = made(5, 3);
    const a = write('dup-a.jsonl', [first!, second!]);
    const b = write('dup-b.jsonl', [
      { ...first!, id: 'copy', question: `**${first!.question.toUpperCase()}**` },
      { ...second!, id: 'near', question: `Please solve the following problem. ${second!.question}` },
      third!,
    ]);
    const pairs: RemovedPair[] = [];
    const report = await mixed(
      'dup.jsonl',
      {
        sources: [
          { file: a, name: 'a' },
          { file: b, name: 'b' },
        ],
      },
      { onPair: (pair) => pairs.push(pair) },
    );
    expect(report.sources).toMatchObject([
      { exact: 0, near: 0, kept: 2 },
      { exact: 1, near: 1, kept: 1 },
    ]);
    expect(pairs).toMatchObject([
      { why: 'exact', row: { where: 'b:1' }, equals: { where: 'a:1', text: first!.question } },
      { why: 'near', row: { where: 'b:2' }, equals: { where: 'a:2', text: second!.question } },
    ]);
    const exact = await mixed('dup2.jsonl', { sources: [{ file: a }, { file: b }], duplicates: 'exact' });
    expect(exact.rows).toBe(4);
    const all = await mixed('dup3.jsonl', { sources: [{ file: a }, { file: b }], duplicates: 'keep' });
    expect(all.rows).toBe(5);
    expect(new Set((await readTable(at('dup3.jsonl'))).map(({ values }) => values.id)).size).toBe(5);
  });

  it('leaves out problems of evaluation sets, and shows what they equal', async () => {
    const [leaked, templated, ...clean] = made(6, 12);
    const evaluation = write('eval.jsonl', [
      { question: leaked!.question, answer: '1' },
      { question: templated!.question, answer: '2' },
    ]);
    const train = write('train.jsonl', [
      { ...leaked!, question: `Look at this. ${leaked!.question} Then rest.` },
      { ...templated!, question: templated!.question.replace(/\d+/g, (digits) => String(Number(digits) + 1)) },
      ...clean,
    ]);
    const pairs: RemovedPair[] = [];
    const report = await mixed(
      'clean.jsonl',
      { sources: [{ file: train }], against: [evaluation] },
      { onPair: (pair) => pairs.push(pair) },
    );
    expect(report.sources).toMatchObject([{ contaminated: 1, kept: 11 }]);
    expect(pairs[0]).toMatchObject({
      why: 'evaluation ngram',
      removed: true,
      row: { where: `${train}:1` },
      equals: { where: `${evaluation}:1`, text: leaked!.question },
    });
    expect(report.against).toEqual([{ name: evaluation, problems: 2 }]);
    expect(await questions('clean.jsonl')).not.toContain(leaked!.question);
  });

  it('takes a benchmark by name, without what it asks for beside the question', async () => {
    const problem =
      'A quilt has 48 squares in 6 rows. A third of the squares of each row is red, and the others are blue. How many squares are blue?';
    const file = write('gsm.jsonl', [{ question: problem, answer: '#### 32' }]);
    const train = write('leaky.jsonl', [{ question: problem, answer: '32' }, ...made(7, 2)]);
    const report = await mixed('bench.jsonl', { sources: [{ file: train }], against: [`gsm8k=${file}`] });
    expect(report.sources).toMatchObject([{ contaminated: 1, kept: 2 }]);
    expect(report.pairs).toMatchObject([{ why: 'evaluation exact' }]);
    await expect(mixed('bad.jsonl', { sources: [{ file: train }], against: [at('absent.jsonl')] })).rejects.toThrow('absent.jsonl');
  });

  it('takes the rows that a filter wants', async () => {
    const rows = made(8, 6).map((row, i) => ({ ...row, source: i < 3 ? 'train-math-numina' : 'train-math-deep', tags: { level: i % 3 } }));
    const file = write('filter.jsonl', rows);
    const kept = async (where: NonNullable<MixPlanInput['sources'][number]['where']>) =>
      (await mixed('filtered.jsonl', { sources: [{ file, where }] }, { force: true })).rows;
    expect(await kept({ source: 'train-*-numina' })).toBe(3);
    expect(await kept({ source: ['*deep', 'other'] })).toBe(3);
    expect(await kept({ tags: { level: [1, 2] } })).toBe(4);
    expect(await kept({ kind: 'math', minCharacters: 1 })).toBe(6);
    await expect(kept({ kind: 'code' })).rejects.toThrow('nothing is left');
  });

  it('leaves out prompts that are too long with system text and tools', async () => {
    const short = { id: 's', question: 'What is 3 + 4?', answer: '7' };
    const long = { id: 'l', question: `What is ${Array.from({ length: 400 }, (_, i) => i).join(' + ')}?`, answer: '79800' };
    const file = write('long.jsonl', [short, long]);
    const report = await mixed('fits.jsonl', { sources: [{ file }], prompt: { tokenizer: 'nano', maxTokens: 400, recipe: 'nano' } });
    expect(report.sources).toMatchObject([{ tooLong: 1, kept: 1 }]);
    expect(report.prompt).toContain('400 tokens of nano');
    await expect(mixed('none.jsonl', { sources: [{ file }], prompt: { tokenizer: 'nano', maxTokens: 3, recipe: 'nano' } })).rejects.toThrow(
      'nothing is left',
    );
  });

  it('reports bad rows and goes on, or ends at the first', async () => {
    const file = write('broken.jsonl', [made(9, 1)[0]!, { id: 'x' }, { question: 'Is 7 a prime for the old sailor?', answer: '1' }]);
    const bad: string[] = [];
    const report = await mixed('mended.jsonl', { sources: [{ file }] }, { onBad: ({ where }) => bad.push(where) });
    expect(report.sources).toMatchObject([{ rows: 2, bad: 1, kept: 2 }]);
    expect(bad).toEqual([`${file}:2`]);
    await expect(mixed('strict.jsonl', { sources: [{ file }] }, { strict: true })).rejects.toThrow(`${file}:2`);
  });

  it('writes nothing over a file unasked, and leaves nothing behind when it fails', async () => {
    const file = write('source.jsonl', made(10, 3));
    writeFileSync(at('there.jsonl'), 'mine');
    await expect(mixed('there.jsonl', { sources: [{ file }] })).rejects.toThrow('there already');
    expect(readFileSync(at('there.jsonl'), 'utf8')).toBe('mine');
    await expect(mixed('new.jsonl', { sources: [{ file }] }, { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow(
      'stopped',
    );
    expect(readdirSync(folder).filter((name) => name.startsWith('.') || name === 'new.jsonl')).toEqual([]);
  });
});

describe('the set that is written', () => {
  it('is in the form of Open-AgentRL by default, with code and mathematics in one set', async () => {
    const tests = { inputs: ['1 2\n'], outputs: ['3\n'] };
    const file = write('kinds.jsonl', [
      made(11, 1)[0]!,
      { id: 'c', kind: 'code', question: 'Read two integers and print their sum.', tests },
    ]);
    await mix(resolvePlan({ sources: [{ file }] }), { out: at('rl.parquet') });
    const problems = [];
    for await (const { problem } of (await openProblems(at('rl.parquet'))).rows()) problems.push(problem);
    expect(problems.map(({ kind }) => kind ?? 'math').sort()).toEqual(['code', 'math']);
    expect(Object.keys((await readTable(at('rl.parquet')))[0]!.values)).toEqual([
      'data_source',
      'prompt',
      'ability',
      'reward_model',
      'extra_info',
    ]);
  });

  it('keeps rows as they are, with all their columns, where the source has the form of the set', async () => {
    const rows = made(12, 4).map(({ question, answer }, index) => ({
      data_source: 'math_dapo',
      prompt: [{ role: 'user', content: question }],
      ability: 'MATH',
      reward_model: { ground_truth: answer, style: 'rule' },
      extra_info: { index: `row-${index}`, split: 'train' },
      note: `kept ${index}`,
    }));
    const table = await createTable(at('rl-in.parquet'), {});
    for (const row of rows) await table.write(row);
    await table.close();
    await mix(resolvePlan({ sources: [{ file: at('rl-in.parquet') }], shuffle: false }), { out: at('rl-out.parquet') });
    expect((await readTable(at('rl-out.parquet'))).map(({ values }) => values)).toEqual(rows);
  });

  it('refuses a schema that cannot be written', async () => {
    const file = write('schema.jsonl', made(13, 2));
    await expect(mixed('x.jsonl', { sources: [{ file }] }, { schema: 'nonsense' })).rejects.toThrow('no schema "nonsense"');
  });

  it('is measured beside what it was drawn from, on samples of one size', async () => {
    const file = write('diverse.jsonl', made(14, 30));
    const other = new DiversityMeter();
    for (const { question } of made(15, 20)) other.add({ text: question });
    const { diversity } = await mixed('measured.jsonl', { sources: [{ file, count: 10 }] }, { compare: other });
    expect([diversity.pool.rows, diversity.set.rows, diversity.compared?.rows]).toEqual([30, 10, 20]);
    expect([diversity.pool.sample, diversity.set.sample, diversity.compared?.sample]).toEqual([10, 10, 10]);
  });
});
