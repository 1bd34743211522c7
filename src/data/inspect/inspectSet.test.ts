import { describe, expect, it } from 'vitest';
import { parquetBytes, temporaryFolder } from '../../tables/testSupport.js';
import { UserError } from '../../userError.js';
import { inspectionPage } from './inspectionPage.js';
import { inspectionText } from './inspectionText.js';
import { inspectSet } from './inspectSet.js';
import { openTokenMeter } from './tokenMeter.js';

const folder = temporaryFolder();
const jsonl = (name: string, rows: readonly unknown[]): string =>
  folder.write(name, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));

const call = (code: string, id = 'c1') => ({
  role: 'assistant',
  content: 'Let me calculate.',
  tool_calls: [{ id, type: 'function', function: { name: 'code_interpreter', arguments: JSON.stringify({ code }) } }],
});
const result = (content: string, id = 'c1') => ({ role: 'tool', tool_call_id: id, content });
const conversation = (...middle: object[]) => [
  { role: 'user', content: 'What is 6 * 7?' },
  ...middle,
  { role: 'assistant', content: '\\boxed{42}' },
];

describe('a file of problems', () => {
  it('is described by columns, counts, lengths, broken rows, duplicates and what is private', async () => {
    const file = jsonl('problems.jsonl', [
      { question: 'What is 1+1?', answer: '2', source: 'sums' },
      '{oops',
      { question: 'What is 2+2?', answer: '4', source: 'sums' },
      { question: 'What is 1+1?', answer: '2', source: 'sums' },
      { question: '', answer: '4' },
      { question: 'Which?', answer: 'B', kind: 'choice', options: ['a', 'b'], source: 'other' },
      { question: 'Write ann@firma.de!', answer: `ghp_${'a1B2'.repeat(9)}` },
      { question: 'Open?', source: 'open' },
      { question: '=HYPERLINK("x")', answer: '1' },
    ]);
    const found = await inspectSet(file);
    expect(found).toMatchObject({ kind: 'problems', schema: 'plain', rows: 9, format: 'jsonl' });
    expect(found.counts.kind).toEqual(
      [
        { name: 'choice', count: 1 },
        { name: 'math', count: 6 },
      ].reverse(),
    );
    expect(found.counts.source).toEqual([
      { name: 'sums', count: 3 },
      { name: 'problems.jsonl', count: 2 },
      { name: 'open', count: 1 },
      { name: 'other', count: 1 },
    ]);
    expect(found.broken.count).toBe(2);
    expect(found.broken.first.map(({ where }) => where)).toEqual([`${file}:2`, `${file}:5`]);
    expect(found.duplicates).toMatchObject({ count: 1, first: [{ where: `${file}:4`, firstRow: 1 }] });
    expect(found.privacy.byKind.map(({ name }) => name).sort()).toEqual(['email', 'key']);
    expect(found.privacy.first[0]).toEqual({ where: `${file}:7`, column: 'question', kind: 'email', excerpt: 'a***@firma.de' });
    expect(JSON.stringify(found)).not.toContain('a1B2a1B2');
    expect(found.notes.join('\n')).toMatch(
      /1 problems have neither an answer nor tests[\s\S]*1 values of question begin as a spreadsheet's formula/,
    );
    expect(found.lengths.find(({ name }) => name === 'question')).toMatchObject({ unit: 'characters', count: 7, min: 5, max: 19 });
    const text = inspectionText(found);
    for (const part of ['9 rows of jsonl, problems, schema plain', 'Broken rows: 2', 'the same as row 1', 'Private: 2 (1 email, 1 key)'])
      expect(text).toContain(part);
    expect(inspectionPage(found)).toContain('<h2>Broken rows (2)</h2>');
  });

  it('has its examples drawn from all rows, the first among them, the same each time', async () => {
    const file = jsonl(
      'many.jsonl',
      Array.from({ length: 500 }, (_, i) => ({ question: `What is ${i}+1?`, answer: String(i + 1) })),
    );
    const [one, two] = [await inspectSet(file, { examples: 4 }), await inspectSet(file, { examples: 4 })];
    expect(one).toEqual(two);
    expect(one.examples).toHaveLength(4);
    expect(one.examples[0]!.where).toBe(`${file}:1`);
    expect(new Set(one.examples.map(({ where }) => where)).size).toBe(4);
    expect((await inspectSet(file, { limit: 3, examples: 9 })).examples.map(({ where }) => where)).toEqual(
      [1, 2, 3].map((n) => `${file}:${n}`),
    );
  });

  it('is measured in real tokens, prompt and tools included', async () => {
    const questions = ['What is 6 * 7?', 'What is 6 * 7 + 12345 - 678?'];
    const file = jsonl(
      'tokens.jsonl',
      questions.map((question) => ({ question, answer: '42' })),
    );
    const tokens = await openTokenMeter('nano', 'nano', () => undefined);
    const { lengths } = await inspectSet(file, { tokens });
    const prompt = lengths.find(({ unit }) => unit === 'tokens')!;
    expect(prompt.name).toBe('prompt');
    expect([prompt.min, prompt.max]).toEqual(questions.map((question) => tokens.prompt({ id: '1', question })));
    expect(prompt.max).toBeGreaterThan(prompt.min);
  });
});

