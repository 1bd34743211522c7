import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetMetadata } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { Random } from '../random.js';
import { UserError } from '../userError.js';
import { openTable, readTable } from './openTable.js';
import { duckDb, temporaryFolder } from './testSupport.js';
import { type CreateOptions, createTable } from './writeTable.js';

const folder = temporaryFolder();
const duck = duckDb();

type Row = Readonly<Record<string, unknown>>;

async function written(name: string, rows: Iterable<Row>, options: CreateOptions = {}): Promise<string> {
  const file = join(folder.path, name);
  const writer = await createTable(file, { force: true, ...options });
  for (const row of rows) await writer.write(row);
  await writer.close();
  return file;
}

const valuesOf = async (file: string): Promise<Row[]> => (await readTable(file)).map(({ values }) => values);
const exactOf = async (file: string): Promise<Row[]> => (await readTable(file)).map(({ values, exact }) => exact ?? values);
const parquetRows = (file: string): string => `read_parquet('${file}')`;

/** Everything that the data sets of the field hold, and its edges. */
const rows: readonly Row[] = [
  {
    id: 1,
    long: 9223372036854775807n,
    prompt: [
      { role: 'system', content: 'é 数 🎲 \u0000 \uFEFF' },
      { role: 'user', content: null },
    ],
    reward: { truth: '{"inputs": ["1\\n"],  "big": 12345678901234567890}', style: '' },
    tags: ['a', null, ''],
    score: 0.1,
    right: true,
  },
  {
    id: -9007199254740991,
    long: -9223372036854775808n,
    prompt: [],
    reward: { truth: null, style: 'rule' },
    tags: [],
    score: -0.5,
    right: false,
  },
  { id: null, long: null, prompt: null, reward: null, tags: null, score: null, right: null },
  {
    id: 4,
    long: 0,
    prompt: [{ role: '', content: 'x' }],
    reward: { truth: '\uFEFF', style: '\n' },
    tags: ['\r\n'],
    score: 1e300,
    right: null,
  },
];

