import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { completion, openAiTestServer } from '../engine/testSupport.js';
import { UserError } from '../userError.js';
import { Tally, toLine } from './graded.js';
import { checkFile, gradeFile } from './gradeFile.js';
import { type GradingRow, parseGradingRow } from './gradingRow.js';
import { inOrder } from './inOrder.js';
import { openJudge } from './judgeChat.js';
import { judgeRowGrader, readJudgement } from './judgeRowGrader.js';
import { referenceRowGrader } from './referenceRowGrader.js';
import { type RowGrader, rowGrader } from './rowGrader.js';
import { SandboxOnDemand } from './sandboxOnDemand.js';

const never = new AbortController().signal;
const sandbox = new SandboxOnDemand({ kind: 'none', workers: 2, timeoutSeconds: 10, memoryMb: 512 });
afterAll(() => sandbox.close());

const row = (values: object): GradingRow => parseGradingRow(JSON.stringify({ id: 1, ...values }), 'rows.jsonl:7');
const math = (values: object): GradingRow => row({ kind: 'math', gold: '1/2', ...values });
const graded = async (grader: RowGrader, one: GradingRow) => toLine({ id: one.id }, await grader(one, never));

describe('rows', () => {
  it.each([
    ['{', 'not valid JSON'],
    ['[]', 'not a JSON object'],
    ['{"kind":"math","gold":"1","answer":"1"}', '"id" is missing'],
    ['{"id":"1","gold":"1","answer":"1"}', '"kind" is missing'],
    ['{"id":"1","kind":"essay","gold":"1","answer":"1"}', '"kind" is "essay"'],
    ['{"id":"1","kind":"math","answer":"1"}', '"gold" is missing'],
    ['{"id":"1","kind":"math","gold":["1"],"answer":"1"}', '"gold" is ["1"]'],
    ['{"id":"1","kind":"math","gold":12345678901234567890,"answer":"1"}', 'too large to be read exactly'],
    ['{"id":"1","kind":"math","gold":"1"}', 'neither "response" nor "answer"'],
    ['{"id":"1","kind":"math","gold":"1","answer":"1","response":"1"}', 'both "response" and "answer"'],
    ['{"id":"1","kind":"math","gold":"1","response":7}', '"response" is 7'],
    ['{"id":"1","kind":"choice","gold":"A","options":"x","answer":"1"}', '"options" is "x"'],
    ['{"id":"1","kind":"code","response":"1"}', 'has no "tests"'],
    ['{"id":"1","kind":"code","tests":[]}', 'neither "response" nor "answer"'],
    [`{"id":"1","kind":"code","tests":${'['.repeat(3000)}${']'.repeat(3000)},"response":""}`, 'nested too deeply'],
  ])('refuses %s, naming file and line', (text, message) => {
    let error: unknown;
    try {
      parseGradingRow(text, 'rows.jsonl:7');
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toMatch(/^rows\.jsonl:7: /);
    expect((error as UserError).message).toContain(message);
  });

  it.each([
    ['math', '"gold": "42"'],
    ['choice', '"options"'],
    ['code', '"tests": {"inputs"'],
    ['essay', '"kind": "math"'],
  ])('are shown as a row of their own kind should be: %s', (kind, shown) => {
    let error: unknown;
    try {
      parseGradingRow(JSON.stringify({ id: 1, kind, response: 'x' }), 'rows.jsonl:7');
    } catch (caught) {
      error = caught;
    }
    const { hint } = error as UserError;
    expect(hint).toContain(shown);
    // What is shown is a row itself.
    const example = /\{.*\}/.exec(hint!.split('\n')[0]!)![0].replaceAll('\\\\\\\\', '\\\\');
    expect(parseGradingRow(example, 'x')).toMatchObject({ id: '1', kind: kind === 'essay' ? 'math' : kind });
  });

  it('take numbers for texts, and an answer of null for none', () => {
    expect(math({ gold: 0.5, answer: null })).toMatchObject({ gold: '0.5', given: { kind: 'answer', text: undefined } });
  });
});

describe('tests in a row', () => {
  const given = (tests: string, program: string): GradingRow =>
    parseGradingRow(`{"id": 1, "kind": "code", "tests": ${tests}, "answer": ${JSON.stringify(program)}}`, 'rows.jsonl:7');

  it('keep their numbers as they are written', { timeout: 60_000 }, async () => {
    const half = '{"fn_name": "f", "inputs": [[7]], "outputs": [3.0]}';
    expect(await graded(rowGrader({ sandbox }), given(half, 'def f(x): return 3.0'))).toMatchObject({ correct: true });
    const whole = '{"fn_name": "f", "inputs": [[7]], "outputs": [3]}';
    expect(await graded(rowGrader({ sandbox }), given(whole, 'def f(x): return 3.0'))).toMatchObject({ correct: false });
    const large = '{"fn_name": "f", "inputs": [[1]], "outputs": [123456789012345678901234567891]}';
    expect(await graded(rowGrader({ sandbox }), given(large, 'def f(x): return 123456789012345678901234567890 + x'))).toMatchObject({
      correct: true,
    });
  });
});

describe('the graders of rows', () => {
  const grader = rowGrader({ sandbox });

  it('read the last box of a response, and an answer as it is', async () => {
    expect(await graded(grader, math({ response: 'so \\boxed{0.5}' }))).toMatchObject({
      id: 1,
      correct: true,
      score: 1,
      reason: 'match',
      extracted: '0.5',
    });
    expect(await graded(grader, math({ response: '0.5' }))).toMatchObject({ correct: false, reason: 'noAnswer', extracted: null });
    expect(await graded(grader, math({ answer: '\\frac12' }))).toMatchObject({ correct: true });
    expect(await graded(grader, math({ answer: 'it is \\boxed{0.5}, surely' }))).toMatchObject({ correct: true, extracted: '0.5' });
    expect(await graded(grader, math({ answer: null }))).toMatchObject({ correct: false, reason: 'noAnswer' });
  });

  it('take a phrase where they are told to', async () => {
    const said = math({ response: 'The final answer is 0.5' });
    expect(await graded(grader, said)).toMatchObject({ correct: false });
    expect(await graded(rowGrader({ sandbox, phrase: true }), said)).toMatchObject({ correct: true, extracted: '0.5' });
  });

  it('grade letters', async () => {
    const asked = (response: string) => row({ kind: 'choice', gold: 'B', options: ['3 m', '4 m'], response });
    expect(await graded(grader, asked('\\boxed{\\text{B}}'))).toMatchObject({ correct: true, extracted: 'B' });
    expect(await graded(grader, asked('\\boxed{3 m}'))).toMatchObject({ correct: false, extracted: 'A' });
  });

  it('refuse a right answer that cannot be used, and never reward it', async () => {
    for (const one of [
      math({ gold: ' ', answer: ' ' }),
      row({ kind: 'choice', gold: 'E', options: ['a', 'b'], answer: 'E' }),
      row({ kind: 'code', tests: { inputs: [] }, response: '```python\n```' }),
      row({ kind: 'code', tests: { entry_point: 'f', test_code: 'assert 1 == 1' }, response: '```python\ndef f(x): return x\n```' }),
      row({ kind: 'code', tests: { entry_point: 'f', test_code: 'assert same(f(1), 1)' }, answer: 'def f(x): return x' }),
    ]) {
      const line = await graded(grader, one);
      expect(Object.keys(line)).toEqual(['id', 'error']);
      expect(line.error).toMatch(/^rows\.jsonl:7: /);
    }
  });

  it('run the tests of a program, given in a response or bare', { timeout: 60_000 }, async () => {
    const tests = { inputs: ['1\n', '2\n'], outputs: ['2\n', '4\n'] };
    const program = 'print(2 * int(input()))';
    expect(await graded(grader, row({ kind: 'code', tests, response: `Here:\n\`\`\`python\n${program}\n\`\`\`` }))).toMatchObject({
      correct: true,
      passed: 2,
      total: 2,
    });
    expect(await graded(grader, row({ kind: 'code', tests: JSON.stringify(tests), answer: program }))).toMatchObject({ correct: true });
    expect(await graded(grader, row({ kind: 'code', tests, answer: 'print(2)' }))).toMatchObject({
      correct: false,
      score: 0.5,
      reason: 'wrongOutput',
    });
    expect(await graded(grader, row({ kind: 'code', tests, response: 'I cannot.' }))).toMatchObject({
      correct: false,
      reason: 'noProgram',
      extracted: null,
    });
  });
});

describe('the reference grader of rows', () => {
  const grader = referenceRowGrader(sandbox);

  it('compares letter by letter, and follows the rule of turns where it is told them', async () => {
    expect(await graded(grader, math({ response: '\\boxed{1/2}' }))).toMatchObject({ correct: true, score: 1, extracted: '1/2' });
    expect(await graded(grader, math({ response: '\\boxed{0.5}' }))).toMatchObject({ correct: false, score: -1, reason: 'mismatch' });
    expect(await graded(grader, math({ response: '\\boxed{0.5}', turns: 6 }))).toMatchObject({ score: -0.8 });
    expect(await graded(grader, math({ answer: '1/2' }))).toMatchObject({ correct: true });
    expect(await graded(grader, math({ response: 'none' }))).toMatchObject({ score: -1, reason: 'noAnswer' });
  });

  it('runs programs as the released tests do', { timeout: 120_000 }, async () => {
    const code = (tests: unknown, program: string) =>
      graded(grader, row({ kind: 'code', tests, response: `\`\`\`python\n${program}\n\`\`\`` }));
    const tests = { inputs: ['1\n', '2\n'], outputs: ['2\n', '4\n'] };
    expect(await code(tests, 'print(2 * int(input()))')).toMatchObject({ correct: true, score: 1 });
    // a space at the end of a line is another text there
    expect(await code(tests, 'print(2 * int(input()), "")')).toMatchObject({ correct: false, score: 0, reason: 'wrongOutput' });
    expect(await code(tests, 'x = int(input())\nprint(2 if x == 1 else 1 / 0)')).toMatchObject({ score: 0.5, reason: 'runtimeError' });
    expect(await code({ fn_name: 'f', inputs: ['1\n[2]'], outputs: ['[2, 1]'] }, 'def f(x, y): return y + [x]')).toMatchObject({
      correct: true,
    });
    expect(
      await code(
        { import_prefix: 'import math\n', entry_point: 'f', test_code: 'def check(g):\n    assert g(4) == 2\n    assert g(9) == 4' },
        'f = math.isqrt',
      ),
    ).toMatchObject({ correct: false, score: 0.5 });
    expect(await code([{ input: '1', output: '1' }], 'x')).toMatchObject({ error: expect.stringContaining('knows no tests without') });
  });
});

describe('the judge', () => {
  const probed = async (url: string, more: object = {}) => {
    const chat = openJudge({ url, model: 'm', ...more });
    try {
      return await chat.probe(never).then(
        () => 'there',
        (error: unknown) => error,
      );
    } finally {
      await chat.close();
    }
  };

  it('is asked for one token before anything else, and is there or not', async () => {
    const answers: { status?: number; body: unknown }[] = [
      { body: completion({ role: 'assistant', content: '' }).body },
      { status: 503, body: 'loading' },
      { status: 404, body: 'no such path' },
      { status: 401, body: 'who are you, sk-secret-1?' },
      { body: '<html>' },
    ];
    const server = await openAiTestServer((_, count) => answers[count - 1]!);
    try {
      expect(await probed(server.url)).toBe('there');
      expect(server.asked[0]!.body).toMatchObject({ model: 'm', max_tokens: 1 });
      expect(await probed(server.url)).toBe('there');
      for (const [message, hint] of [
        ['HTTP 404', '/v1'],
        ['HTTP 401', '--api-key-env'],
        ['no chat completion', '/v1'],
      ] as const) {
        const error = await probed(server.url, { key: 'sk-secret-1' });
        expect(error).toBeInstanceOf(UserError);
        expect((error as UserError).message).toContain(message);
        expect((error as UserError).message).not.toContain('sk-secret-1');
        expect((error as UserError).hint).toContain(hint);
      }
      expect(server.asked.length).toBe(5);
    } finally {
      await server.close();
    }
    const gone = await probed(server.url);
    expect(gone).toBeInstanceOf(UserError);
    expect((gone as UserError).message).toContain(`nobody answers as the judge: cannot reach ${server.url}`);
  });

  it('that accepts and never answers is told apart from a slow one', async () => {
    const server = await openAiTestServer(() => new Promise(() => undefined));
    try {
      expect(String(await probed(server.url, { probeSeconds: 0.2 }))).toContain('did not answer within 0.2 s');
    } finally {
      await server.close();
    }
  });

  const judged = async (replies: (object | string)[], one: GradingRow, key?: string) => {
    const server = await openAiTestServer((_, count) => {
      const reply = replies[count - 1]!;
      return typeof reply === 'string' ? { body: completion({ role: 'assistant', content: reply }).body } : (reply as { body: unknown });
    });
    const chat = openJudge({ url: server.url, model: 'm', attempts: 2, firstPause: 0, ...(key !== undefined && { key }) });
    try {
      return { line: await graded(judgeRowGrader(chat, rowGrader({ sandbox })), one), asked: server.asked };
    } finally {
      await chat.close();
      await server.close();
    }
  };

  it('is asked with question, right answer and response, and answers in one form', async () => {
    const { line, asked } = await judged(['{"answer": "a half", "correct": true}'], math({ response: 'It is a half.', question: 'What?' }));
    expect(line).toEqual({ id: 1, correct: true, score: 1, reason: 'match', extracted: 'a half' });
    const { messages, temperature } = asked[0]!.body as { messages: { content: string }[]; temperature: number };
    expect(temperature).toBe(0);
    expect(JSON.parse(messages[1]!.content)).toEqual({ question: 'What?', rightAnswer: '1/2', response: 'It is a half.' });
  });

  it('is asked once more for another form, and is lost to infrastructure after that', async () => {
    const again = await judged(['Yes, it is correct.', '{"answer": null, "correct": false}'], math({ response: 'x' }));
    expect(again.line).toMatchObject({ correct: false, reason: 'noAnswer' });
    const { line } = await judged(['Yes.', 'Correct!'], math({ response: 'x' }));
    expect(line).toEqual({ id: 1, infra: expect.stringContaining('its reply is no JSON') });
  });

  it('is lost to infrastructure where the endpoint fails, and its key is in no message', async () => {
    const failing = { status: 500, body: { error: { message: 'bad key sk-secret-1' } } };
    const { line, asked } = await judged([failing, failing], math({ response: 'x' }), 'sk-secret-1');
    expect(asked[0]!.headers.authorization).toBe('Bearer sk-secret-1');
    expect(line.infra).toContain('HTTP 500');
    expect(JSON.stringify(line)).not.toContain('sk-secret-1');
    expect((await judged([{ status: 401, body: 'no' }], math({ response: 'x' }))).line.infra).toContain('HTTP 401');
    expect((await judged([{ body: { choices: [] } }], math({ response: 'x' }))).line.infra).toContain('no chat completion');
  });

  it('is not asked about nothing, nor about a right answer that cannot be used', async () => {
    expect((await judged([], math({ response: ' ' }))).line).toMatchObject({ correct: false, reason: 'noAnswer' });
    expect((await judged([], math({ gold: '', response: 'x' }))).line).toMatchObject({ error: expect.stringContaining('cannot be used') });
  });

  it('must not contradict itself or add to the form', () => {
    for (const reply of [
      '{"answer": null, "correct": true}',
      '{"answer": "1", "correct": "true"}',
      '{"answer": "1", "correct": true, "why": ""}',
      '```json\n{"answer":"1","correct":true}\n```',
    ])
      expect(readJudgement(reply)).toBeTypeOf('string');
  });
});

describe('a file of rows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwise-grade-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const file = async (...lines: string[]): Promise<string> => {
    const path = join(folder, 'rows.jsonl');
    await writeFile(path, lines.join('\n'));
    return path;
  };
  const line = (id: number, answer: string): string => JSON.stringify({ id, kind: 'math', gold: '7', answer });
  const all = async (path: string, grader: RowGrader, parallel = 4) => {
    const tally = new Tally();
    const lines: object[] = [];
    for await (const one of gradeFile(path, tally, { grader, parallel, signal: never })) lines.push(one.line);
    return { tally, lines };
  };

  const never7: RowGrader = async () => {
    throw new Error('not reached');
  };

  it('goes on behind a bad row, which has its error and counts as refused', async () => {
    const path = await file(line(1, '7'), '', '{"id": 2}', line(3, '8'), '{"id": "4", "kind": "code", "response": "x"}', '{"id":');
    const { tally, lines } = await all(path, rowGrader({ sandbox }));
    expect(lines).toMatchObject([
      { id: 1, correct: true },
      { id: 2, error: expect.stringMatching(`^${path}:3: `) },
      { id: 3, correct: false },
      { id: '4', error: `${path}:5: a row of code has no "tests"` },
      { id: null, error: expect.stringMatching(`^${path}:6: not valid JSON`) },
    ]);
    expect(tally.text()).toBe('5 rows: 1 right of 2 graded (50.0%), 3 refused (60.0%)');
    expect(tally.exitCode()).toBe(2);
    expect(tally.warnings()).toEqual([
      expect.stringMatching(/^3 rows cannot be used and are neither right nor wrong:(\n.*:[356]: .*){3}$/),
    ]);
  });

  it('is checked as a whole before anything is graded where it must be without fault', async () => {
    const path = await file(line(1, '7'), '', '{"id": 2}');
    const strict = async () => {
      for await (const _ of gradeFile(path, new Tally(), { grader: never7, parallel: 4, signal: never, strict: true }));
    };
    await expect(strict()).rejects.toThrow(`${path}:3: `);
    expect(await checkFile(path)).toMatchObject({ all: 2, code: 0, bad: 1 });
    await expect(checkFile(await file(''))).rejects.toThrow('has no rows');
    await expect(checkFile(join(folder, 'none.jsonl'))).rejects.toThrow('there is no such file');
  });

  it('is refused as a whole where it is another kind of file', async () => {
    const path = await file('<html>', '<p>7</p>', '{"text": "7"}');
    await expect(all(path, never7)).rejects.toThrow(`${path} holds no row with an "id"; the first: ${path}:1: not valid JSON`);
  });

  it('says when nothing or not all could be graded, and why', async () => {
    const path = await file(line(1, '7'), line(2, '7'));
    const failing = (ids: number[]): RowGrader => {
      const own = rowGrader({ sandbox });
      return async (one, signal) =>
        ids.includes(Number(one.id)) ? { kind: 'verdict', verdict: { kind: 'infra', error: 'down' } } : own(one, signal);
    };
    const none = (await all(path, failing([1, 2]))).tally;
    expect(none.exitCode()).toBe(1);
    expect(none.warnings()).toEqual(['no row has a verdict, because what should grade failed; first: down']);
    const half = (await all(path, failing([2]))).tally;
    expect(half.exitCode()).toBe(0);
    expect(half.warnings()).toEqual(['1 of 2 rows have no verdict, because what should grade failed; first: down']);
    const whole = (await all(path, failing([]))).tally;
    expect(whole.exitCode()).toBe(0);
    expect(whole.warnings()).toEqual([]);
  });

  it('gives verdicts in the order of the rows, and one sentence about all', async () => {
    const path = await file(...Array.from({ length: 40 }, (_, i) => line(i, String(i % 8))));
    const grader = rowGrader({ sandbox });
    const { tally, lines } = await all(path, async (one, signal) => {
      await new Promise((resolve) => setTimeout(resolve, (Number(one.id) * 7) % 5));
      return one.id === 3 ? { kind: 'verdict', verdict: { kind: 'infra', error: 'down' } } : grader(one, signal);
    });
    expect(lines.map((one) => (one as { id: number }).id)).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(lines[3]).toEqual({ id: 3, infra: 'down' });
    expect(tally.text()).toBe('40 rows: 5 right of 39 graded (12.8%), 1 lost to infrastructure (2.5%)');
  });
});

describe('work in order', () => {
  it('holds no more than its limit, and passes an error on after what runs has ended', async () => {
    let running = 0;
    let most = 0;
    let ended = 0;
    const work = async (item: number): Promise<number> => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, item === 5 ? 1 : 3));
      running--;
      ended++;
      if (item === 5) throw new Error('five');
      return item;
    };
    const seen: number[] = [];
    const run = async (): Promise<void> => {
      for await (const outcome of inOrder([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3, work)) seen.push(outcome);
    };
    await expect(run()).rejects.toThrow('five');
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBeLessThanOrEqual(3);
    expect(running).toBe(0);
    expect(ended).toBeGreaterThan(5);
  });
});
