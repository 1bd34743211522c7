import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeJudge, openCodeJudge } from '../../reward/code/codeJudge.js';
import type { CodeRunner } from '../../sandbox/codeRunner.js';
import { temporaryFolder } from '../../tables/testSupport.js';
import { UserError } from '../../userError.js';
import { type CheckOptions, checkSet } from './checkSet.js';
import type { Fault } from './fault.js';
import { referenceSolutions } from './referenceSolutions.js';

const folder = temporaryFolder();
let count = 0;

async function check(rows: readonly unknown[], options: CheckOptions = {}) {
  const file = folder.write(`set-${count++}.jsonl`, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));
  const faults: Fault[] = [];
  const result = await checkSet(file, { ...options, onFault: (fault) => faults.push(fault) });
  return { result, faults: faults.map(({ where, kind, detail }) => `${where.slice(file.length + 1)} ${kind}: ${detail}`) };
}

describe('right answers', () => {
  it('that can be graded and equal themselves are clean', async () => {
    const answers = [
      '42',
      '\\frac{1}{2}',
      '0.5',
      '(1,2]',
      '\\{1,2\\}',
      'x^2+1',
      '50\\%',
      '\\text{Monday}',
      '2\\sqrt{3}',
      '10^{100}',
      'A',
      '12:00',
      '\\int_0^1 f(x) dx',
    ];
    const { result, faults } = await check([
      ...answers.map((answer) => ({ question: 'q?', answer })),
      { question: 'q?', answer: 'B', kind: 'choice', options: ['1 m', '2 m'] },
    ]);
    expect(faults).toEqual([]);
    expect(result).toMatchObject({ kind: 'problems', schema: 'plain', rows: 14, rowsWithFaults: 0, faults: {} });
  });

  it('that cannot are told by row', async () => {
    const { result, faults } = await check([
      { question: 'q?', answer: '\\frac{1}{' },
      { question: 'q?', answer: '1' },
      { question: 'q?' },
      { question: 'q?', answer: 'C', kind: 'choice', options: ['1 m', '2 m'] },
      { question: 'q?', answer: 'A', kind: 'choice', options: ['1 m', '1 m', ''] },
      '{oops',
      { question: 'q?', answer: '{2' },
      { question: 'q?', kind: 'math', tests: { inputs: ['1'], outputs: ['2'] } },
    ]);
    expect(faults).toEqual([
      '1 gold: the right answer "\\\\frac{1}{" cannot be used: its braces do not balance',
      '3 noGold: it has no right answer',
      '4 gold: the right answer "C" is no letter among 2 options',
      '5 options: two options are "1 m"',
      '5 options: an option is empty',
      expect.stringMatching(/^6 unreadable: not valid JSON/),
      '7 gold: the right answer "{2" cannot be used: its braces do not balance',
      '8 noGold: it has tests, but its kind is not code',
    ]);
    expect(result).toMatchObject({ rows: 8, rowsWithFaults: 7, faults: { gold: 3, noGold: 2, options: 2, unreadable: 1 } });
  });

  it('end the check at the first that cannot, where that is asked', async () => {
    const rows = [{ question: 'q?', answer: '1' }, { question: 'q?' }, { question: 'q?' }];
    const { result } = await check(rows, { strict: true });
    expect(result).toMatchObject({ rows: 2, rowsWithFaults: 1 });
  });
});