describe('a table that was written', () => {
  it.each(['t.parquet', 't.jsonl', 't.json', 't.jsonl.gz', 't.json.gz'])(
    'holds the rows unchanged, long integers too: %s',
    async (name) => {
      expect(await exactOf(await written(name, rows))).toEqual(rows);
    },
  );

  it('is read by DuckDB as it was meant: lists of structs, structs, lists, integers', async () => {
    const file = await written('duck.parquet', rows);
    const types = await duck.query(`DESCRIBE SELECT * FROM ${parquetRows(file)}`);
    expect(types.map(({ column_name: name, column_type: type }) => [name, type])).toEqual([
      ['id', 'BIGINT'],
      ['long', 'BIGINT'],
      ['prompt', 'STRUCT("role" VARCHAR, "content" VARCHAR)[]'],
      ['reward', 'STRUCT(truth VARCHAR, style VARCHAR)'],
      ['tags', 'VARCHAR[]'],
      ['score', 'DOUBLE'],
      ['right', 'BOOLEAN'],
    ]);
    const text = (value: unknown): unknown => (value === null ? null : String(value));
    // DuckDB's own texts lose a byte order mark on the way into JavaScript.
    const withoutMark = (row: Row): Row => JSON.parse(JSON.stringify(row).replaceAll('"\uFEFF', '"'));
    expect(await duck.query(`SELECT * FROM ${parquetRows(file)}`)).toEqual(
      rows.map((row) => withoutMark({ ...row, id: text(row.id), long: text(row.long) })),
    );
    expect(await duck.query(`SELECT hex(reward.truth) AS mark FROM ${parquetRows(file)} WHERE id = 4`)).toEqual([{ mark: 'EFBBBF' }]);
  });

  it.each(['snappy', 'gzip', 'none'] as const)('may be packed by %s, in row groups of bounded rows and bytes', async (codec) => {
    const many = Array.from({ length: 2500 }, (_, i) => ({ i, text: `row ${i} `.repeat(1 + (i % 9)), list: [i, i + 1] }));
    const file = await written('many.parquet', many, { codec, rowGroupRows: 1000 });
    expect(groupsOf(file)).toEqual([1000, 1000, 500]);
    expect(await valuesOf(file)).toEqual(many);
    const [counted] = await duck.query(
      `SELECT count(*) AS n, sum(i) AS i, sum(len(text)) AS t, sum(list[2]) AS l FROM ${parquetRows(file)}`,
    );
    const sum = (of: (row: (typeof many)[number]) => number): string => String(many.reduce((total, row) => total + of(row), 0));
    expect(counted).toEqual({ n: '2500', i: sum(({ i }) => i), t: sum(({ text }) => text.length), l: sum(({ i }) => i + 1) });
    const large = await written(
      'large.parquet',
      [1, 2, 3, 4, 5].map((i) => ({ text: String(i).repeat(7_000_000) })),
      { codec },
    );
    expect(groupsOf(large)).toEqual([3, 2]);
    expect((await valuesOf(large)).map(({ text }) => (text as string).length)).toEqual([1, 2, 3, 4, 5].map(() => 7_000_000));
  });

  it('finds its columns over all rows, however late a value shows them', async () => {
    const late = [...Array.from({ length: 30 }, () => ({ a: null, b: 1, c: [] })), { a: { x: 'y' }, b: 1.5, c: [[2]], d: 'new' }];
    const file = await written('late.parquet', late, { rowGroupRows: 4 });
    const read = await valuesOf(file);
    expect(read[0]).toEqual({ a: null, b: 1, c: [], d: null });
    expect(read.at(-1)).toEqual(late.at(-1));
    expect(read).toHaveLength(31);
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.part') || name.endsWith('.rows'))).toEqual([]);
  });

  it('keeps as JSON text what has no shape of its own', async () => {
    const mixed = [
      { a: 'text', b: {}, c: [1, 'x'], d: Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`key ${i}`, i])), e: 2n ** 80n },
      { a: { x: 1 }, b: {}, c: [], d: {}, e: 1 },
    ];
    const file = await written('mixed.parquet', mixed);
    expect(await valuesOf(file)).toEqual([
      { ...mixed[0], e: String(2n ** 80n) },
      { ...mixed[1], e: '1' },
    ]);
    expect((await duck.query(`SELECT c->>1 AS c, e::VARCHAR AS e FROM ${parquetRows(file)}`))[0]).toEqual({
      c: 'x',
      e: '1208925819614629174706176',
    });
  });

  it('takes the columns it is given, and refuses what does not fit them', async () => {
    const schema = { n: 'integer', f: 'number', s: { struct: { t: 'text' } }, j: 'json', l: { list: 'boolean' } } as const;
    const file = await written('given.parquet', [{ n: '9223372036854775807', j: '{"a":  1}' }, {}], { schema });
    expect(await valuesOf(file)).toEqual([
      { n: '9223372036854775807', f: null, s: null, j: '{"a":  1}', l: null },
      { n: null, f: null, s: null, j: null, l: null },
    ]);
    const cases: [Row, RegExp][] = [
      [{ n: 1.5 }, /row 1 for .*given\.parquet: its n is the number 1\.5, not an integer of 64 bits/],
      [{ n: 'x' }, /its n is the text "x", not an integer/],
      [{ f: 'x' }, /its f is the text "x", not a number/],
      [{ s: 'x' }, /its s is the text "x", not a struct/],
      [{ s: { t: 't', u: 1 } }, /its s has "u", for which there is no column/],
      [{ l: true }, /its l is true, not a list/],
      [{ l: [1] }, /its l\.list\.element is the number 1, not true or false/],
      [{ z: 1 }, /it has "z", for which there is no column/],
      [{ s: { t: 'half \uD800' } }, /its s\.t holds half of a surrogate pair/],
    ];
    for (const [row, message] of cases) {
      const refused = written('given.parquet', [row], { schema });
      await expect(refused).rejects.toThrow(UserError);
      await expect(refused).rejects.toThrow(message);
    }
    expect(readdirSync(folder.path).filter((name) => name.includes('.part'))).toEqual([]);
    expect(await valuesOf(file)).toHaveLength(2);
  });
});

