import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RefreshRecord } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Trainer } from '../engine/trainer.js';
import { loadRecipe } from '../recipe/load.js';
import { Refresher, refreshTarget } from './refresh.js';
import type { RunParts } from './trainingRun.js';
import { loadData } from './trainOptions.js';

const problems: Problem[] = ['a', 'b', 'c', 'd'].map((id) => ({ id, question: id, answer: '1' }));
const recipeWith = async (...set: string[]) => (await loadRecipe('nano', { set })).recipe;
const chosen = (step: number, ...indices: number[]): RefreshRecord => ({
  step,
  selected: indices.map((index) => ({ index, id: problems[index]!.id })),
  metrics: { 'refresh/selected': indices.length },
});

/** A refresher over a record in which all that is due was made: it samples nothing. */
async function refresher(records: readonly RefreshRecord[], set = ['rl.refresh.everySteps=2'], train: readonly Problem[] = problems) {
  const recipe = await recipeWith(...set);
  const parts = { recipe, data: { train, evaluation: [] }, writer: { refreshes: () => records }, target: await refreshTarget(recipe) };
  return new Refresher(parts as unknown as RunParts<Problem>, undefined as unknown as Trainer);
}
const idsOf = ({ problems: of }: { readonly problems: readonly Problem[] }): string => of.map(({ id }) => id).join('');

describe('the problems of a step', () => {
  it('are all of them where the recipe has no refresh', async () => {
    expect(await (await refresher([], [])).streamAt(3)).toEqual({ problems });
  });

  it('are those of the latest choice, in an order that begins with it; its metrics stand in the step it was made for', async () => {
    const stream = await refresher([chosen(0, 0, 1), chosen(2, 1, 3)]);
    expect(idsOf(await stream.streamAt(0))).toBe('ab');
    expect(await stream.streamAt(1)).not.toHaveProperty('metrics');
    const [before, at, after] = [await stream.streamAt(1), await stream.streamAt(2), await stream.streamAt(3)];
    expect([before, at, after].map(idsOf)).toEqual(['ab', 'bd', 'bd']);
    expect([before.order!.from, at.order!.from, after.order]).toEqual([0, 2, at.order]);
    expect(at.metrics).toEqual({ 'refresh/selected': 2 });
    expect(at.order!.seed).not.toBe(before.order!.seed);
  });

  it('stay as they were where nothing could be chosen', async () => {
    expect(idsOf(await (await refresher([chosen(0, 2), chosen(2)])).streamAt(3))).toBe('c');
    const never = await (await refresher([chosen(0)])).streamAt(1);
    expect([idsOf(never), never.order]).toEqual(['abcd', undefined]);
  });

  it('are refused where the training problems are others than when they were chosen', async () => {
    const others = problems.slice(1);
    await expect((await refresher([chosen(0, 0)], undefined, others)).streamAt(1)).rejects.toThrow('training problem 1 is "b"');
    await expect((await refresher([chosen(0, 3)], undefined, others)).streamAt(1)).rejects.toThrow('training problem 4 is missing');
  });
});

describe('the problems that are chosen from', () => {
  it('are the whole of a file, not as many rows as the run trains on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'refresh-'));
    const file = join(folder, 'problems.jsonl');
    writeFileSync(file, Array.from({ length: 10 }, (_, i) => JSON.stringify({ id: i, question: `${i}?`, answer: '1' })).join('\n'));
    const run = ['rl.steps=1', 'rl.groupsPerStep=2', 'rl.updatesPerStep=1', 'problems.evaluation.count=1'];
    const trainedOn = async (...set: string[]): Promise<number> => {
      const recipe = await recipeWith(...run, ...set);
      return (await loadData({ recipe: 'nano' }, recipe)).train.length;
    };
    const ofFile = `problems.train={kind: file, file: ${file}}`;
    expect(await trainedOn(ofFile)).toBe(2);
    expect(await trainedOn(ofFile, 'rl.refresh.everySteps=1')).toBe(10);
    expect(await trainedOn(`problems.train={kind: file, file: ${file}, count: 5}`, 'rl.refresh.everySteps=1')).toBe(5);
    expect(await trainedOn('problems.train={kind: calc-small}', 'rl.refresh.everySteps=1')).toBe(2);
    rmSync(folder, { recursive: true });
  });
});

describe('the target of a refresh', () => {
  it('is none where RL is not run or does not choose', async () => {
    expect(await refreshTarget(await recipeWith())).toBeUndefined();
    expect(await refreshTarget(await recipeWith('rl.refresh.everySteps=2'))).toEqual({ kind: 'uniform' });
  });

  it('that cannot be used is told with its place in the recipe', async () => {
    const recipe = await recipeWith('rl.refresh={everySteps: 2, target: easy=x}');
    await expect(refreshTarget(recipe)).rejects.toThrow(/^rl\.refresh: target "easy=x"/);
  });
});
