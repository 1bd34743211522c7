import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeRunner } from '../../sandbox/codeRunner.js';
import { openCodeRunner } from '../../sandbox/open.js';
import { readTable } from '../../tables/openTable.js';
import { temporaryFolder } from '../../tables/testSupport.js';
import { codeInterpreter } from '../../tools/codeInterpreter.js';
import { readConversation } from '../conversations/conversation.js';
import { readConversations } from '../conversations/readConversations.js';
import { type StitchSetOptions, stitchSet } from './stitchSet.js';
import { type CallsPlacement, stitchSolution } from './stitchSolution.js';

const folder = temporaryFolder();

const ANN = {
  question: 'Ann sold 48 clips in April and half as many in May. How many in all?',
  answer: 'Ann sold 48/2 = <<48/2=24>>24 in May.\nAnn sold 48+24 = <<48+24=72>>72 in all.\n#### 72',
};
const WRONG = { question: 'What is half of 7?', answer: 'It is 7/2 = <<7/2=3>>3.\nSo <<3*1=3>>3.\n#### 3' };
const NOTHING = { question: 'How many legs has a dog?', answer: 'A dog has four legs.\n#### 4' };
const set = (name: string, rows: readonly object[]): string => folder.write(name, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

const options = (source: string, out: string, more: Partial<StitchSetOptions> = {}): StitchSetOptions => ({
  source,
  out: join(folder.path, out),
  calls: 'each',
  keepMismatches: false,
  force: false,
  strict: false,
  seed: 1,
  sandbox: 'auto',
  timeoutSeconds: 10,
  memoryMb: 512,
  onBad: () => undefined,
  onNote: () => undefined,
  onProgress: () => undefined,
  signal: new AbortController().signal,
  ...more,
});

describe('a stitched solution', () => {
  let runner: CodeRunner;
  beforeAll(async () => {
    runner = await openCodeRunner({ kind: 'auto', workers: 1 });
  });
  afterAll(() => runner.close());

  const stitch = (solution: string, answer: string, calls: CallsPlacement) => {
    const problem = { id: 'p', question: 'Q?', answer };
    const tool = codeInterpreter(runner);
    const execute = async (code: string) => {
      const outcome = await tool.execute({ code }, { problem, trajectoryId: 't', state: undefined, signal: new AbortController().signal });
      if (typeof outcome === 'string') return { ok: true, text: outcome };
      if (outcome.kind === 'infra') throw new Error(outcome.error);
      return { ok: outcome.kind === 'ok', text: outcome.text };
    };
    return stitchSolution(problem, solution, { calls, execute });
  };

  it('has a call with its real output for each calculation, and ends in the box', async () => {
    const outcome = await stitch('It is 7 * 6 = 42.\nThen $\\sqrt{16} = 4$, so 46 - 0 = 46.\nThe answer is 46.', '46', 'each');
    expect(outcome).toMatchObject({ kind: 'stitched', calls: 3 });
    if (outcome.kind !== 'stitched') return;
    const call = (content: string, code: string) => ({
      role: 'assistant',
      content,
      toolCalls: [{ name: 'code_interpreter', arguments: { code } }],
    });
    const result = (content: string) => ({ role: 'tool', name: 'code_interpreter', content });
    expect(outcome.messages).toEqual([
      { role: 'user', content: 'Q?' },
      call('It is', 'print(7 * 6)'),
      result('42'),
      call('42.\nThen', 'import math\nprint(math.sqrt(16))'),
      result('4.0'),
      call('$4$, so', 'print(46 - 0)'),
      result('46'),
      { role: 'assistant', content: '46.\nThe answer is \\boxed{46}.' },
    ]);
  });

  it('has one program for all of them where that is asked for', async () => {
    const outcome = await stitch('It is 7 * 6 = 42.\nThen $\\sqrt{16} = 4$, so $\\boxed{46}$.', '46', 'one');
    if (outcome.kind !== 'stitched') throw new Error(outcome.kind);
    expect(outcome.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'It is',
        toolCalls: [{ name: 'code_interpreter', arguments: { code: 'import math\nprint(7 * 6)\nprint(math.sqrt(16))' } }],
      },
      { role: 'tool', name: 'code_interpreter', content: '42\n4.0' },
      { role: 'assistant', content: '42.\nThen $4$, so $\\boxed{46}$.' },
    ]);
    expect(outcome.checks.map(({ agreement }) => agreement)).toEqual(['equal', 'equal']);
  });

  it('says of each calculation what is wrong with it', async () => {
    const outcome = await stitch('7/2 = <<7/2=3>>3. 10/3 = <<10/3=3.33>>3.33. 1/0 = <<1/0=5>>5. <<2+2=5>>5', '5', 'each');
    if (outcome.kind !== 'stitched') throw new Error(outcome.kind);
    expect(outcome.checks.map(({ agreement }) => agreement)).toEqual(['wholeNumber', 'rounded', 'error', 'different']);
    expect(outcome.messages.some(({ content }) => content.includes('ZeroDivisionError'))).toBe(true);
  });
});

