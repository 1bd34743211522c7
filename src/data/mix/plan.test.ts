import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseHubSource } from '../../tables/hub.js';
import { parseSource, readPlan, resolvePlan } from './plan.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwise-plan-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plan = (text: string) => {
  const file = join(folder, 'plan.yaml');
  writeFileSync(file, text);
  return readPlan(file);
};

describe('a plan', () => {
  it('has defaults for all but its sources', () => {
    expect(resolvePlan({ sources: [{ file: 'a.parquet' }] })).toEqual({
      title: 'Mixed set',
      sources: [{ file: 'a.parquet' }],
      seed: 1,
      against: [],
      duplicates: 'near',
      contamination: { run: 8, share: 0.7, templates: 'keep' },
      shuffle: true,
    });
  });

  it('names file and line of every mistake', () => {
    expect(() => plan('sources:\n  - file: a.parquet\n    count: 0\n    sead: 3\nduplicates: some\n')).toThrow(
      /plan\.yaml:3: sources\.0\.count[\s\S]*plan\.yaml:\d: sources\.0[\s\S]*sead[\s\S]*plan\.yaml:5: duplicates/,
    );
    expect(() => plan('sources: []\n')).toThrow('sources');
    expect(() => plan('sources: [\n')).toThrow('not valid YAML');
  });

  it('takes one text or a list where both make sense', () => {
    const { sources } = plan('sources:\n  - file: a\n    where: { kind: code, source: train-* }\n');
    expect(sources[0]!.where).toEqual({ kind: ['code'], source: ['train-*'] });
  });

  it('refuses two sources of one name', () => {
    expect(() => resolvePlan({ sources: [{ file: 'a' }, { file: 'a' }] })).toThrow('two sources are called "a"');
    expect(resolvePlan({ sources: [{ file: 'a' }, { file: 'a', name: 'again' }] }).sources).toHaveLength(2);
  });

  it('of the paper is packaged and has its counts', () => {
    const paper = readPlan(new URL('../../../recipes/data/paper-rl.yaml', import.meta.url).pathname);
    expect(paper.sources.map(({ count }) => count)).toEqual([17_000, 4902, 3586, 3000]);
    expect(paper.sources.map(({ file }) => parseHubSource(file).path.endsWith('.parquet'))).toEqual([true, true, true, true]);
  });
});

describe('a source on the command line', () => {
  it.each([
    ['set.parquet', { file: 'set.parquet' }],
    ['set.parquet:100', { file: 'set.parquet', count: 100 }],
    ['hf:owner/name/data/x.parquet@main:17000', { file: 'hf:owner/name/data/x.parquet@main', count: 17_000 }],
    ['hf:owner/name', { file: 'hf:owner/name' }],
    ['C:\\sets\\a.parquet', { file: 'C:\\sets\\a.parquet' }],
  ])('%s', (text, source) => expect(parseSource(text)).toEqual(source));

  it('has a count of at least one', () => {
    expect(() => parseSource('a.jsonl:0')).toThrow('at least 1');
    expect(() => parseSource('')).toThrow('needs a file');
  });
});