const groupsOf = (file: string): number[] => {
  const bytes = readFileSync(file);
  return parquetMetadata(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)).row_groups.map(({ num_rows: rows }) =>
    Number(rows),
  );
};

/** Rows of every type that DuckDB writes, nulls and extremes among them. */
const ALL_TYPES = `
  SELECT * FROM (VALUES
    (9223372036854775807::BIGINT, 18446744073709551615::UBIGINT, 1::INTEGER, 255::UTINYINT, 0.1::DOUBLE, 0.5::FLOAT, true, 'é 🎲', '\\xFF\\x00a'::BLOB,
     '{"a":  [1, 12345678901234567890]}'::JSON, DATE '1969-12-31', TIMESTAMP '2025-02-01 00:00:00.123456', TIMESTAMP_NS '1969-12-31 23:59:59.000000001',
     UUID '0123abcd-0000-4000-8000-00000000ffff', 12345.67::DECIMAL(9,2), [{'role': 'user', 'content': 'Q', 'calls': [{'n': 1::BIGINT}, NULL]}],
     {'inputs': ['1', NULL], 'deep': {'x': NULL::BIGINT}}, MAP {'k': 1::BIGINT, 'é': NULL}, [[1::BIGINT], [], NULL]),
    (NULL, 0, NULL, NULL, 'NaN', NULL, NULL, '', ''::BLOB, '"text"'::JSON, NULL, NULL, NULL, NULL, NULL, [], NULL, MAP {}, []),
    (-9223372036854775808, NULL, -2147483648, 0, '-Infinity', -1.5, false, NULL, NULL, 'null'::JSON, DATE '9999-01-01', TIMESTAMP '1900-01-01 00:00:00.000001',
     TIMESTAMP_NS '2030-01-01', NULL, -0.01, NULL, {'inputs': NULL, 'deep': NULL}, NULL, NULL),
    (0, 1, 1, 1, 0, 0, false, 'x', 'x'::BLOB, NULL, DATE '2000-01-01', TIMESTAMP '2000-01-01', TIMESTAMP_NS '2000-01-01', NULL, 0, [NULL, {'role': NULL, 'content': NULL, 'calls': NULL}],
     {'inputs': [], 'deep': {'x': 5}}, MAP {'': 2}, [[2, NULL]])
  ) AS t(long, unsigned, int, tiny, "double", "float", flag, text, bytes, json, day, micros, nanos, uuid, price, messages, tests, map, nested)`;