describe('a file of conversations', () => {
  it('is described by its calls, and how they ended', async () => {
    const rows = [
      { messages: conversation(call('print(6*7)'), result('42')), source: 'x', tags: ['analysis', 'checking'] },
      {
        messages: conversation(
          call('1/0'),
          result('Traceback (most recent call last):\nZeroDivisionError: x'),
          call('print(42)', 'c2'),
          result('42', 'c2'),
        ),
        source: 'x',
        tags: ['recovery'],
      },
      { messages: conversation(), source: 'y', tags: [] },
      { messages: [{ role: 'user', content: 'Hello' }, call('x')] },
      { messages: [{ role: 'nobody', content: 'Hello' }] },
      { messages: conversation(call('print(6*7)'), result('42')) },
    ];
    const found = await inspectSet(jsonl('sft.jsonl', rows), { tokens: await openTokenMeter('nano', 'nano', () => undefined) });
    expect(found.kind).toBe('conversations');
    expect(found.tools).toMatchObject({
      conversations: 5,
      calls: { total: 5, succeeded: 3, failed: 1, unanswered: 1 },
      callsByName: [{ name: 'code_interpreter', count: 5 }],
      withCalls: 4,
      withFailure: 1,
      withRecovery: 1,
      withAnswer: 4,
      withTools: 0,
    });
    expect(found.counts.tags).toEqual(['analysis', 'checking', 'recovery'].map((name) => ({ name, count: 1 })));
    expect(found.broken).toMatchObject({ count: 1 });
    expect(found.duplicates.first[0]!.firstRow).toBe(1);
    const whole = found.lengths.find(({ name }) => name === 'whole conversation')!;
    const trained = found.lengths.find(({ name }) => name === 'trained on')!;
    expect(whole.max).toBeGreaterThan(trained.max);
    expect(inspectionText(found)).toContain('and one that succeeded after it');
    expect(inspectionPage(found)).toContain('Calls per conversation');
  });
});

describe('other files', () => {
  it('of a difficulty profile have their histogram', async () => {
    const row = (correct: number) => ({
      id: String(correct),
      accuracy: correct / 4,
      correct,
      valid: 4,
      n: 4,
      label: 'hard',
      drop: null,
      fingerprint: 'f',
      settings: 's',
    });
    const found = await inspectSet(jsonl('profile.jsonl', [...[0, 1, 1, 3, 4].map(row), { ...row(2), accuracy: null }]));
    expect(found.kind).toBe('difficulty profile');
    expect(found.difficulty).toEqual({
      levels: [1, 2, 0, 1, 1],
      unlabelled: 1,
      labels: { hard: 2, medium: 0, easy: 1, 'never solved': 1, 'always solved': 1 },
    });
    expect(inspectionText(found)).toContain('1/4');
  });

  it('of no known form have their columns, in Parquet and in CSV', async () => {
    const parquet = folder.write('x.parquet', parquetBytes([{ name: 'width', data: [1, 2, 2], type: 'INT32' }]));
    const csv = folder.write('x.csv', 'width,height\n1,2\n3,4,5\n1,2\n');
    const [one, two] = [await inspectSet(parquet), await inspectSet(csv)];
    expect(one).toMatchObject({
      kind: 'table',
      rows: 3,
      duplicates: { count: 1, compared: 'row' },
      columns: [{ name: 'width', type: 'integer' }],
    });
    expect(two).toMatchObject({ kind: 'table', rows: 3, broken: { count: 1 }, duplicates: { count: 1 } });
    expect(one.notes).toEqual(['It is in no known form: only its columns are described.']);
  });

  it('without rows say so', async () => {
    const found = await inspectSet(folder.write('empty.jsonl', '\n'));
    expect(found).toMatchObject({ rows: 0, notes: ['It has no rows.'] });
    expect(inspectionText(found)).toContain('0 rows');
  });

  it('that are not there or no data are refused by a sentence', async () => {
    await expect(inspectSet(`${folder.path}/none.jsonl`)).rejects.toThrow(UserError);
    await expect(inspectSet(folder.write('x.bin', 'GIF89a'))).rejects.toThrow(UserError);
  });
});

describe('hostile rows', () => {
  it('are counted as broken, shown escaped, and end nothing', async () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    const hostile = '<script>alert(1)</script>\u001b[31m\u202e';
    const file = jsonl('hostile.jsonl', [
      { question: hostile, answer: '1', [hostile]: hostile },
      `{"question": ${nested(100_000)}}`,
      `{"question": "x", "extra": ${nested(150)}}`,
      { question: 'a'.repeat(100_000), answer: '1' },
    ]);
    const found = await inspectSet(file);
    expect(found.rows).toBe(4);
    expect(found.broken.first.map(({ error }) => error)).toEqual([expect.stringMatching(/^nested/), 'nested more than 100 deep']);
    const page = inspectionPage(found);
    expect(page).not.toContain('<script>');
    expect(page).toContain('&lt;script&gt;');
    expect(inspectionText(found)).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u);
    expect(inspectionText(found).length).toBeLessThan(20_000);
  });
});
