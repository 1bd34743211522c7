import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../domain/problem.js';
import type { Trajectory } from '../domain/trajectory.js';
import type { Verdict } from '../domain/verdict.js';
import type { CodeJudge } from '../reward/code/codeJudge.js';
import { parquetBytes, temporaryFolder } from '../tables/testSupport.js';
import { UserError } from '../userError.js';
import { BENCHMARKS, type BenchmarkChoice, type LoadedBenchmark, loadBenchmark } from './loadBenchmark.js';

const folder = temporaryFolder();
const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

const load = (name: string, file: string, options: Partial<BenchmarkChoice> = {}): Promise<LoadedBenchmark> =>
  loadBenchmark({ name, file, mode: 'agentic', ...options });

/** Grades final texts, each for its problem. */
async function grade(
  loaded: LoadedBenchmark,
  answers: Readonly<Record<string, string>>,
  judge?: CodeJudge,
): Promise<Record<string, Verdict>> {
  const grader = loaded.grader({ judge });
  const verdicts: Record<string, Verdict> = {};
  for (const problem of loaded.problems) {
    const finalText = answers[problem.id];
    if (finalText === undefined) continue;
    verdicts[problem.id] = await grader({ finalText, problem } as Trajectory<Problem>, { signal: new AbortController().signal });
  }
  return verdicts;
}

describe('AIME', () => {
  it.each([
    [
      'aime24',
      'a.parquet',
      (): Uint8Array =>
        parquetBytes([
          { name: 'Problem', data: ['What is 6 * 34?', 'What is 2 + 2?'] },
          { name: 'Answer', data: [204, 4], type: 'INT32' },
        ]),
    ],
    [
      'aime25',
      'b.parquet',
      (): Uint8Array =>
        parquetBytes([
          { name: 'problem', data: ['What is 6 * 34?', 'What is 2 + 2?'] },
          { name: 'answer', data: ['204', '004'] },
        ]),
    ],
    [
      'aime25',
      'c.jsonl',
      (): string =>
        lines([
          { question: 'What is 6 * 34?', answer: '204' },
          { question: 'What is 2 + 2?', answer: 4 },
        ]),
    ],
    ['aime24', 'd.csv', (): string => 'problem,solution\nWhat is 6 * 34?,It is \\boxed{204}.\nWhat is 2 + 2?,It is \\boxed{4}.\n'],
  ] as const)('%s is read from %s and graded', async (name, file, content) => {
    const loaded = await load(name, folder.write(file, content()));
    const [first, second] = loaded.problems;
    expect(loaded.problems.map(({ answer }) => answer)).toEqual(['204', '4']);
    expect(first!.question).toBe('What is 6 * 34?\n\nGive the final answer in \\boxed{}, the number alone.');
    expect(await grade(loaded, { [first!.id]: 'So \\boxed{ 204 }.', [second!.id]: '\\boxed{204}' })).toMatchObject({
      [first!.id]: { correct: true, extracted: ' 204 ' },
      [second!.id]: { correct: false, reason: 'mismatch' },
    });
  });

  it('refuses an answer that it cannot have, by the row', async () => {
    const file = folder.write(
      'bad.jsonl',
      lines([
        { problem: 'P?', answer: '1' },
        { problem: 'Q?', answer: 'x^2' },
      ]),
    );
    await expect(load('aime24', file)).rejects.toThrow(/bad\.jsonl:2: the answer "x\^2" is no whole number from 0 to 999/);
  });
});