describe('programs', () => {
  let judge: CodeJudge;
  beforeAll(async () => {
    judge = await openCodeJudge({ workers: 2, timeoutSeconds: 5, sandbox: 'auto' });
  });
  afterAll(() => judge.close());
  const sums = { inputs: ['1 2\n', '5 6\n'], outputs: ['3\n', '11\n'] };
  const row = (more: object) => ({ question: 'q?', kind: 'code', ...more });

  it('pass their tests, or are told with what went wrong', async () => {
    const right = 'a, b = map(int, input().split())\nprint(a + b)';
    const { result, faults } = await check(
      [
        row({ tests: sums, solution: right }),
        row({ tests: JSON.stringify(sums), solutions: ['print(3)', right] }),
        row({ tests: sums, solution: 'print(3)' }),
        row({ tests: sums, solutions: JSON.stringify(['print(0)', 'x = (']) }),
        row({ tests: sums }),
        row({ tests: '{"inputs": [' }),
        row({ tests: { inputs: ['1'], outputs: [] }, solution: right }),
        row({
          tests: { entry_point: 'f', test_code: 'def check(candidate):\n    assert candidate(2) == 4' },
          solution: 'def f(x):\n    return 2 * x',
        }),
        row({ tests: { entry_point: 'f', test_code: 'def check(candidate:\n' }, solution: 'def f(x):\n    return 2 * x' }),
        row({ tests: sums, extra_info: { solution: `Here:\n\`\`\`python\n${right}\n\`\`\`\n` } }),
      ],
      { judge: async () => judge },
    );
    expect(result.solutions).toEqual({ rows: 7, passed: 4, notRun: 0, infra: 0 });
    expect(faults[0]).toBe('3 solution: the reference solution fails after 1 of 2 tests passed: the output is wrong: printed "3"');
    expect(faults[1]).toMatch(/^4 solution: none of 2 reference solutions passes; the first fails after 0 of 2/);
    expect(faults[2]).toMatch(/^6 tests: these code tests cannot be read/);
    expect(faults[3]).toMatch(/^7 tests: .*1 inputs and 0 outputs/);
    expect(faults[4]).toMatch(/^9 tests: /);
    expect(faults).toHaveLength(5);
  });

  it('are not run where nobody judges, and a sandbox that fails says nothing about the row', async () => {
    const rows = [row({ tests: sums, solution: 'print(3)' })];
    expect((await check(rows)).result).toMatchObject({ rowsWithFaults: 0, solutions: { rows: 1, passed: 0, notRun: 1 } });
    const broken: CodeRunner = { name: 'broken', run: async () => ({ kind: 'infra', error: 'no room' }), close: async () => undefined };
    const { result } = await check(rows, { judge: () => openCodeJudge({ runner: broken }) });
    expect(result).toMatchObject({ rowsWithFaults: 0, solutions: { rows: 1, passed: 0, infra: 1, infraError: 'no room' } });
  });

  it('are found under the names that sets give them, and only those of Python', () => {
    expect(referenceSolutions({ solution: 'The answer is 3.\nIt follows.' })).toEqual([]);
    expect(referenceSolutions({ solution: '#include <iostream>\nint main() {}' })).toEqual([]);
    expect(
      referenceSolutions({
        solutions: [
          { language: 'cpp', code: 'x=1' },
          { language: 'python', code: 'y=1' },
        ],
      }),
    ).toEqual(['y=1']);
    expect(referenceSolutions({ code: { python3: 'z = 2' } })).toEqual(['z = 2']);
    expect(referenceSolutions({ solutions: ['a=1', 'b=1', 'c=1', 'd=1'] })).toEqual(['a=1', 'b=1', 'c=1']);
    expect(referenceSolutions({ canonical_solution: '    return x\n' })).toEqual(['    return x\n']);
  });
});