describe('a table of another program', () => {
  it.each(['zstd', 'snappy', 'gzip', 'brotli', 'uncompressed'])(
    'is read equal, and written back so that DuckDB finds no difference: %s',
    async (codec) => {
      const source = join(folder.path, `${codec}.parquet`);
      await duck.query(`COPY (${ALL_TYPES}) TO '${source}' (FORMAT parquet, COMPRESSION ${codec})`);
      const like = await openTable(source);
      const read = await valuesOf(source);
      expect(read[0]).toMatchObject({
        long: '9223372036854775807',
        unsigned: '18446744073709551615',
        text: 'é 🎲',
        json: '{"a":  [1, 12345678901234567890]}',
        day: '1969-12-31T00:00:00.000Z',
        micros: '2025-02-01T00:00:00.123456Z',
        nanos: '1969-12-31T23:59:59.000000001Z',
        uuid: '0123abcd-0000-4000-8000-00000000ffff',
        price: 12345.67,
        messages: [{ role: 'user', content: 'Q', calls: [{ n: 1 }, null] }],
        tests: { inputs: ['1', null], deep: { x: null } },
        map: { k: 1, é: null },
        nested: [[1], [], null],
      });
      expect(read[2]).toMatchObject({ long: '-9223372036854775808', json: 'null', tests: { inputs: null, deep: null }, map: null });
      expect(read[3]).toMatchObject({ messages: [null, { role: null, content: null, calls: null }], map: { '': 2 }, nested: [[2, null]] });

      const copy = await written(`copy-${codec}.parquet`, read, { like });
      const types = (file: string): Promise<unknown> => duck.query(`DESCRIBE SELECT * FROM ${parquetRows(file)}`);
      expect(await types(copy)).toEqual(await types(source));
      for (const [a, b] of [
        [source, copy],
        [copy, source],
      ] as const) {
        expect(await duck.query(`SELECT * FROM ${parquetRows(a)} EXCEPT ALL SELECT * FROM ${parquetRows(b)}`)).toEqual([]);
      }
      expect(await valuesOf(copy)).toEqual(read);
    },
  );

  it('passes through JSON Lines and back without a change of its values', async () => {
    const sql =
      "SELECT 9007199254740993::BIGINT AS long, [{'role': 'user', 'content': 'é'}] AS prompt, {'truth': '{\"a\":  1}', 'style': NULL::VARCHAR} AS model";
    const source = join(folder.path, 'through.parquet');
    await duck.query(`COPY (${sql}) TO '${source}' (FORMAT parquet)`);
    const lines = await written('through.jsonl', await exactOf(source));
    expect(readFileSync(lines, 'utf8')).toContain('"long":9007199254740993');
    const back = await written('back.parquet', await exactOf(lines), { like: await openTable(source) });
    expect(await duck.query(`SELECT * FROM ${parquetRows(source)} EXCEPT ALL SELECT * FROM ${parquetRows(back)}`)).toEqual([]);
  });

  it('with columns that cannot be kept exactly is refused by name', async () => {
    const source = join(folder.path, 'wide.parquet');
    await duck.query(`COPY (SELECT 1::DECIMAL(38,2) AS wide) TO '${source}' (FORMAT parquet)`);
    const like = await openTable(source);
    await expect(createTable(join(folder.path, 'no.parquet'), { like })).rejects.toThrow(
      /the column wide of .*wide\.parquet has decimals of 38 digits/,
    );
    expect(readdirSync(folder.path).filter((name) => name.startsWith('.no.parquet'))).toEqual([]);
  });

  it('with any nesting of random rows comes back equal', async () => {
    const random = new Random(11);
    for (let round = 0; round < 20; round++) {
      const many = Array.from({ length: 40 }, () => ({ id: random.int(0, 9), a: anyPrompt(random), b: anyStruct(random) }));
      const file = await written('random.parquet', many, { rowGroupRows: 7, schema: RANDOM });
      expect(await valuesOf(file)).toEqual(many);
      const seen = await duck.query(`SELECT a, b FROM ${parquetRows(file)}`);
      expect(seen).toEqual(many.map(({ a, b }) => ({ a, b })));
    }
  });
});

const RANDOM = {
  id: 'integer',
  a: { list: { struct: { role: 'text', parts: { list: { struct: { text: 'text', marks: { list: 'text' } } } } } } },
  b: { struct: { c: { struct: { d: { list: { list: 'text' } } } }, e: 'boolean' } },
} as const;

const maybe = <T>(random: Random, make: () => T): T | null => (random.chance(0.25) ? null : make());
const some = <T>(random: Random, make: () => T): T[] => Array.from({ length: random.int(0, 3) }, make);
const anyText = (random: Random): string => random.pick(['', 'a', 'é', '🎲', ' x ', '{"a": 1}']);
const anyPrompt = (random: Random): unknown =>
  maybe(random, () =>
    some(random, () =>
      maybe(random, () => ({
        role: maybe(random, () => anyText(random)),
        parts: maybe(random, () =>
          some(random, () =>
            maybe(random, () => ({
              text: anyText(random),
              marks: maybe(random, () => some(random, () => maybe(random, () => anyText(random)))),
            })),
          ),
        ),
      })),
    ),
  );
const anyStruct = (random: Random): unknown =>
  maybe(random, () => ({
    c: maybe(random, () => ({
      d: maybe(random, () => some(random, () => maybe(random, () => some(random, () => maybe(random, () => anyText(random)))))),
    })),
    e: maybe(random, () => random.chance(0.5)),
  }));