describe('GPQA-Diamond', () => {
  const csv = [
    'Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,High-level domain',
    ...Array.from({ length: 12 }, (_, i) => `r${i},"Which, ${i}?",right ${i},wrong a ${i},wrong b ${i},wrong c ${i},Physics`),
  ].join('\n');

  it('shuffles the options of the original by the seed', async () => {
    const file = folder.write('gpqa.csv', csv);
    const loaded = await load('gpqa-diamond', file);
    const letters = loaded.problems.map(({ answer }) => answer);
    expect(new Set(letters).size).toBeGreaterThan(2);
    const [first] = loaded.problems;
    expect(first).toMatchObject({ id: 'r0', tags: { domain: 'Physics' } });
    expect(first!.question).toContain(`\n${first!.answer}) right 0\n`.replace(/\n$/, ''));
    expect((await load('gpqa-diamond', file)).problems).toEqual(loaded.problems);
    expect((await load('gpqa-diamond', file, { seed: 1 })).problems.map(({ answer }) => answer)).not.toEqual(letters);
    const others = ['A', 'B', 'C', 'D'].filter((letter) => letter !== first!.answer);
    for (const [text, correct] of [
      [`\\boxed{${first!.answer}}`, true],
      ['\\boxed{right 0}', true],
      [`\\boxed{\\text{${first!.answer}}: right 0}`, true],
      [`\\boxed{${others[0]}}`, false],
      [`It is ${first!.answer}.`, false],
    ] as const) {
      expect((await grade(loaded, { r0: text })).r0, text).toMatchObject({ correct });
    }
    expect(loaded.warnings).toEqual([]);
  });

  it('is read in its ready-made form, and says what is not known of it', async () => {
    const file = folder.write(
      'ready.parquet',
      parquetBytes([
        { name: 'problem', data: ['Which?\nA) a\nB) b\nC) c\nD) d'] },
        { name: 'solution', data: ['C'] },
        { name: 'domain', data: ['Chemistry'] },
        { name: 'data_source', data: ['gpqa_diamond'] },
      ]),
    );
    const loaded = await load('gpqa-diamond', file);
    expect(await grade(loaded, { 'gpqa-diamond:1': '\\boxed{C}' })).toMatchObject({ 'gpqa-diamond:1': { correct: true } });
    expect(loaded.warnings).toEqual([expect.stringMatching(/in the order of the file/)]);
    const wrong = folder.write('wrong.jsonl', lines([{ problem: 'P', solution: 'E' }]));
    await expect(load('gpqa-diamond', wrong)).rejects.toThrow(/the solution "E" is no letter from A to D/);
  });
});

/** A judge whose programs add the numbers that they read, or say what they are told to print. */
const judge: CodeJudge = {
  name: 'fake',
  notes: [],
  timeoutSeconds: 1,
  memoryMb: 1,
  run: async ({ code, stdin = '' }) => ({
    kind: 'ran',
    ending: 'finished',
    exitCode: 0,
    stdout: code.includes('sum') ? String(stdin.split(/\s+/).reduce((total, text) => total + Number(text), 0)) : '7',
    stderr: '',
    seconds: 0,
    queuedSeconds: 0,
  }),
  close: async () => undefined,
};

/** As the release files hold private tests: a pickled JSON text, packed and in base64. */
function packed(tests: readonly object[]): string {
  const text = Buffer.from(JSON.stringify(tests));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return deflateSync(Buffer.concat([Buffer.from([0x80, 3, 0x58]), length, text, Buffer.from([0x71, 0, 0x2e])])).toString('base64');
}

