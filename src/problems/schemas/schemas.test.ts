import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../domain/problem.js';
import { allRows, openTable } from '../../tables/openTable.js';
import { duckDb, temporaryFolder } from '../../tables/testSupport.js';
import { createTable } from '../../tables/writeTable.js';
import { UserError } from '../../userError.js';
import { openProblems, type ProblemFile } from '../readProblems.js';
import { findSchema, SCHEMAS } from './index.js';

const folder = temporaryFolder();
const duck = duckDb();

const user = (content: string): unknown[] => [{ content, role: 'user' }];
const dapo = (question: string): string =>
  `Work on this problem. The last line of your response should be of the form Answer: $Answer (without quotes).\n\n${question}\n\nRemember to put your answer on its own line after "Answer:".`;
const stdio = '{"inputs": ["1 2\\n", "9007199254740993 0\\n"],  "outputs": ["3\\n", "9007199254740993\\n"]}';
const calls = JSON.stringify({ fn_name: 'add', inputs: [[1, 2]], outputs: [3] });
const asserts = JSON.stringify({
  entry_point: 'Solution().add',
  import_prefix: 'import math\n',
  test_code: 'def check(f):\n    assert f(1, 2) == 3\n',
});

interface Case {
  readonly schema: string;
  /** Of DuckDB, so that the file is another program's. */
  readonly types: string;
  readonly rows: readonly Record<string, unknown>[];
  readonly problems: readonly Partial<Problem>[];
}

const CHAT =
  '{data_source: VARCHAR, prompt: "STRUCT(content VARCHAR, role VARCHAR)[]", ability: VARCHAR, reward_model: "STRUCT(ground_truth VARCHAR, style VARCHAR)", extra_info: ';