describe('CSV', () => {
  const cells = [
    '=1+1',
    '+cmd',
    '-x',
    '@SUM(A1)',
    '\ttab',
    '\rreturn',
    "'=1",
    "''-x",
    "'quoted'",
    '-5',
    '+1.5e3',
    '=',
    'a,b',
    'say "x"',
    ' space ',
    'two\nlines',
    'plain',
    '',
  ];

  it.each(['c.csv', 'c.tsv', 'c.csv.gz'])('keeps every text, and no cell is run as a formula: %s', async (name) => {
    const file = await written(
      name,
      cells.map((text, i) => ({ id: String(i), text })),
    );
    expect(await valuesOf(file)).toEqual(cells.map((text, i) => ({ id: String(i), text })));
    if (name !== 'c.csv') return;
    const fields = await duck.query(`SELECT text FROM read_csv('${file}', all_varchar = true, header = true)`);
    for (const { text } of fields) expect(text ?? '').not.toMatch(/^[=+\-@\t\r](?![\d.]+(e\d+)?$)/);
    expect(fields).toHaveLength(cells.length);
  });

  it('with one column and an empty field keeps its rows', async () => {
    expect(await valuesOf(await written('one.csv', [{ a: 'x' }, { a: '' }, { a: 'y' }]))).toEqual([{ a: 'x' }, { a: '' }, { a: 'y' }]);
  });

  it('writes lists and objects as JSON, numbers as they are, and refuses columns that the header has not', async () => {
    expect(await valuesOf(await written('nested.csv', [{ a: [1, { b: 'é' }], n: -5, big: 9007199254740993n, none: null }]))).toEqual([
      { a: '[1,{"b":"é"}]', n: '-5', big: '9007199254740993', none: '' },
    ]);
    await expect(written('late.csv', [{ a: 1 }, { b: 1 }])).rejects.toThrow(/row 2 for .*late\.csv has "b"/);
  });
});

describe('a file that is there', () => {
  it('is not overwritten without force, nor half', async () => {
    const file = folder.write('kept.jsonl', 'mine\n');
    await expect(createTable(file)).rejects.toThrow(/kept\.jsonl is there already/);
    const writer = await createTable(file, { force: true });
    await writer.write({ a: 1 });
    expect(readFileSync(file, 'utf8')).toBe('mine\n');
    await writer.discard();
    await writer.discard();
    expect(readFileSync(file, 'utf8')).toBe('mine\n');
    const whole = await createTable(file, { force: true });
    await whole.write({ a: 1 });
    expect(await whole.close()).toEqual({ rows: 1, bytes: 8 });
    await whole.discard();
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}\n');
  });

  it('is not overwritten when it came while the table was written', async () => {
    const file = join(folder.path, 'race.jsonl');
    const writer = await createTable(file);
    await writer.write({ a: 1 });
    writeFileSync(file, 'theirs');
    await expect(writer.close()).rejects.toThrow(/race\.jsonl is there already/);
    expect(readFileSync(file, 'utf8')).toBe('theirs');
    expect(readdirSync(folder.path).filter((name) => name.includes('race') && name.includes('.part'))).toEqual([]);
  });

  it('must be a file, in a form that its name says', async () => {
    await expect(createTable(folder.path, { force: true })).rejects.toThrow(/is no ordinary file/);
    await expect(createTable(join(folder.path, 'x.xlsx'))).rejects.toThrow(/does not say what to write/);
    expect(existsSync(join(folder.path, 'x.xlsx'))).toBe(false);
    await expect(written('empty.parquet', [])).rejects.toThrow(/no row to find its columns from/);
    expect(await valuesOf(await written('empty.jsonl', []))).toEqual([]);
    expect(await valuesOf(await written('empty.json', []))).toEqual([]);
    expect(await valuesOf(await written('none.parquet', [], { schema: { a: 'text' } }))).toEqual([]);
  });
});
