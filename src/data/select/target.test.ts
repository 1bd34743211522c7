import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bucketsOf, parseTarget, readTarget } from './target.js';

const folder = mkdtempSync(join(tmpdir(), 'target-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const shares = (of: ReturnType<typeof bucketsOf>): Record<string, number> =>
  Object.fromEntries(of.buckets.map(({ name, share }) => [name, Number(share.toFixed(4))]));

describe('a target', () => {
  it('is a word or shares of labels, which need not add up to 1', () => {
    expect(parseTarget('uniform')).toEqual({ kind: 'uniform' });
    expect(parseTarget('easy=2, hard=6')).toEqual({ kind: 'labels', shares: { easy: 2, medium: 0, hard: 6 } });
    expect(shares(bucketsOf(parseTarget('easy=2,hard=6')!, 8))).toEqual({ easy: 0.25, medium: 0, hard: 0.75 });
    expect(parseTarget('profile.parquet')).toBeUndefined();
  });

  it.each(['easy=', 'easy=-1', 'easy=x', 'simple=1', 'easy=1,easy=2', 'easy=1=2', 'easy=0,hard=0'])('refuses the shares %s', (text) => {
    expect(() => parseTarget(text)).toThrow(/target/);
  });

  it('reads a histogram file by bars or by labels', async () => {
    const bars = await readTarget(file('bars.json', '{"1/4": 1, "0.5": 3}'));
    expect(shares(bucketsOf(bars, 8))).toEqual({ '1/8': 0, '2/8': 0.25, '3/8': 0, '4/8': 0.75, '5/8': 0, '6/8': 0, '7/8': 0 });
    expect(await readTarget(file('labels.json', '{"medium": 1}'))).toEqual({ kind: 'labels', shares: { easy: 0, medium: 1, hard: 0 } });
  });

  it("takes another model's profile, whose certain problems weigh only where they are kept", async () => {
    const rows = [0, 0, 0.25, 0.5, 0.5, 1, null].map((accuracy) => JSON.stringify({ id: 'x', accuracy })).join('\n');
    const target = await readTarget(file('profile.jsonl', rows));
    const dropped = bucketsOf(target, 4);
    expect(shares(dropped)).toEqual({ '1/4': 0.3333, '2/4': 0.6667, '3/4': 0 });
    expect(dropped.leftOut).toBeCloseTo(0.5);
    expect(shares(bucketsOf(target, 4, { keepUnsolved: true }))).toEqual({ '0/4': 0.4, '1/4': 0.2, '2/4': 0.4, '3/4': 0 });
  });

  it.each([
    ['none.json', undefined, 'no such file'],
    ['broken.json', '{', 'no JSON'],
    ['text.json', '{"1/8": "many"}', 'a number of at least 0'],
    ['key.json', '{"nine": 1}', 'neither a label nor an accuracy'],
    ['high.json', '{"9/8": 1}', 'neither a label nor an accuracy'],
    ['zero.json', '{"1/8": 0}', 'no weight above 0'],
    ['other.jsonl', '{"question": "?"}', 'no column "accuracy"'],
    ['wrong.jsonl', '{"accuracy": 2}', 'not a number from 0 to 1'],
    ['empty.jsonl', '{"accuracy": null}', 'no labelled problem'],
  ])('refuses %s', async (name, text, message) => {
    const path = text === undefined ? join(folder, name) : file(name, text);
    await expect(readTarget(path)).rejects.toThrow(message);
  });

  it('of nothing but certain problems is refused where they are left out', () => {
    const target = { kind: 'histogram', name: 'p', weights: [{ accuracy: 1, weight: 3 }] } as const;
    expect(() => bucketsOf(target, 8)).toThrow('always or never solved');
    expect(shares(bucketsOf(target, 2, { keepSolved: true }))).toEqual({ '1/2': 0, '2/2': 1 });
  });
});