const cases: Case[] = [
  {
    schema: 'open-agentrl-rl',
    types: `${CHAT}"STRUCT(index VARCHAR, split VARCHAR)"}`,
    rows: [
      {
        data_source: 'math_dapo',
        prompt: user('Give \\boxed{}. Ω = ?'),
        ability: 'MATH',
        reward_model: { ground_truth: '34', style: 'rule' },
        extra_info: { index: '9a9b6eb4-a1cb-49d1-8c1e-62eaf2f74079', split: null },
      },
      {
        data_source: 'mega-science',
        prompt: user('How long is it? 🎲'),
        ability: 'SCIENCE',
        reward_model: { ground_truth: '1.5e3', style: 'rule' },
        extra_info: { index: '17', split: 'train' },
      },
      {
        data_source: 'mega-science',
        prompt: user('Which?\nA) one\nB) two'),
        ability: null,
        reward_model: { ground_truth: 'B', style: null },
        extra_info: null,
      },
      {
        data_source: 'train-math-numinamath1.5_olympiads',
        prompt: user('Two roots?'),
        ability: 'math',
        reward_model: { ground_truth: '["1", "\\\\frac{1}{2}"]', style: 'rule' },
        extra_info: { index: '5', split: null },
      },
      {
        data_source: 'train-code-taco-medium',
        prompt: user('Add.'),
        ability: 'code',
        reward_model: { ground_truth: stdio, style: 'rule' },
        extra_info: { index: '5', split: null },
      },
      {
        data_source: 'train-code-taco-hard',
        prompt: user('Add by a function.'),
        ability: 'code',
        reward_model: { ground_truth: calls, style: 'rule' },
        extra_info: { index: '5', split: null },
      },
      {
        data_source: 'train-code-leetcode-Easy',
        prompt: [{ content: 'Be brief.', role: 'system' }, ...user('Add in a class.')],
        ability: 'code',
        reward_model: { ground_truth: asserts, style: 'rule' },
        extra_info: { index: '5', split: null },
      },
    ],
    problems: [
      {
        id: '9a9b6eb4-a1cb-49d1-8c1e-62eaf2f74079',
        question: 'Give \\boxed{}. Ω = ?',
        answer: '34',
        source: 'math_dapo',
        tags: { ability: 'MATH' },
      },
      { id: '17', answer: '1.5e3', source: 'mega-science' },
      { kind: 'choice', answer: 'B' },
      { id: '5', answer: '1', alternatives: ['1', '\\frac{1}{2}'] } as Partial<Problem>,
      { id: '5#2', kind: 'code', tests: stdio, source: 'train-code-taco-medium' },
      { id: '5#3', kind: 'code', tests: calls },
      { id: '5#4', kind: 'code', tests: asserts, question: 'Add in a class.' },
    ],
  },
  {
    schema: 'dapo-math-17k',
    types: `${CHAT}"STRUCT(index VARCHAR)"}`,
    rows: [
      {
        data_source: 'math_dapo',
        prompt: user(dapo('What is $1+1$?\n\nGive a number.')),
        ability: 'MATH',
        reward_model: { ground_truth: '2', style: 'rule-lighteval/MATH_v2' },
        extra_info: { index: 'a' },
      },
      {
        data_source: 'math_dapo',
        prompt: user(dapo('And $2+2$?')),
        ability: 'MATH',
        reward_model: { ground_truth: '-4', style: 'rule-lighteval/MATH_v2' },
        extra_info: { index: 'a' },
      },
    ],
    problems: [
      { id: 'a', question: 'What is $1+1$?\n\nGive a number.', answer: '2' },
      { id: 'a#2', question: 'And $2+2$?', answer: '-4' },
    ],
  },
  {
    schema: 'skywork-or1',
    types: `${CHAT}"STRUCT(index BIGINT, model_difficulty STRUCT(a BIGINT, b BIGINT))"}`,
    rows: [
      {
        data_source: 'train-math-deepscaler',
        prompt: user('x?'),
        ability: 'math',
        reward_model: { ground_truth: '["\\\\frac{3}{2}"]', style: 'rule' },
        extra_info: { index: 0, model_difficulty: { a: 16, b: null } },
      },
      {
        data_source: 'train-math-deepscaler',
        prompt: user('y?'),
        ability: 'math',
        reward_model: { ground_truth: "['7']", style: 'rule' },
        extra_info: { index: 1, model_difficulty: { a: 3, b: 1 } },
      },
      {
        data_source: 'train-math-deepscaler',
        prompt: user('z?'),
        ability: 'math',
        reward_model: { ground_truth: '[1, 2]', style: 'rule' },
        extra_info: { index: '9223372036854775807', model_difficulty: null },
      },
      {
        data_source: 'train-code-leetcode-Hard',
        prompt: user('Add.'),
        ability: 'code',
        reward_model: { ground_truth: asserts, style: 'rule' },
        extra_info: { index: 0, model_difficulty: { a: 1, b: 2 } },
      },
    ],
    problems: [
      { id: 'train-math-deepscaler:0', answer: '\\frac{3}{2}' },
      { id: 'train-math-deepscaler:1', answer: '7' },
      { answer: '[1, 2]' },
      { id: 'train-code-leetcode-Hard:0', kind: 'code', tests: asserts },
    ],
  },
  {
    schema: 'megascience',
    types: '{question: VARCHAR, answer: VARCHAR, subject: VARCHAR, reference_answer: VARCHAR, source: VARCHAR}',
    rows: [
      { question: 'Mass?', answer: 'Long way: 3 kg', subject: 'physics', reference_answer: '3 kg', source: 'textbook_reasoning' },
      { question: 'Which?\n(A) x\n(B) y', answer: '', subject: null, reference_answer: 'A', source: null },
    ],
    problems: [
      {
        question: 'Mass?',
        answer: '3 kg',
        source: 'textbook_reasoning',
        tags: { subject: 'physics' },
        solution: 'Long way: 3 kg',
      } as Partial<Problem>,
      { kind: 'choice', answer: 'A', source: 'megascience.parquet' },
    ],
  },
  {
    schema: 'gsm8k',
    types: '{question: VARCHAR, answer: VARCHAR}',
    rows: [
      { question: 'Apples?', answer: 'She has 12*3=<<12*3=36>>36.\n#### 36' },
      { question: 'Money?', answer: 'Much.\n#### 1,234' },
    ],
    problems: [
      { id: 'gsm8k.parquet:1', question: 'Apples?', answer: '36', solution: 'She has 12*3=<<12*3=36>>36.\n#### 36' } as Partial<Problem>,
      { answer: '1234' },
    ],
  },
  {
    schema: 'plain',
    types:
      '{id: BIGINT, question: VARCHAR, answer: VARCHAR, kind: VARCHAR, options: "VARCHAR[]", tests: JSON, source: VARCHAR, tags: "STRUCT(family VARCHAR, level BIGINT)", extra: BIGINT}',
    rows: [
      {
        id: 1,
        question: 'Q?',
        answer: '1',
        kind: null,
        options: null,
        tests: null,
        source: 'mine',
        tags: { family: 'gcd', level: 2 },
        extra: '9007199254740993',
      },
      { id: 2, question: 'C?', answer: 'B', kind: 'choice', options: ['x', 'y'], tests: null, source: null, tags: null, extra: null },
      {
        id: 3,
        question: 'D?',
        answer: null,
        kind: 'code',
        options: null,
        tests: { inputs: ['1'], outputs: ['1'] },
        source: null,
        tags: { family: null, level: 1 },
        extra: null,
      },
      {
        id: 4,
        question: 'E?',
        answer: null,
        kind: null,
        options: null,
        tests: '{"inputs":  ["1"],"outputs":["1"]}',
        source: null,
        tags: null,
        extra: null,
      },
      { id: null, question: 'F?', answer: null, kind: null, options: null, tests: null, source: null, tags: null, extra: null },
    ],
    problems: [
      { id: '1', question: 'Q?', answer: '1', source: 'mine', tags: { family: 'gcd', level: 2 } },
      { id: '2', question: 'C?\n\nA) x\nB) y', kind: 'choice', answer: 'B', options: ['x', 'y'], source: 'plain.parquet' },
      { id: '3', kind: 'code', tests: { inputs: ['1'], outputs: ['1'] }, tags: { level: 1 } },
      { id: '4', kind: 'code', tests: JSON.stringify('{"inputs":  ["1"],"outputs":["1"]}') },
      { id: 'plain.parquet:5' },
    ],
  },
];