describe('conversations', () => {
  const user = { role: 'user', content: 'What is 6 * 7?' };
  const call = (args: object, id = 'c1', name = 'code_interpreter') => ({
    role: 'assistant',
    content: '',
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
  });
  const result = (content: string, id: string | undefined = 'c1') => ({
    role: 'tool',
    content,
    ...(id !== undefined && { tool_call_id: id }),
  });
  const end = { role: 'assistant', content: 'It is \\boxed{42}.' };
  const tools = [
    {
      type: 'function',
      function: {
        name: 'code_interpreter',
        description: '',
        parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
      },
    },
  ];

  it('that are whole are clean', async () => {
    const { faults, result: found } = await check([
      { messages: [{ role: 'system', content: 's' }, user, call({ code: '6*7' }), result('42'), end], tools, answer: '42' },
      { messages: [user, call({ code: '6*7' }), { role: 'tool', content: '42' }, end] },
      { messages: [user, end, user, end], answer: 42 },
      { messages: [user, { role: 'assistant', content: '\\boxed{C) 42}' }], answer: 'C' },
      { messages: [user, { role: 'assistant', content: '\\boxed{B}' }], answer: 'B', kind: 'choice', options: ['1', '2'] },
      { messages: JSON.stringify([user, call({ code: '1' }), { role: 'tool', content: '1' }, end]), tools: JSON.stringify(tools) },
    ]);
    expect(faults).toEqual([]);
    expect(found.kind).toBe('conversations');
  });

  it.each([
    [[call({ code: '1' }), result('1'), end], "order: message 1 is the assistant's, and nobody has asked"],
    [[user, { role: 'system', content: 's' }, end], 'order: message 2 is a system message; only the first can be'],
    [[user, user, end], "order: message 2 is the user's, and so is the one before it"],
    [[user, end, end], "order: message 3 is the assistant's, and so is the one before it"],
    [[user, call({ code: '1' }), end], 'result: message 3 comes before the call of code_interpreter has a result'],
    [[user, end, result('1')], 'result: message 3 is a result more than there were calls'],
    [[user, result('1'), end], 'result: message 2 is a result, and no call stands before it'],
    [[user, call({ code: '1' }), result('1', 'c9'), end], 'result: message 3 answers the call "c9", which was not made'],
    [[user, call({ code: '1' }), result('1'), result('1'), end], 'result: message 4 is a result more than there were calls'],
    [[user, call({ code: '1' })], 'result: the conversation ends before the call of code_interpreter has a result'],
    [[user, call({ code: '1' }), result('1')], 'order: the conversation ends with a result, not with an answer'],
    [[user, end, user], 'order: the conversation ends with a user message'],
    [[user, call({ program: '1' }), result('1'), end], 'arguments: message 2 calls code_interpreter: "code" is missing'],
    [[user, call({ code: 3 }), result('1'), end], 'arguments: message 2 calls code_interpreter: "code" is 3, not string'],
    [
      [user, call({ code: '1' }, 'c1', 'search'), result('1'), end],
      'tool: message 2 calls search, and the row lists only code_interpreter',
    ],
    [
      [user, { role: 'assistant', content: '42' }],
      'answer: the last message boxes no answer (there is no \\boxed{} in the final text); the right one is "42"',
    ],
    [[user, { role: 'assistant', content: '\\boxed{41}' }], 'answer: the last message boxes "41"; the right answer is "42"'],
  ])('that are not are told: %#', async (messages, fault) => {
    const { faults } = await check([{ messages: [user, end] }, { messages, tools, answer: '42' }]);
    expect(faults[0]).toBe(`2 ${fault}`);
  });
});

describe('other files', () => {
  it('of a profile are checked for counts that fit each other', async () => {
    const row = { id: 'a', accuracy: 0.5, correct: 2, valid: 4, n: 4, label: 'medium', drop: null, fingerprint: 'f', settings: 's' };
    const { faults } = await check([
      row,
      { ...row, accuracy: 0.75 },
      { ...row, label: 'easy' },
      { ...row, correct: 5 },
      { ...row, correct: 4, accuracy: 1, label: 'easy', drop: 'solved' },
      { ...row, correct: 4, accuracy: 1, label: 'easy' },
      { ...row, accuracy: null, label: null },
    ]);
    expect(faults).toEqual([
      '2 counts: the accuracy is 0.75, and 2 of 4 are right',
      '3 counts: the label is easy, and 2 of 4 are medium',
      '4 counts: 5 right of 4 valid of 4 rollouts',
      '6 counts: drop is null, and should be solved',
    ]);
  });

  it('in no known form are refused', async () => {
    await expect(check([{ width: 3 }])).rejects.toThrow(UserError);
  });
});