describe('LiveCodeBench', () => {
  const row = (id: string, date: string, more: object = {}) => ({
    question_title: id,
    question_content: 'Add the numbers.\nInput: 3 4\nOutput: 7',
    platform: 'atcoder',
    question_id: id,
    contest_id: 'c',
    contest_date: date,
    starter_code: '',
    difficulty: 'easy',
    public_test_cases: JSON.stringify([{ input: '3 4\n', output: '7\n', testtype: 'stdin' }]),
    private_test_cases: packed([{ input: '20 22\n', output: '42\n', testtype: 'stdin' }]),
    metadata: '{}',
    ...more,
  });

  it('is read from the release file, in the window of the contests, and judged by hidden tests', async () => {
    const file = folder.write(
      'lcb.jsonl',
      lines([
        row('early', '2025-01-31T00:00:00'),
        row('first', '2025-02-01T00:00:00'),
        row('last', '2025-05-31T23:00:00', { starter_code: 'class Solution:\n    pass' }),
        row('late', '2025-06-01T00:00:00'),
      ]),
    );
    const loaded = await load('livecodebench-v6', file);
    expect(loaded.problems.map(({ id }) => id)).toEqual(['first', 'last']);
    expect(loaded.problems[0]!.question).toMatch(/Read standard input and print to standard output\..*```python block/);
    expect(loaded.problems[1]!.question).toMatch(/Starter code:\n```python\nclass Solution:/);
    expect(loaded.problems[0]!.tags).toEqual({ difficulty: 'easy', platform: 'atcoder', date: '2025-02-01' });
    expect(JSON.stringify(loaded.problems)).not.toContain('20 22');
    expect(loaded.warnings).toEqual([]);
    const program = (text: string): string => `\`\`\`python\n${text}\n\`\`\``;
    expect(await grade(loaded, { first: program('print(sum(...))'), last: 'none' }, judge)).toMatchObject({
      first: { correct: true, score: 1 },
      last: { correct: false, reason: 'noProgram' },
    });
    expect(await grade(loaded, { first: program('print(7)') }, judge)).toMatchObject({ first: { correct: false, reason: 'wrongOutput' } });
  });

  it('says where the private tests of the release file are its public ones', async () => {
    const shown = [{ input: '3 4\n', output: '7\n', testtype: 'stdin' }];
    const file = folder.write(
      'shown.jsonl',
      lines([
        row('hidden', '2025-02-01T00:00:00'),
        row('same', '2025-02-01T00:00:00', { private_test_cases: packed(shown) }),
        row('none', '2025-02-01T00:00:00', { private_test_cases: packed([]) }),
        row('broken', '2025-02-01T00:00:00', { private_test_cases: 'AAAA' }),
      ]),
    );
    expect((await load('livecodebench-v6', file)).warnings).toEqual([expect.stringMatching(/^Without a hidden test: 2 of 4\./)]);
  });

  it('is read in the layout of Open-AgentRL-Eval, which does not hide every test', async () => {
    const tests = (inputs: string[], outputs: string[]): string =>
      JSON.stringify({ ground_truth: JSON.stringify({ inputs, outputs }), style: 'rule' });
    const file = folder.write(
      'eval.parquet',
      parquetBytes([
        { name: 'problem', data: ['Add.\nInput:\n3 4\nOutput:\n7', 'Add.\nInput:\n3 4\nOutput:\n7'] },
        { name: 'ability', data: ['CODE', 'CODE'] },
        { name: 'reward_model', data: [tests(['3 4\n'], ['7\n']), tests(['3 4\n', '20 22\n'], ['7\n', '42\n'])] },
        { name: 'extra_info', data: ['{"index": 0}', '{"index": 1}'] },
      ]),
    );
    const loaded = await load('livecodebench-v6', file);
    expect(loaded).toMatchObject({ layout: 'Open-AgentRL-Eval' });
    expect(loaded.warnings).toEqual([
      expect.stringMatching(/^Without a hidden test: 1 of 2\. All tests of these problems stand in the prompt/),
    ]);
    const answers = Object.fromEntries(loaded.problems.map(({ id }) => [id, '```python\nprint(7)\n```']));
    expect(Object.values(await grade(loaded, answers, judge))).toMatchObject([{ correct: true }, { correct: false }]);
  });

  it('names the problem whose tests cannot be read', async () => {
    const loaded = await load(
      'livecodebench-v6',
      folder.write('broken.jsonl', lines([row('x', '2025-03-01', { private_test_cases: '%%%' })])),
    );
    await expect(grade(loaded, { x: '```python\nprint(7)\n```' }, judge)).rejects.toThrow(/problem "x": /);
  });
});

