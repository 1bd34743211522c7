import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gradeAnswer } from '../reward/math/gradeAnswer.js';
import { UserError } from '../userError.js';
import { loadProblems, parseProblems } from './load.js';

const parse = (...rows: unknown[]) =>
  parseProblems(rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'), 'set.jsonl');

describe('problems from a file', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolwise-problems-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are read with their own fields kept', () => {
    expect(
      parse(
        { id: 'a', question: 'Q?', answer: '1', tests: [1, 2], tags: { level: 3 } },
        { problem: 'P?', answer: 0.5 },
        { id: 7, prompt: 'R?' },
      ),
    ).toEqual([
      { id: 'a', question: 'Q?', answer: '1', tests: [1, 2], tags: { level: 3 }, source: 'set.jsonl' },
      { id: 'set.jsonl:2', question: 'P?', answer: '0.5', source: 'set.jsonl' },
      { id: '7', question: 'R?', source: 'set.jsonl' },
    ]);
  });

  it.each([
    ['She has 12 + 30 = 42 apples.\n#### 42', '42'],
    ['#### 1,234,567', '1234567'],
    ['It costs more.\n#### $-1,000.50 ', '-1000.50'],
    ['#### 3/4', '3/4'],
    ['a #### b', 'a #### b'],
    ['plain text', 'plain text'],
  ])('give the final answer of a worked solution: %j', (answer, expected) => {
    expect(parse({ question: 'Q?', answer })[0]!.answer).toBe(expected);
  });

  it('may have empty lines, Windows line ends and a byte order mark', () => {
    const text = '\uFEFF{"question": "A?", "answer": "1"}\r\n\r\n{"question": "B?", "answer": "2"}\r\n';
    expect(parseProblems(text, 'dir/x.jsonl').map(({ id, question }) => [id, question])).toEqual([
      ['x.jsonl:1', 'A?'],
      ['x.jsonl:3', 'B?'],
    ]);
  });

  it.each([
    ['{"question": "Q?", "answer"', /^set\.jsonl:2: not valid JSON/],
    ['[1, 2]', /^set\.jsonl:2: not a JSON object/],
    ['null', /^set\.jsonl:2: not a JSON object/],
    [{ answer: '1' }, /^set\.jsonl:2: no question, problem, prompt/],
    [{ question: ' ', answer: '1' }, /^set\.jsonl:2: "question" is not a text or is empty/],
    [{ question: ['Q'], answer: '1' }, /^set\.jsonl:2: "question" is not a text/],
    [{ question: 'Q?', answer: '' }, /^set\.jsonl:2: "answer" is neither/],
    [{ question: 'Q?', answer: { value: 1 } }, /^set\.jsonl:2: "answer" is neither/],
    ['{"question": "Q?", "answer": 12345678901234567890}', /^set\.jsonl:2: the number "answer" is too large/],
    [{ question: 'Q?', id: [1] }, /^set\.jsonl:2: "id" is neither/],
    [{ question: 'Q?', id: 'first' }, /^set\.jsonl:2: the id "first" stands in line 1 already/],
    [{ question: 'Q?', tags: ['x'] }, /^set\.jsonl:2: "tags" is not/],
    [{ question: 'Q?', source: 1 }, /^set\.jsonl:2: "source" is not a text/],
  ])('name file and line of a bad row: %j', (row, message) => {
    const read = (): unknown => parse({ id: 'first', question: 'Q?', answer: '1' }, row);
    expect(read).toThrow(UserError);
    expect(read).toThrow(message);
  });

  it('must be some', () => {
    expect(() => parseProblems('\n \n', 'empty.jsonl')).toThrow(/empty\.jsonl has no problems/);
  });

  it('are found by path, and cut to the count', async () => {
    const file = join(folder, 'p.jsonl');
    writeFileSync(file, '{"question": "A?"}\n{"question": "B?"}\n{"question": "C?"}\n');
    const options = { split: 'evaluation', seed: 1 } as const;
    expect(await loadProblems(file, options)).toHaveLength(3);
    expect(await loadProblems(file, { ...options, count: 2 })).toHaveLength(2);
    expect(await loadProblems({ kind: 'jsonl', file, count: 1 }, { ...options, count: 2 })).toHaveLength(1);
    await expect(loadProblems(join(folder, 'none.jsonl'), options)).rejects.toThrow(/there is no such file/);
    await expect(loadProblems(folder, options)).rejects.toThrow(/it is a folder/);
  });
});

describe('problems from a generator', () => {
  it('follow from the source, and from the options where it is silent', async () => {
    const options = { split: 'train', seed: 3, count: 5 } as const;
    const problems = await loadProblems('calc', options);
    expect(problems).toHaveLength(5);
    expect(await loadProblems({ kind: 'calc', seed: 3, count: 5 }, { split: 'train', seed: 8 })).toEqual(problems);
    expect(await loadProblems('calc-small', options)).not.toEqual(problems);
    const levels = await loadProblems({ kind: 'calc-small', levels: [1] }, options);
    expect(levels.map((problem) => problem.tags?.level)).toEqual([1, 1, 1, 1, 1]);
    await expect(loadProblems('calc', { split: 'train', seed: 1 })).rejects.toThrow(/how many are wanted/);
  });

  it('differ with varied answers in how some of these are written, and in nothing else', async () => {
    const options = { split: 'train', seed: 3, count: 40 } as const;
    const [plain, varied] = [
      await loadProblems('calc-small', options),
      await loadProblems({ kind: 'calc-small', answers: 'varied' }, options),
    ];
    expect(varied.map((problem, i) => ({ ...problem, answer: plain[i]!.answer }))).toEqual(plain);
    const other = varied.filter(({ answer }, i) => answer !== plain[i]!.answer);
    expect(other.length).toBeGreaterThan(8);
    expect(other.length).toBeLessThan(32);
    for (const [i, { answer }] of varied.entries()) expect(gradeAnswer(plain[i]!.answer, answer!).correct).toBe(true);
  });
});