const evaluations: Case[] = [
  {
    schema: 'open-agentrl-eval',
    types: '{ID: VARCHAR, Problem: VARCHAR, Solution: VARCHAR, Answer: BIGINT, data_source: VARCHAR}',
    rows: [{ ID: '2024-I-1', Problem: 'Every morning?', Solution: 'So \\boxed{204}', Answer: 204, data_source: 'AIME2024' }],
    problems: [{ id: 'AIME2024:2024-I-1', question: 'Every morning?', answer: '204', source: 'AIME2024' }],
  },
  {
    schema: 'open-agentrl-eval',
    types: '{problem: VARCHAR, answer: VARCHAR, data_source: VARCHAR}',
    rows: [{ problem: 'Bases?', answer: '070', data_source: 'AIME2025' }],
    problems: [{ question: 'Bases?', answer: '070' }],
  },
  {
    schema: 'open-agentrl-eval',
    types: '{problem: VARCHAR, solution: VARCHAR, domain: VARCHAR, data_source: VARCHAR}',
    rows: [{ problem: 'Which?\nA. x\nB. y', solution: '\\boxed{B}', domain: 'Physics', data_source: 'gpqa_diamond' }],
    problems: [{ kind: 'choice', answer: 'B', tags: { domain: 'Physics' } }],
  },
  {
    schema: 'open-agentrl-eval',
    types: '{problem: VARCHAR, ability: VARCHAR, reward_model: VARCHAR, extra_info: VARCHAR, data_source: VARCHAR}',
    rows: [
      {
        problem: 'Add.',
        ability: 'code',
        reward_model: `{"ground_truth": ${stdio}, "style": "rule"}`,
        extra_info: '{"index": 3}',
        data_source: 'LiveCodeBench_v6',
      },
    ],
    problems: [{ id: 'LiveCodeBench_v6:3', kind: 'code' }],
  },
];

