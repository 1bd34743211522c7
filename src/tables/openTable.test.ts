import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { allRows, openTable, readTable } from './openTable.js';
import { parquetBytes, temporaryFolder } from './testSupport.js';

const folder = temporaryFolder();

const rows = [
  { question: 'A, "quoted"?', answer: '1' },
  { question: 'B\nover two lines?', answer: '2' },
  { question: 'Ü?', answer: '3' },
];
const csv = 'question,answer\r\n"A, ""quoted""?",1\r\n"B\nover two lines?",2\r\nÜ?,3\r\n';
const lines = rows.map((row) => JSON.stringify(row)).join('\n');

describe('a table', () => {
  it.each([
    ['t.jsonl', lines],
    ['t.ndjson', `\uFEFF${lines.replaceAll('\n', '\r\n\r\n')}\n`],
    ['t.json', JSON.stringify(rows, null, 2)],
    ['lines.json', lines],
    ['unnamed', JSON.stringify(rows)],
    ['t.csv', csv],
    ['bom.csv', `\uFEFF${csv}\n\n`],
    ['t.tsv', 'question\tanswer\n"A, ""quoted""?"\t1\n"B\nover two lines?"\t2\nÜ?\t3\n'],
    ['t.jsonl.gz', gzipSync(lines)],
    ['t.csv.gz', gzipSync(csv)],
    ['packed', gzipSync(JSON.stringify(rows))],
    ['t.parquet', () => parquetBytes([column('question'), column('answer')])],
    ['without-ending', () => parquetBytes([column('question'), column('answer')])],
  ])('has the same rows whatever it is written as: %s', async (name, content) => {
    const file = folder.write(name, typeof content === 'function' ? content() : content);
    const table = await openTable(file);
    expect(table.columns).toEqual(['question', 'answer']);
    expect((await allRows(table)).map(({ values }) => values)).toEqual(rows);
  });

  it('knows where a row stands', async () => {
    const jsonl = folder.write('where.jsonl', `\n${lines}\n`);
    expect((await readTable(jsonl)).map(({ where }) => where)).toEqual([`${jsonl}:2`, `${jsonl}:3`, `${jsonl}:4`]);
    const table = folder.write('where.csv', csv);
    expect((await readTable(table)).map(({ where, number }) => [where, number])).toEqual(
      [1, 2, 3].map((number) => [`${table}: row ${number}`, number]),
    );
  });

  it.each([
    ['bad.jsonl', '{oops\n{"a": 1}\n[2]\n{"a": 3}\n', ['bad.jsonl:1: not valid JSON', 'bad.jsonl:3: not a JSON object']],
    ['bad.json', '["x", {"a": 1}, null, {"a": 3}]', ['bad.json: row 1: not a JSON object', 'bad.json: row 3: not a JSON object']],
    ['bad.csv', 'a\n1\n2,2\n3\n', ['bad.csv: row 2: 2 fields where the header names 1 columns']],
  ])('tells of rows that cannot be read and goes on, where somebody listens: %s', async (name, content, told) => {
    const table = await openTable(folder.write(name, content));
    expect(table.columns).toEqual(['a']);
    const bad: string[] = [];
    const rows = await allRows(table, { onBad: ({ where, error }) => bad.push(`${where}: ${error}`) });
    expect(rows.map(({ values }) => Number(values.a))).toEqual([1, 3]);
    expect(bad).toHaveLength(told.length);
    told.forEach((text, i) => {
      expect(bad[i]).toContain(text);
    });
    await expect(allRows(table)).rejects.toThrow(told[0]!);
  });

  it('gives batches, a limit of rows, and chosen columns', async () => {
    const many = Array.from({ length: 10 }, (_, i) => ({ i: String(i), other: 'x' }));
    for (const file of [
      folder.write('many.jsonl', many.map((row) => JSON.stringify(row)).join('\n')),
      folder.write('many.csv', ['i,other', ...many.map(({ i }) => `${i},x`)].join('\n')),
      folder.write('many.json', JSON.stringify(many)),
      folder.write(
        'many.parquet',
        parquetBytes(
          [
            { name: 'i', data: many.map(({ i }) => i) },
            { name: 'other', data: many.map(() => 'x') },
          ],
          { rowGroupSize: 4 },
        ),
      ),
    ]) {
      const table = await openTable(file);
      const sizes: number[] = [];
      const seen: unknown[] = [];
      for await (const batch of table.batches({ batchRows: 3, limit: 7, columns: ['i'] })) {
        sizes.push(batch.length);
        seen.push(...batch.map(({ values }) => values));
      }
      expect(sizes).toEqual([3, 3, 1]);
      expect(seen).toEqual(many.slice(0, 7).map(({ i }) => ({ i })));
    }
  });

  it('stops when its signal is aborted', async () => {
    const file = folder.write('abort.jsonl', lines);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(readTable(file, { signal })).rejects.toThrow('enough');
  });

  it('says which column is missing and which are there', async () => {
    const file = folder.write('columns.csv', csv);
    await expect(readTable(file, { columns: ['problem', 'answer'] })).rejects.toThrow(
      /columns\.csv has no column "problem"; it has: question, answer$/,
    );
  });

  it.each([
    ['bad.jsonl', '{"a": 1}\n{"a": ', /bad\.jsonl:2: not valid JSON/],
    ['bad2.jsonl', '{"a": 1}\n[1]', /bad2\.jsonl:2: not a JSON object/],
    ['bad.json', '[{"a": 1}, 2]', /bad\.json: row 2: not a JSON object/],
    ['bad2.json', '[{"a": 1}', /bad2\.json: not valid JSON/],
    ['deep.jsonl', `{"a": ${'['.repeat(5000)}${']'.repeat(5000)}}`, /deep\.jsonl:1: nested deeper than 256/],
    ['deep.json', `[{"a": ${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}]`, /deep\.json: row 1: nested deeper than 256/],
    ['bad.csv', 'a,b\n1,2\n3\n', /bad\.csv: row 2: 1 fields where the header names 2 columns/],
    ['quote.csv', 'a,b\n1,"2\n', /quote\.csv:\d+: not valid CSV/],
    ['twice.csv', 'a,a\n1,2\n', /two columns named "a"/],
    ['empty.csv', '', /is empty/],
    ['noise.bin', 'noise', /neither Parquet, JSON Lines, JSON nor CSV/],
    ['cut.jsonl.gz', gzipSync(lines).subarray(0, 40), /is damaged: gzip/],
  ])('that is broken is one sentence: %s', async (name, content, message) => {
    const read = readTable(folder.write(name, content));
    await expect(read).rejects.toThrow(UserError);
    await expect(read).rejects.toThrow(message);
  });

  it('that is no file is said to be none', async () => {
    await expect(openTable(`${folder.path}/none.jsonl`)).rejects.toThrow(/none\.jsonl cannot be read: there is no such file/);
    await expect(openTable(folder.path)).rejects.toThrow(/it is a folder/);
  });

  it('cannot take all memory by one line, one record or by unfolding', async () => {
    const limits = { textBytes: 1000, unpackedBytes: 5000 };
    const long = `{"a": "${'x'.repeat(2000)}"}`;
    await expect(readTable(folder.write('long.jsonl', `{"a": 1}\n${long}`), { limits })).rejects.toThrow(
      /long\.jsonl:2: the line is longer/,
    );
    await expect(readTable(folder.write('long.json', `[${long}]`), { limits })).rejects.toThrow(/too large to be read in one piece/);
    await expect(readTable(folder.write('long.csv', `a\n"${'x'.repeat(2000)}"`), { limits })).rejects.toThrow(/not valid CSV/);
    const bomb = gzipSync('{"a": 1}\n'.repeat(10_000));
    await expect(readTable(folder.write('bomb.jsonl.gz', bomb), { limits })).rejects.toThrow(/looks like a decompression bomb/);
  });
});

function column(name: 'question' | 'answer'): { name: string; data: string[] } {
  return { name, data: rows.map((row) => row[name]) };
}