describe('GSM8K', () => {
  it('takes what follows the hashes', async () => {
    const file = folder.write('gsm.jsonl', lines([{ question: 'How many?', answer: '500 + 734 = 1234\n#### 1,234' }]));
    const loaded = await load('gsm8k', file);
    expect(loaded.problems[0]).toMatchObject({ answer: '1234', source: 'gsm8k' });
    expect(await grade(loaded, { 'gsm8k:1': '\\boxed{1234}' })).toMatchObject({ 'gsm8k:1': { correct: true } });
    await expect(load('gsm8k', folder.write('no.jsonl', lines([{ question: 'Q', answer: '5' }])))).rejects.toThrow(/does not end in ####/);
  });
});

describe('a benchmark', () => {
  const file = (): string =>
    folder.write(
      'two.jsonl',
      lines([
        { id: 'a', problem: 'A {x}?', answer: '1' },
        { id: 'b', problem: 'B $& $1?', answer: '2' },
      ]),
    );

  it('names an own file on the hub and, where the paper has them, its scores', () => {
    expect(BENCHMARKS.map(({ id }) => id)).toEqual(['aime24', 'aime25', 'gpqa-diamond', 'livecodebench-v6', 'gsm8k']);
    for (const { source, published, id } of BENCHMARKS) {
      expect(source).toMatch(/^hf:/);
      expect(published.length > 0).toBe(id !== 'gsm8k');
    }
    const demy = BENCHMARKS.map(({ published }) => published.find(({ model }) => model === 'DemyAgent-4B')?.score);
    expect(demy).toEqual([72.6, 70, 58.5, 26.8, undefined]);
    expect(BENCHMARKS[0]!.published.find(({ model, mode }) => model === 'Qwen3-4B-Instruct-2507' && mode === 'plain')).toMatchObject({
      score: 63.3,
      selfEvaluated: true,
    });
  });

  it('takes the exact text of the user around the question', async () => {
    const prompt = folder.write('prompt.txt', 'Solve {question} now; {question}!\n');
    const loaded = await load('aime24', file(), { promptFile: prompt });
    expect(loaded.system).toBe('');
    expect(loaded.problems.map(({ question }) => question)).toEqual(['Solve A {x}? now; A {x}?!', 'Solve B $& $1? now; B $& $1?!']);
    await expect(load('aime24', file(), { promptFile: folder.write('empty.txt', 'Solve.') })).rejects.toThrow(/has no \{question\}/);
  });

  it('speaks of tools in agentic mode alone, and takes as many problems as asked', async () => {
    expect((await load('aime24', file())).system).toMatch(/tool/);
    const plain = await load('aime24', file(), { mode: 'plain', limit: 1 });
    expect(plain.system).not.toMatch(/tool|call/);
    expect(plain.problems.map(({ id }) => id)).toEqual(['a']);
  });

  it('says which columns were expected and which are there', async () => {
    const other = folder.write('other.jsonl', lines([{ text: 'x', label: 1 }]));
    const loading = load('aime24', other);
    await expect(loading).rejects.toThrow(UserError);
    await expect(loading).rejects.toThrow(
      /other\.jsonl has not the columns of AIME 2024: expected problem or Problem or question or Question, answer or Answer; or .*; it has: text, label/,
    );
    await expect(load('aime24', folder.write('empty.jsonl', '\n'))).rejects.toThrow(/empty\.jsonl has no rows/);
    await expect(load('aime99', other)).rejects.toThrow('there is no benchmark "aime99"');
  });

  it('refuses two rows of one id', async () => {
    const twice = folder.write(
      'twice.jsonl',
      lines([
        { id: 1, problem: 'A', answer: 1 },
        { id: 1, problem: 'B', answer: 2 },
      ]),
    );
    await expect(load('aime24', twice)).rejects.toThrow(/twice\.jsonl:2: the id "1" stands in an earlier row already/);
  });
});
