import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { madeProblem, textOf } from '../../bench/madeProblems.js';
import type { WrittenCard } from '../../data/card.js';
import type { MixReport } from '../../data/mix/mix.js';
import { readTable } from '../../tables/openTable.js';
import { register } from './mix.js';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwise-mix-cli-'));
  const rows = Array.from({ length: 20 }, (_, i) => ({ id: `m${i}`, question: textOf(madeProblem(31, i)), answer: '1' }));
  const lines = (list: readonly object[]): string => list.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(at('a.jsonl'), lines([...rows, rows[0]!, { id: 'bad' }]));
  writeFileSync(at('eval.jsonl'), lines(rows.slice(5, 7)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What it printed. */
async function run(...args: string[]): Promise<string> {
  const printed: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));
  const errors = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  try {
    const data = new Command('data').exitOverride();
    register(data);
    await data.parseAsync(['mix', ...args], { from: 'user' });
  } finally {
    log.mockRestore();
    errors.mockRestore();
  }
  return printed.join('\n');
}

describe('toolwise data mix', () => {
  it('writes the set and its card, and prints what became of the rows', async () => {
    const text = await run('--source', `${at('a.jsonl')}:10`, '--against', at('eval.jsonl'), '--out', at('set.jsonl'), '--schema', 'plain');
    expect(await readTable(at('set.jsonl'))).toHaveLength(10);
    expect(text).toContain('2 rows were left out');
    expect(text).toContain('An evaluation problem, word by word (left out)');
    expect(text).toContain('similarity to the nearest');
    const card = JSON.parse(readFileSync(at('set.jsonl.card.json'), 'utf8')) as WrittenCard;
    expect(card.sources).toMatchObject([{ name: 'a.jsonl', rows: 21, kept: 10, hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) }]);
    expect(Object.fromEntries(card.filters.map(({ name, removed }) => [name, removed]))).toMatchObject({
      'bad rows': 1,
      'problems of evaluation sets': 2,
      copies: 1,
      'not drawn': 8,
    });
    expect(readFileSync(at('set.jsonl.card.md'), 'utf8')).not.toContain(folder);
  });

  it('takes a plan, options before its keys, and prints JSON and every pair where asked', async () => {
    writeFileSync(at('plan.yaml'), `title: Ours\nseed: 4\nsources:\n  - file: ${at('a.jsonl')}\n    name: pool\n`);
    const json = await run(
      at('plan.yaml'),
      '--out',
      at('json.parquet'),
      '--duplicates',
      'exact',
      '--pairs',
      at('pairs.jsonl'),
      '--compare',
      at('eval.jsonl'),
      '--json',
    );
    const report = JSON.parse(json) as MixReport & { card: string };
    expect(report).toMatchObject({ rows: 20, seed: 4, schema: 'open-agentrl-rl', diversity: { compared: { rows: 2 } } });
    expect(existsSync(report.card)).toBe(true);
    expect((await readTable(at('pairs.jsonl'))).map(({ values }) => values.why)).toEqual(['exact']);
    const again = JSON.parse(await run(at('plan.yaml'), '--out', at('json2.parquet'), '--seed', '1', '--json')) as MixReport;
    expect(again.seed).toBe(1);
  });

  it('refuses what makes no sense, before it reads anything', async () => {
    const out = ['--out', at('never.jsonl')];
    await expect(run(...out)).rejects.toThrow('needs a plan, or --source');
    await expect(run('plan.yaml', '--source', 'a', ...out)).rejects.toThrow('needs a plan, or --source');
    await expect(run('--source', 'a', '--duplicates', 'some', ...out)).rejects.toThrow('expected near, exact or keep');
    await expect(run('--source', 'a', '--tokenizer', 'nano', ...out)).rejects.toThrow('go together');
    await expect(run('--source', 'a', '--max-prompt-tokens', '0', '--tokenizer', 'nano', ...out)).rejects.toThrow('--max-prompt-tokens');
    await expect(run('--source', at('absent.jsonl'), ...out)).rejects.toThrow('absent.jsonl');
    await expect(run('--source', at('a.jsonl'), '--out', at('a.jsonl'))).rejects.toThrow('there already');
    await expect(run('--source', at('a.jsonl'), '--out', at('a.jsonl'), '--force')).rejects.toThrow('is a source');
    expect(existsSync(at('never.jsonl'))).toBe(false);
  });
});