describe('a stitched set', () => {
  it('holds the rows whose calls give their values, as conversations with the tool, and has a card', async () => {
    const source = set('gsm8k.jsonl', [ANN, WRONG, NOTHING]);
    const given = options(source, 'out.parquet');
    const report = await stitchSet(given);
    expect(report).toMatchObject({
      read: 3,
      written: 1,
      calls: 4,
      leftOut: { noStep: 1, mismatch: 1, noAnswer: 0, noSolution: 0 },
      steps: { mark: 4, formula: 0 },
      checks: { equal: 3, wholeNumber: 1, different: 0 },
      mismatchedRows: 1,
    });
    expect(report.examples).toEqual([{ kind: 'wholeNumber', where: 'gsm8k.jsonl:2', text: '7 / 2 is 3.5, not 3' }]);
    const rows = await readTable(given.out);
    expect(rows.length).toBe(1);
    const { messages, tools } = readConversation(rows[0]!.values, 'here');
    expect(messages[0]).toEqual({ role: 'user', content: ANN.question });
    expect(messages.at(-1)!.content).toBe('72 in all.\nThe answer is \\boxed{72}.');
    expect(tools).toMatchObject([{ name: 'code_interpreter', parameters: { properties: { code: { type: 'string' } } } }]);
    expect(rows[0]!.values).toMatchObject({ source: 'gsm8k.jsonl', calls: 2 });
    const card = JSON.parse(readFileSync(`${given.out}.card.json`, 'utf8')) as Record<string, unknown>;
    expect(card).toMatchObject({ sources: [{ name: 'gsm8k.jsonl', rows: 3, kept: 1, licence: 'MIT' }] });
    expect(JSON.stringify(card)).not.toContain(folder.path);
  });

  it('keeps and marks the others where that is asked for', async () => {
    const given = options(set('keep.jsonl', [ANN, WRONG]), 'keep-out.jsonl', { keepMismatches: true });
    expect(await stitchSet(given)).toMatchObject({ written: 2, leftOut: { mismatch: 0 }, mismatchedRows: 1 });
    const rows = await readTable(given.out);
    expect(rows.map(({ values }) => values.mismatches)).toEqual([0, 1]);
  });

  it('is made of calc problems, in their order, the same for the same seed', async () => {
    const first = options('calc-small', 'calc-1.jsonl', { count: 20, seed: 3 });
    const report = await stitchSet(first);
    expect(report.checks.equal).toBe(report.steps.formula);
    expect(report.written + report.leftOut.noStep).toBe(20);
    await stitchSet({ ...first, out: join(folder.path, 'calc-2.jsonl') });
    expect(readFileSync(join(folder.path, 'calc-2.jsonl'), 'utf8')).toBe(readFileSync(first.out, 'utf8'));
    let count = 0;
    for await (const { conversation } of readConversations(first.out))
      count += conversation.messages.at(-1)!.content.includes('\\boxed{') ? 1 : 0;
    expect(count).toBe(report.written);
  });

  it('reads the solution from the column that is named, and says where there is none', async () => {
    const source = set('own.jsonl', [{ problem: 'What is 6 * 7?', answer: '42', proof: 'It is 6 * 7 = 42.' }]);
    await expect(stitchSet(options(source, 'own-out.jsonl'))).rejects.toThrow('own.jsonl: no row has a solution');
    await expect(stitchSet(options(source, 'own-out.jsonl', { solution: 'prof' }))).rejects.toThrow('has no column "prof"');
    expect(existsSync(join(folder.path, 'own-out.jsonl'))).toBe(false);
    expect(await stitchSet(options(source, 'own-out.jsonl', { solution: 'proof' }))).toMatchObject({ written: 1 });
  });

  it('tells of bad rows, and overwrites nothing unasked', async () => {
    const source = set('bad.jsonl', [ANN, { question: 'Q?', answer: 'no final line' }, ANN]);
    const bad: string[] = [];
    const given = options(source, 'bad-out.jsonl', { onBad: ({ where }) => bad.push(where) });
    expect(await stitchSet(given)).toMatchObject({ written: 2, bad: 1 });
    expect(bad).toEqual([`${source}:2`]);
    await expect(stitchSet(given)).rejects.toThrow('is there already');
    await expect(stitchSet({ ...given, force: true, strict: true })).rejects.toThrow(`${source}:2`);
    expect(readFileSync(given.out, 'utf8').trim().split('\n').length).toBe(2);
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});
