import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { completion, openAiTestServer } from '../engine/testSupport.js';
import { run } from '../setup/command.js';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const grade = (...args: string[]) => run(process.execPath, ['--import', 'tsx', main, 'grade', ...args], { env: { OPENAI_API_KEY: '' } });
const folder = mkdtempSync(join(tmpdir(), 'toolwise-grade-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, ...rows: (object | string)[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));
  return path;
}

const right = { id: 'a', kind: 'math', gold: '1/2', response: 'so \\boxed{0.5}' };

describe('toolwise grade', () => {
  it('prints a verdict a row in their order, and the sum of it apart', async () => {
    const path = file('rows.jsonl', right, { id: 7, kind: 'choice', gold: 'B', options: ['3 m', '4 m'], answer: 'A' });
    const { status, stdout, output } = await grade(path);
    expect(status).toBe(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { id: 'a', correct: true, score: 1, reason: 'match', extracted: '0.5' },
      { id: 7, correct: false, score: 0, reason: 'mismatch', extracted: 'A' },
    ]);
    expect(output).toContain('2 rows: 1 right of 2 graded (50.0%)');
  });

  it('grades as released where it is asked to', async () => {
    const { status, stdout } = await grade(file('released.jsonl', right), '--grader', 'reference');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ id: 'a', correct: false, score: -1, reason: 'mismatch', extracted: '0.5' });
  });

  it('grades the rows that the page on grading shows, all as right', { timeout: 60_000 }, async () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/grading.md', import.meta.url)), 'utf8');
    const rows = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => block!.trim().split('\n'));
    const { status, stdout } = await grade(file('page.jsonl', ...rows), '--sandbox', 'none');
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { correct?: boolean });
    expect(lines.length).toBeGreaterThanOrEqual(9);
    expect(lines.filter(({ correct }) => correct !== true)).toEqual([]);
    expect(status).toBe(0);
  });

  it('gives a bad line its error, grades the others, names it and ends with 2', async () => {
    const path = file('bad.jsonl', right, '{"id": "b", "kind": "choice"}', { ...right, id: 'c' });
    const { status, stdout, output } = await grade(path);
    expect(status).toBe(2);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ correct: true }, { id: 'b', error: expect.stringContaining(`${path}:2: `) }, { id: 'c', correct: true }]);
    expect(output).toContain('1 of 3 rows cannot be used. A row: {"id": "1", "kind": "choice"');
    expect(output).toContain(`1 row cannot be used and is neither right nor wrong:\n  ${path}:2: `);
  });

  it('stops at a bad line before it grades anything, where it is asked to', async () => {
    const path = file('strict.jsonl', right, '{"id": "b", "kind": "math"}');
    const { status, stdout, output } = await grade(path, '--strict');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(output).toContain(`error: ${path}:2: `);
  });

  it('tells at once that no judge answers, and ends with 2', async () => {
    const { status, stdout, output } = await grade(file('asked.jsonl', right), '--judge', 'openai:http://127.0.0.1:1/v1#m');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(output).toContain('nobody answers as the judge: cannot reach http://127.0.0.1:1/v1');
  });

  it('ends with 1 where every row is lost to a judge that fails', async () => {
    const server = await openAiTestServer((_, count) =>
      count === 1 ? completion({ role: 'assistant', content: '' }) : completion({ role: 'assistant', content: 'It is right, I think.' }),
    );
    try {
      const { status, stdout, output } = await grade(file('opinions.jsonl', right), '--judge', `openai:${server.url}#m`);
      expect(JSON.parse(stdout)).toEqual({ id: 'a', infra: expect.stringContaining('its reply is no JSON') });
      expect(output).toContain('the row has no verdict, because what should grade failed; first: judge: its reply is no JSON');
      expect(status).toBe(1);
    } finally {
      await server.close();
    }
  });

  it('ends with 2 for tests that never call the program', async () => {
    const tests = { entry_point: 'f', test_code: 'assert 1 == 1' };
    const path = file('tests.jsonl', { id: 'a', kind: 'code', tests, response: '```python\ndef f(x): return x\n```' });
    const { status, stdout, output } = await grade(path, '--sandbox', 'none');
    expect(JSON.parse(stdout)).toEqual({ id: 'a', error: `${path}:1: the tests cannot be used: the tests never call the entry point` });
    expect(output).toContain('1 row cannot be used');
    expect(status).toBe(2);
  });

  it('refuses a right answer that cannot be used, grades the others, and ends with 2', async () => {
    const { status, stdout } = await grade(file('gold.jsonl', { ...right, id: 'x', gold: '' }, right));
    expect(status).toBe(2);
    const [refused, graded] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(Object.keys(refused)).toEqual(['id', 'error']);
    expect(graded).toMatchObject({ id: 'a', correct: true });
  });

  it('says that nothing could be read, with a sample', async () => {
    const { status, output } = await grade(file('nothing.jsonl', { ...right, response: 'I think it is a half' }));
    expect(status).toBe(0);
    expect(output).toContain('no row has an answer that could be read; the first ends: "I think it is a half"');
  });

  it.each([
    [[], 'grade needs a file'],
    [['rows.jsonl', '--run', 'x'], 'grade needs a file, or --run'],
    [['rows.jsonl', '--changed'], '--changed goes with --run'],
    [['rows.jsonl', '--grader', 'kind'], '--grader "kind"'],
    [['rows.jsonl', '--parallel', '0'], '--parallel "0"'],
    [['rows.jsonl', '--judge', 'http://127.0.0.1:1/v1'], '--judge needs the name of a model'],
    [['--run', '/nonexistent/run'], 'holds no run'],
  ])('is told apart from a mistake: %j', async (args, message) => {
    const { status, output } = await grade(...args);
    expect(output).toContain(message);
    expect(output).not.toMatch(/^\s+at /m);
    expect(status).toBe(2);
  });
});
