import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardCommand, publicText, type WrittenCard, writeCard } from './card.js';
import { licenceOf } from './licences.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwise-card-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KEY = `sk-proj-${'a1B2c3D4'.repeat(5)}`;

describe('a card', () => {
  it('stands beside the set, for people and for programs, and says the same in both', async () => {
    const set = join(folder, 'mix.jsonl');
    writeFileSync(set, '{"question": "1+1?", "answer": "2"}\n');
    const file = await writeCard(
      set,
      {
        title: 'A mix',
        sources: [
          { name: join(homedir(), 'sets', 'dapo-math-17k.parquet'), rows: 17000, kept: 1200, hash: 'sha256:ab' },
          { name: 'hf:somebody/something/train.jsonl@0123456789ab', rows: 10, kept: 10 },
          { name: 'own.jsonl', rows: 3, kept: 3, licence: 'CC0-1.0' },
        ],
        filters: [{ name: 'near-duplicates', removed: 12, detail: 'similarity of 0.5 | numbers <kept> apart' }],
        counts: { rows: 1213, 'kind: math': 1213 },
        seed: 7,
        notes: [`made with ${KEY} by ann@firma.de in ${join(homedir(), 'secret', 'place')}`],
      },
      ['/usr/bin/node', '/opt/toolwise', 'data', 'mix', '--api-key', KEY, '/home/ann lee/x y.jsonl', '--out', '../mix.jsonl'],
    );
    expect(file).toBe(`${set}.card.md`);
    const text = readFileSync(file, 'utf8');
    const json = JSON.parse(readFileSync(`${set}.card.json`, 'utf8')) as WrittenCard;
    const hash = createHash('sha256').update(readFileSync(set)).digest('hex');
    expect(json.set).toEqual({ file: 'mix.jsonl', bytes: 36, sha256: hash });
    expect(json.sources.map(({ name, licence }) => [name, licence])).toEqual([
      ['dapo-math-17k.parquet', 'Apache-2.0'],
      ['hf:somebody/something/train.jsonl@0123456789ab', 'not known'],
      ['own.jsonl', 'CC0-1.0'],
    ]);
    expect(json.command).toBe("npx toolwise data mix --api-key 'sk-***' 'x y.jsonl' --out mix.jsonl");
    expect(Number.isNaN(Date.parse(json.date))).toBe(false);
    expect(json.versions).toMatchObject({ node: process.version });
    for (const part of ['# A mix', hash, '| dapo-math-17k.parquet | 17,000 | 1,200 | Apache-2.0 | sha256:ab |', 'seed 7', json.command])
      expect(text).toContain(part);
    expect(text).toContain('| near-duplicates | 12 | similarity of 0.5 \\| numbers &lt;kept&gt; apart |');
    for (const secret of [KEY, 'ann@', homedir(), '/home', 'secret']) {
      expect(text).not.toContain(secret);
      expect(JSON.stringify(json)).not.toContain(secret);
    }
    expect(readdirSync(folder).sort()).toEqual(['mix.jsonl', 'mix.jsonl.card.json', 'mix.jsonl.card.md']);
  });

  it('of a set without filters says that nothing was left out', async () => {
    const set = join(folder, 'plain.parquet');
    writeFileSync(set, 'x');
    const file = await writeCard(set, { title: 'Plain', sources: [], filters: [], counts: { rows: 0 } });
    expect(readFileSync(file, 'utf8')).toContain('## Left out\n\nNothing.');
  });
});

describe('what a card may show', () => {
  it.each([
    ['/home/ann/data/x.jsonl', 'x.jsonl'],
    ['~/data/x.jsonl', 'x.jsonl'],
    ['../../other/x.jsonl', 'x.jsonl'],
    ['C:\\Users\\Ann\\x.jsonl', 'x.jsonl'],
    ['file:///home/ann/x.jsonl', 'x.jsonl'],
    ['--out=/tmp/y.parquet', '--out=y.parquet'],
    ['read from /var/lib/a/b.csv, and again', 'read from b.csv, and again'],
    ['data/x.jsonl', 'data/x.jsonl'],
    ['./x.jsonl', './x.jsonl'],
    ['hf:owner/name/path@main', 'hf:owner/name/path@main'],
    ['https://user:pass@host/v1#model', 'https://host/v1#model'],
    ['openai:http://127.0.0.1:8000/v1#my-model', 'openai:http://127.0.0.1:8000/v1#my-model'],
    ['runs/demo@sft', 'runs/demo@sft'],
    ['1/2 of 3/4 and a/b', '1/2 of 3/4 and a/b'],
  ])('%s becomes %s', (given, shown) => {
    expect(publicText(given)).toBe(shown);
  });

  it('is a command line that a shell takes as it was', () => {
    expect(cardCommand(['node', 'main', 'data', 'x', "it's", 'a b', '--n=3'])).toBe("npx toolwise data x 'it'\\''s' 'a b' --n=3");
  });
});

describe('licences', () => {
  it.each([
    ['hf:BytedTsinghua-SIA/DAPO-Math-17k/data/dapo-math-17k.parquet', 'Apache-2.0'],
    ['gsm8k/train.jsonl', 'MIT'],
    ['hf:Skywork/Skywork-OR1-RL-Data/data/math.parquet', 'Apache-2.0'],
    ['MegaScience.parquet', 'CC-BY-NC-SA-4.0'],
    ['calc-small', 'generated'],
    ['calculus.jsonl', undefined],
    ['mine.jsonl', undefined],
  ])('of %s: %s', (name, licence) => {
    expect(licenceOf(name)).toBe(licence);
  });
});
