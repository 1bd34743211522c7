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

  it('is checked as a whole before anything is graded', async () => {
    let graded = 0;
    const path = await file(line(1, '7'), '', '{"id": 2}');
    const grader: RowGrader = async () => {
      graded++;
      throw new Error('not reached');
    };
    await expect(all(path, grader)).rejects.toThrow(`${path}:3: `);
    expect(graded).toBe(0);
    await expect(checkFile(await file(''))).rejects.toThrow('has no rows');
    await expect(checkFile(join(folder, 'none.jsonl'))).rejects.toThrow('there is no such file');
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