const fileOf = async ({ types, rows }: Case, name: string): Promise<string> => {
  const lines = join(folder.path, `${name}.source.jsonl`);
  writeFileSync(lines, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const file = join(folder.path, `${name}.parquet`);
  const columns = types.replace(/(\w+): ("[^"]+"|\w+)/g, (_, column: string, type: string) => `${column}: '${type.replaceAll('"', '')}'`);
  await duck.query(
    `COPY (SELECT * FROM read_json('${lines}', columns = ${columns}, format = 'newline_delimited')) TO '${file}' (FORMAT parquet)`,
  );
  return file;
};

async function problemsOf(file: ProblemFile): Promise<Problem[]> {
  const problems: Problem[] = [];
  for await (const { problem } of file.rows()) problems.push(problem);
  return problems;
}

describe.each([...cases, ...evaluations].map((one, i) => [`${one.schema} ${i}`, one] as const))('%s', (label, one) => {
  const name = cases.includes(one) ? one.schema : label.replace(' ', '-');

  it('is recognised, and read by row', async () => {
    const file = await openProblems(await fileOf(one, name));
    expect(file.schema.name).toBe(one.schema);
    const problems = await problemsOf(file);
    expect(problems).toHaveLength(one.problems.length);
    for (const [i, expected] of one.problems.entries()) expect(problems[i]).toMatchObject(expected);
    expect(file.bad).toBe(0);
  });

  it('is written back without a change of any value, as DuckDB sees it', async () => {
    const source = await fileOf(one, name);
    const file = await openProblems(source);
    const copy = join(folder.path, `${name}.copy.parquet`);
    const lines = join(folder.path, `${name}.copy.jsonl`);
    const writers = [await createTable(copy, { like: file.table, force: true }), await createTable(lines, { force: true })];
    for await (const { problem, row } of file.rows()) {
      for (const writer of writers) await writer.write(file.schema.write(problem, row.exact ?? row.values));
    }
    for (const writer of writers) await writer.close();
    const back = join(folder.path, `${name}.back.parquet`);
    const again = await createTable(back, { like: file.table, force: true });
    for (const { values, exact } of await allRows(await openTable(lines))) await again.write(exact ?? values);
    await again.close();
    for (const other of [copy, back]) {
      for (const [a, b] of [
        [source, other],
        [other, source],
      ] as const) {
        expect(await duck.query(`SELECT * FROM read_parquet('${a}') EXCEPT ALL SELECT * FROM read_parquet('${b}')`)).toEqual([]);
      }
    }
  });

  it('takes a changed question and answer, and leaves the rest', async () => {
    const file = await openProblems(await fileOf(one, name));
    for await (const { problem, row } of file.rows()) {
      const changed: Problem = {
        ...problem,
        question: problem.kind === 'choice' ? 'Which now?\nA) x\nB) y\nC) z' : 'Another question?',
        ...(problem.answer !== undefined && { answer: problem.kind === 'choice' ? 'C' : '99' }),
      };
      const { alternatives: _, ...plainly } = changed as Problem & { readonly alternatives?: unknown };
      const values = file.schema.write(plainly, row.values);
      expect(Object.keys(values)).toEqual(Object.keys(row.values));
      const { id: __, ...rest } = plainly;
      expect(file.schema.read({ ...row, values })).toMatchObject(JSON.parse(JSON.stringify({ ...rest, solution: undefined })));
    }
  });

  it('has a form for problems of any other origin', async () => {
    const schema = findSchema(one.schema);
    const file = join(folder.path, `${name}.new.parquet`);
    const problems: Problem[] = [{ id: 'p', question: 'Q?', answer: '7', source: 'mine' }];
    if (!['gsm8k', 'megascience', 'dapo-math-17k'].includes(schema.name)) {
      problems.push({ id: 'code-1', question: 'Add.', kind: 'code', tests: stdio, source: 'mine' });
      problems.push({ id: 'c', question: 'Which?\nA) x\nB) y', kind: 'choice', answer: 'B', source: 'mine' });
    }
    const writer = await createTable(file, { schema: schema.columns, force: true });
    for (const problem of problems) await writer.write(schema.write(problem));
    await writer.close();
    const read = await problemsOf(await openProblems(file, { schema: schema.name }));
    for (const [i, { question, kind, answer, tests }] of problems.entries()) {
      expect(read[i]).toMatchObject({ question, ...(kind && { kind }), ...(answer && { answer }) });
      if (tests !== undefined)
        expect(typeof read[i]!.tests === 'string' ? JSON.parse(read[i]!.tests as string) : read[i]!.tests).toEqual(JSON.parse(stdio));
    }
  });
});

describe('a schema', () => {
  it('is named once, and an unknown name lists them', () => {
    expect(new Set(SCHEMAS.map(({ name }) => name)).size).toBe(SCHEMAS.length);
    expect(() => findSchema('rl-30k')).toThrow(/there is no schema "rl-30k"/);
  });

  const row =
    (schema: string, values: Record<string, unknown>): (() => unknown) =>
    () =>
      findSchema(schema).read({ number: 3, where: 'set.parquet: row 3', values });
  const chat = (changed: Record<string, unknown>): Record<string, unknown> => ({
    data_source: 'math_dapo',
    prompt: user('Q?'),
    ability: 'MATH',
    reward_model: { ground_truth: '1', style: 'rule' },
    extra_info: { index: 'a' },
    ...changed,
  });
  const code = (truth: unknown): Record<string, unknown> =>
    chat({ data_source: 'train-code-taco-easy', reward_model: { ground_truth: truth } });

  it.each([
    ['open-agentrl-rl', chat({ prompt: null }), /^set\.parquet: row 3: its prompt is missing/],
    ['open-agentrl-rl', chat({ prompt: [] }), /its prompt has no message of the user/],
    ['open-agentrl-rl', chat({ prompt: [...user('a'), ...user('b')] }), /its prompt has 2 messages of the user/],
    ['open-agentrl-rl', chat({ prompt: [{ role: 'user', content: null }] }), /holds something that is no message of text/],
    ['open-agentrl-rl', chat({ prompt: user(' ') }), /its prompt is empty/],
    ['open-agentrl-rl', chat({ reward_model: null }), /"reward_model" is missing/],
    ['open-agentrl-rl', chat({ reward_model: 'x' }), /"reward_model" is neither an object/],
    ['open-agentrl-rl', chat({ reward_model: { ground_truth: '' } }), /"reward_model\.ground_truth" is empty/],
    ['open-agentrl-rl', chat({ reward_model: { ground_truth: null } }), /"reward_model\.ground_truth" is missing/],
    [
      'open-agentrl-rl',
      code('{"inputs": ["1"], "outputs": []}'),
      /row 3: these code tests cannot be read: there are 1 inputs and 0 outputs/,
    ],
    ['open-agentrl-rl', code('{"inputs": ["1"'), /these code tests cannot be read/],
    ['open-agentrl-rl', code(null), /these code tests cannot be read/],
    ['open-agentrl-rl', code('{"entry_point": "f"}'), /`test_code` is missing/],
    ['open-agentrl-eval', { data_source: 'x', Problem: '' }, /"Problem" is missing, empty or not a text/],
    ['open-agentrl-eval', { data_source: 'x', problem: 'Q?', solution: 'long', domain: 'p' }, /"solution" is "long", not the letter/],
    ['megascience', { question: 'Q?', answer: 'a', reference_answer: null }, /"reference_answer" is missing/],
    ['gsm8k', { question: 'Q?', answer: '5' }, /does not end in ####/],
    ['plain', { question: 'Q?', kind: 'geometry' }, /"kind" is "geometry", not math, choice or code/],
    ['plain', { question: 'Q?', kind: 'code' }, /it is code and has no "tests"/],
    ['plain', { question: 'Q?', kind: 'choice', answer: 'two' }, /its "answer" is no letter/],
    ['plain', { question: 'Q?', options: 'x' }, /"options" is not a list of texts/],
  ] as const)('names the row and what is wrong with it: %s %#', (schema, values, message) => {
    expect(row(schema, values)).toThrow(UserError);
    expect(row(schema, values)).toThrow(message);
  });
});
