import { appendFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parquetBytes, temporaryFolder } from '../tables/testSupport.js';
import { createTable } from '../tables/writeTable.js';
import { UserError } from '../userError.js';
import { loadProblems } from './load.js';
import { type OpenProblemsOptions, openProblems } from './readProblems.js';

const folder = temporaryFolder();
const COLUMNS = { id: null, question: null, answer: null, kind: null, options: null, tests: null, tags: null };

async function read(file: string, options: OpenProblemsOptions = {}) {
  const bad: string[] = [];
  const opened = await openProblems(file, { onBad: ({ where, error }) => bad.push(`${where}: ${error}`), ...options });
  const ids: string[] = [];
  for await (const { problem } of opened.rows()) ids.push(problem.id);
  return { ids, bad, opened };
}

describe('problems of a file', () => {
  const lines = [
    '{"question": "A?", "answer": "1"}',
    '{"question": "", "answer": "1"}',
    '{"question": "B?',
    '{"question": "C?", "id": "c"}',
  ];

  it('leave out bad rows, told by file and row, and count them', async () => {
    const file = folder.write('bad.jsonl', lines.join('\n'));
    const { ids, bad, opened } = await read(file);
    expect(ids).toEqual(['bad.jsonl:1', 'c']);
    expect(bad).toEqual([`${file}:2: "question" is not a text or is empty`, expect.stringMatching(/bad\.jsonl:3: not valid JSON/)]);
    expect(opened.bad).toBe(2);
    const again: unknown[] = [];
    for await (const { row } of opened.rows()) again.push(row.number);
    expect([again, opened.bad]).toEqual([[1, 4], 2]);
  });

  it('end at the first bad row where that is asked for', async () => {
    const file = folder.write('strict.jsonl', lines.join('\n'));
    await expect(read(file, { strict: true })).rejects.toThrow(/strict\.jsonl:2: "question" is not a text or is empty/);
    const broken = folder.write('broken.jsonl', [lines[0], lines[2]].join('\n'));
    await expect(read(broken, { strict: true })).rejects.toThrow(/broken\.jsonl:2: not valid JSON/);
  });

  it('get ids that are unique', async () => {
    const file = folder.write('ids.jsonl', [1, 2, 1, 1].map((id) => JSON.stringify({ id, question: 'Q?' })).join('\n'));
    const { ids, opened } = await read(file);
    expect(ids).toEqual(['1', '2', '1#2', '1#3']);
    expect(opened.renamed).toBe(2);
    await expect(loadProblems(file, { split: 'train', seed: 1 })).rejects.toThrow(/ids\.jsonl:3: the id "1" stands in line 1 already/);
  });

  it('are of the schema that is named, however they look', async () => {
    const file = folder.write('named.jsonl', '{"question": "Q?", "answer": "It is so.\\n#### 5", "more": 1}\n');
    expect((await read(file)).opened.schema.name).toBe('plain');
    expect((await read(file, { schema: 'gsm8k' })).opened.schema.name).toBe('gsm8k');
    expect(await loadProblems({ kind: 'file', file, schema: 'gsm8k' }, { split: 'train', seed: 1 })).toMatchObject([
      { answer: '5', solution: 'It is so.\n#### 5' },
    ]);
    await expect(read(file, { schema: 'gsm' })).rejects.toThrow(/there is no schema "gsm"/);
  });

  it('come from any format', async () => {
    const rows = [{ question: 'A?', answer: '1' }];
    for (const file of [
      folder.write('f.json', JSON.stringify(rows)),
      folder.write('f.jsonl.gz', gzipSync(JSON.stringify(rows[0]))),
      folder.write('f.csv', 'question,answer\nA?,1\n'),
      folder.write(
        'f.parquet',
        parquetBytes([
          { name: 'question', data: ['A?'] },
          { name: 'answer', data: ['1'] },
        ]),
      ),
    ]) {
      expect(await loadProblems({ kind: 'file', file }, { split: 'train', seed: 1 })).toMatchObject([{ question: 'A?', answer: '1' }]);
    }
  });

  it('of all kinds pass through CSV', async () => {
    const problems = [
      { id: 'm', question: '-1 + 1 = ?', answer: '=0', kind: 'math' },
      { id: 'c', question: 'Which?\nA) x\nB) y', answer: 'B', kind: 'choice', options: ['x', 'y'], tags: { level: 2 } },
      { id: 'p', question: 'Add.', kind: 'code', tests: { inputs: ['1'], outputs: ['1'] } },
    ];
    const file = `${folder.path}/kinds.csv`;
    const table = await createTable(file);
    for (const problem of problems) await table.write({ ...COLUMNS, ...problem });
    await table.close();
    const read = await loadProblems({ kind: 'file', file }, { split: 'train', seed: 1 });
    expect(read).toMatchObject(problems.map(({ tests, ...rest }) => ({ ...rest, ...(tests && { tests: JSON.stringify(tests) }) })));
    expect(read[2]).not.toHaveProperty('answer');
  });

  it('stop at the limit, and when the signal is aborted', async () => {
    const file = folder.write('many.jsonl', Array.from({ length: 50 }, (_, i) => `{"question": "${i}?"}`).join('\n'));
    expect((await read(file, { limit: 7 })).ids).toHaveLength(7);
    await expect(read(file, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });

  it('of a file in no known form, an empty or a damaged one are one sentence', async () => {
    const refused = async (file: string, message: RegExp): Promise<void> => {
      await expect(read(file)).rejects.toThrow(UserError);
      await expect(read(file)).rejects.toThrow(message);
    };
    await refused(folder.write('other.csv', 'a,b\n1,2\n'), /other\.csv is in no known form: it has the columns a, b/);
    await refused(folder.write('empty.jsonl', ''), /empty\.jsonl has no rows/);
    const whole = parquetBytes([{ name: 'question', data: Array.from({ length: 100 }, (_, i) => `${i}?`) }], { rowGroupSize: 10 });
    await refused(folder.write('cut.parquet', whole.subarray(0, whole.length - 9)), /cut\.parquet is damaged/);
    const bomb = parquetBytes([{ name: 'question', data: ['x'.repeat(5_000_000)] }], {
      codec: 'GZIP',
      compressors: { GZIP: (bytes) => new Uint8Array(gzipSync(bytes)) },
    });
    const file = folder.write('bomb.parquet', bomb);
    await expect(read(file, { limits: { groupBytes: 1_000_000 } })).rejects.toThrow(/bomb\.parquet is too large/);
    const growing = folder.write('growing.jsonl', '{"question": "A?"}\n');
    const opened = await openProblems(growing);
    appendFileSync(growing, `${'['.repeat(100_000)}\n`);
    const rows: unknown[] = [];
    for await (const { problem } of opened.rows()) rows.push(problem);
    expect([rows.length, opened.bad]).toEqual([1, 1]);
  });
});
