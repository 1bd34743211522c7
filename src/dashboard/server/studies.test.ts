import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jobOf } from '../../study/jobs.js';
import { hashOf, type StudyPlan } from '../../study/plan.js';
import { StudyFolder } from '../../study/studyFolder.js';
import { madePlan, madeResults, PLAN } from '../../study/testSupport.js';
import type { StudyDetail, StudySummary } from '../api.js';
import { type Asked, HOSTILE, Place, play } from './testSupport.js';

const NARROW = [0.8, 0.81, 0.82, 0.83, 0.84, 0.85];
const WIDE = [0.9, 0.92, 0.94, 0.96, 0.98, 1];

let place: Place;
let server: Asked;
beforeEach(() => {
  place = new Place();
  server = place.serve();
});
afterEach(() => place.clean());

/** @returns the study, still held by the one who runs it */
function study(name: string, plans: readonly StudyPlan[], wide: readonly number[] = [], narrow: readonly number[] = []): StudyFolder {
  const folder = place.keep(StudyFolder.open(join(place.folder, name), plans));
  for (const result of [...madeResults(plans[0]!, 'wide', wide), ...madeResults(plans[0]!, 'narrow', narrow)]) folder.keep(result);
  return folder;
}
const list = (): Promise<StudySummary[]> => server.json('/api/studies');
const detail = (id: string): Promise<StudyDetail> => server.json(`/api/studies/${encodeURIComponent(id)}`);
const keyOf = (plan: StudyPlan, arm: string, block: number): string => jobOf(plan, plan.arms.find(({ name }) => name === arm)!, block).key;
const cells = ({ grids }: StudyDetail, arm: string) => grids[0]!.blocks.map((block) => block.cells[grids[0]!.arms.indexOf(arm)]!);

describe('studies', () => {
  it('are found as runs are, with how far they are and whether they run', async () => {
    const plan = madePlan();
    study('a/first', [plan], WIDE.slice(0, 3), NARROW.slice(0, 2));
    study('whole', [plan], WIDE, NARROW).close();
    const [whole, first] = await list();
    expect(first).toEqual({
      ...{ id: 'a/first', name: 'first', state: 'running', claims: 1, lastResultAt: '2026-11-22T10:00:00.000Z' },
      plans: [{ name: 'clip', title: 'The upper bound' }],
      ...{ done: 5, wanted: 12, blocksDone: 2, blocksWanted: 6 },
    });
    expect(whole).toMatchObject({ id: 'whole', state: 'complete', done: 12, blocksDone: 6 });
    expect(await server.error('/api/studies/nowhere')).toMatchObject({ status: 404, error: expect.stringContaining('no study nowhere') });
  });

  it('may be the shown folder itself', async () => {
    const plan = madePlan();
    StudyFolder.open(place.folder, [plan]).close();
    const key = keyOf(plan, 'wide', 0);
    play(place.writer(join('runs', key)), 1);
    expect((await list()).map(({ id, state }) => [id, state])).toEqual([['@', 'stopped']]);
    expect(cells(await detail('@'), 'wide')[0]).toMatchObject({ state: 'running', run: `runs/${key}` });
  });

  it('that share an arm-run count it once', async () => {
    study('two', [madePlan(), madePlan({ name: 'again' })], WIDE, NARROW);
    const found = await detail('two');
    expect(found).toMatchObject({ done: 12, wanted: 12, claims: 2 });
    expect(found.grids.map(({ plan, done }) => [plan, done])).toEqual([
      ['clip', 12],
      ['again', 12],
    ]);
  });
});

describe('one study', () => {
  it('shows what has ended, what runs, what was interrupted, and what waits', async () => {
    const plan = madePlan();
    const folder = study('s', [plan], WIDE.slice(0, 1));
    for (const result of madeResults(plan, 'narrow', NARROW.slice(0, 1), { diverged: 'the loss is NaN', evaluations: [] }))
      folder.keep(result);
    play(place.writer(join('s', 'runs', keyOf(plan, 'wide', 1))), 2);
    const stopped = place.writer(join('s', 'runs', keyOf(plan, 'narrow', 1)));
    stopped.sink({ kind: 'stageStarted', stage: 'sft', steps: 7 });
    stopped.close();
    const found = await detail('s');
    expect(found.grids[0]).toMatchObject({ arms: ['narrow', 'wide'], endpoints: [{ text: 'accuracy at the end of rl', unit: 'points' }] });
    const run = (arm: string): string => `s/runs/${keyOf(plan, arm, 1)}`;
    expect(cells(found, 'wide').slice(0, 3)).toEqual([
      { key: keyOf(plan, 'wide', 0), state: 'done', values: [90], seconds: 60 },
      { key: keyOf(plan, 'wide', 1), state: 'running', run: run('wide'), progress: { stage: 'rl', done: 2, steps: 2 } },
      { key: keyOf(plan, 'wide', 2), state: 'waiting' },
    ]);
    expect(cells(found, 'narrow').slice(0, 2)).toEqual([
      { key: keyOf(plan, 'narrow', 0), state: 'done', values: [0], seconds: 60, diverged: 'the loss is NaN' },
      { key: keyOf(plan, 'narrow', 1), state: 'interrupted', run: run('narrow'), progress: { stage: 'sft', done: 0, steps: 7 } },
    ]);
    // 10 of 12 are left, at a minute each, and the two ended together; the one that diverged tells nothing of the time
    expect(found.left).toEqual({ seconds: expect.closeTo(300, 6), each: expect.closeTo(60, 6), of: 1, beside: 2 });
  });

  it('shows that what a block begins with is made', async () => {
    const plan = madePlan({ start: { extends: 'demo', stages: ['sft'] } });
    const start = jobOf(plan, plan.arms[0]!, 1).start!;
    study('s', [plan]);
    play(place.writer(join('s', 'runs', `start-${start.key}`)), 1);
    expect((await detail('s')).starts).toEqual([
      { block: 1, seed: 2, run: `s/runs/start-${start.key}`, running: true, progress: { stage: 'rl', done: 1, steps: 1 } },
    ]);
  });

  it('says of its claims what the report says, in its words', async () => {
    study('s', [madePlan()], WIDE, NARROW);
    const [claim] = (await detail('s')).claimList;
    expect(claim).toMatchObject({
      ...{ plan: 'clip', id: 'accuracy', models: ['nano'], blocksWanted: 6, notes: [] },
      verdict: { outcome: 'supported', text: 'supported', adjusted: '< 0.001', sentence: expect.stringContaining('beyond the margin') },
      checks: [{ holds: true, text: 'train/clipHigh of narrow is 0.002; at least 0.001 is needed' }],
    });
    const [part] = claim!.parts;
    expect(part).toMatchObject({ difference: '+12.5 [+10.5, +14.5] points', margin: 5, blocks: 6, unit: 'points', reading: 'supported' });
    expect(part!.sentence).toMatch(/^Over 6 blocks, wide stood 12.5 points above narrow on average/);
    expect([part!.mean, part!.low, part!.high]).toEqual([12.5, 10.5367, 14.4633].map((value) => expect.closeTo(value, 3)));
  });

  it('has no verdict where no block holds both arms, and few blocks are exploratory', async () => {
    const folder = study('s', [madePlan()], WIDE.slice(0, 2));
    const [before] = (await detail('s')).claimList;
    expect(before).not.toHaveProperty('verdict');
    expect(before!.parts[0]).toMatchObject({ blocks: 0, difference: '–', mean: null, low: null });
    for (const result of madeResults(madePlan(), 'narrow', NARROW.slice(0, 1))) folder.keep(result);
    const [after] = (await detail('s')).claimList;
    expect(after).toMatchObject({ verdict: { outcome: 'exploratory' }, parts: [{ blocks: 1, mean: 10, low: null }] });
    expect(after!.notes).toContain('1 of 6 blocks are there');
  });

  it('gives the numbers that its claims compare, each once, and the accuracy at the end', async () => {
    const [claim] = PLAN.claims;
    const parts = ['rollout/entropy', 'rollout/accuracy', 'rollout/entropy'].map((mean) => ({ ...claim!.parts[0]!, endpoint: { mean } }));
    study('s', [madePlan({ claims: [{ ...claim, parts }] })], WIDE);
    const found = await detail('s');
    expect(found.grids[0]!.endpoints).toEqual([
      { text: 'mean rollout/entropy over rl steps 1 to the last', unit: 'units' },
      { text: 'mean rollout/accuracy over rl steps 1 to the last', unit: 'points' },
      { text: 'accuracy at the end of rl (main)', unit: 'points' },
    ]);
    expect(cells(found, 'wide')[0]!.values).toEqual([0.4, 52.5, 90].map((value) => expect.closeTo(value, 9)));
  });

  it('that is empty waits, and takes up each result as it comes', async () => {
    const folder = study('s', [madePlan()]);
    const empty = await detail('s');
    expect(empty).toMatchObject({ done: 0, wanted: 12, problems: [], scope: [], claimList: [{ id: 'accuracy', checks: [], notes: [] }] });
    expect(empty).not.toHaveProperty('left');
    expect(cells(empty, 'wide').every(({ state }) => state === 'waiting')).toBe(true);
    for (const result of madeResults(madePlan(), 'wide', WIDE.slice(0, 1))) folder.keep(result);
    expect(await detail('s')).toMatchObject({ done: 1, facts: { seeds: '1', seconds: 60 } });
  });

  it('says what its folder keeps of files, of more blocks and of processors', async () => {
    const file = join(place.folder, 'demonstrations.jsonl');
    writeFileSync(file, '{}');
    const start = { extends: 'demo', stages: ['sft'], sft: { demonstrations: { file } } };
    const folder = study('s', [madePlan({ start })], WIDE, NARROW);
    folder.close();
    const plan = madePlan({ start, blocks: 7 });
    const more = place.keep(StudyFolder.open(folder.path, [plan]));
    const [, second] = madeResults(plan, 'wide', WIDE);
    more.keep({ ...second!, machine: { ...second!.machine, cpu: 'another' } });
    const found = await detail('s');
    expect(found).toMatchObject({ done: 12, wanted: 14, problems: [] });
    expect(found.scope.slice(2)).toEqual([
      expect.stringContaining('clip was planned with 6 blocks and raised to 7 when 12 results were there'),
      expect.stringContaining('Block 2 of clip (seed 2) mixes processors'),
    ]);
  });

  it('with a broken result names its file, and shows all others', async () => {
    const plan = madePlan();
    const { path } = study('s', [plan], WIDE, NARROW);
    const file = join(path, 'results', `${keyOf(plan, 'wide', 5)}.json`);
    truncateSync(file, 40);
    writeFileSync(join(path, 'results', 'other.json'), '{"format":2}');
    writeFileSync(join(path, 'results', 'half.json.part'), '{');
    for (const result of madeResults(madePlan({ seed: 100 }), 'wide', [0.5])) {
      for (const name of [result.key, 'z']) writeFileSync(join(path, 'results', `${name}.json`), JSON.stringify(result));
    }
    const found = await detail('s');
    expect(found.done).toBe(11);
    expect(cells(found, 'wide')[5]!.state).toBe('waiting');
    expect(found.problems).toEqual([
      expect.stringContaining(`results/${keyOf(plan, 'wide', 5)}.json is not JSON`),
      expect.stringContaining('results/other.json is not a result of this version'),
      expect.stringContaining('results/z.json holds the result of another arm'),
      '1 result belongs to no plan of the study.',
    ]);
    // somebody had not written it whole
    rmSync(file);
    writeFileSync(file, JSON.stringify(madeResults(plan, 'wide', WIDE)[5]));
    expect(await detail('s')).toMatchObject({ done: 12, claimList: [{ verdict: { outcome: 'supported' } }] });
  });

  it('with results that lack what a claim asks for says so, and shows its arms', async () => {
    const folder = study('s', [madePlan()], WIDE);
    for (const result of madeResults(madePlan(), 'narrow', NARROW)) folder.keep({ ...result, curves: {}, evaluations: [] });
    const found = await detail('s');
    expect(found.done).toBe(12);
    expect(found.claimList[0]!.notes).toContain('wide or narrow gave no accuracy in 6 blocks');
    expect(cells(found, 'narrow')[0]!.values).toEqual([null]);
  });

  it('leads to its report where one was written', async () => {
    const { path } = study('s', [madePlan()], WIDE, NARROW);
    expect(await detail('s')).not.toHaveProperty('report');
    const head = '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy"';
    writeFileSync(join(path, 'report.html'), head);
    expect((await detail('s')).report).toBe('s/report.html');
  });
});

describe('a study of somebody else', () => {
  const unreadable = async (id: string): Promise<string | undefined> => {
    const found = await detail(id);
    expect(found).toMatchObject({ state: 'unreadable', grids: [], claimList: [] });
    expect((await list()).find((one) => one.id === id)!.note).toBe(found.note);
    return found.note;
  };

  it('that is damaged says how, and is well again when it is mended', async () => {
    const { path } = study('s', [madePlan()], WIDE, NARROW);
    const plan = join(path, 'plans', 'clip.json');
    renameSync(plan, `${plan}.away`);
    expect(await unreadable('s')).toBe('plans/clip.json is missing, or no plain file');
    renameSync(`${plan}.away`, plan);
    expect((await detail('s')).done).toBe(12);
    appendFileSync(plan, 'x');
    expect(await unreadable('s')).toMatch(/^plans\/clip.json is not JSON/);
    writeFileSync(join(path, 'study.json'), '[]');
    expect(await unreadable('s')).toBe('study.json is not one of a study');
  });

  it('leads nowhere: neither by names, nor by links', async () => {
    const { path } = study('s', [madePlan()], WIDE);
    writeFileSync(join(place.folder, 'secret.json'), '{"secret":1}');
    writeFileSync(join(path, 'study.json'), JSON.stringify({ format: 1, plans: { '../../secret': 'x' } }));
    expect(await unreadable('s')).toBe('study.json is not one of a study');
    mkdirSync(join(place.folder, 'linked', 'plans'), { recursive: true });
    writeFileSync(join(place.folder, 'linked', 'study.json'), JSON.stringify({ format: 1, plans: { clip: 'x' } }));
    symlinkSync(join(place.folder, 'secret.json'), join(place.folder, 'linked', 'plans', 'clip.json'));
    symlinkSync(join(path, 'results'), join(place.folder, 'linked', 'results'));
    expect(await unreadable('linked')).toBe('plans/clip.json is missing, or no plain file');
    symlinkSync(path, join(place.folder, 'link'));
    expect((await list()).map(({ id }) => id).sort()).toEqual(['linked', 's']);
  });

  it('that asks for too much, or for arms that it has not, is refused in words', async () => {
    const folder = join(place.folder, 's');
    const put = (change: object): void => {
      const { text: _, asked: __, notes: ___, ...plan } = { ...madePlan(), ...change };
      const hash = hashOf({ name: plan.name, seed: plan.seed, start: plan.start, arms: plan.arms, claims: plan.claims });
      mkdirSync(join(folder, 'plans'), { recursive: true });
      writeFileSync(join(folder, 'plans', 'clip.json'), JSON.stringify({ format: 1, ...plan, hash }));
      writeFileSync(join(folder, 'study.json'), JSON.stringify({ format: 1, plans: { clip: hash } }));
    };
    put({ blocks: 1e9 });
    expect(await unreadable('s')).toContain('ask for 2000000000 arm-runs');
    put({ arms: madePlan().arms.slice(0, 1) });
    expect(await unreadable('s')).toContain('has no arm wide, which a claim names');
    put({ claims: [{ id: 'x' }] });
    expect(await unreadable('s')).toContain('plans/clip.json is not a plan of this version');
    put({});
    expect(await detail('s')).toMatchObject({ state: 'stopped', wanted: 12 });
  });

  it('is told as it was written: escaping is the page’s', async () => {
    const says = HOSTILE.markup!;
    study('s', [madePlan({ title: says, claims: [{ ...PLAN.claims[0], says, fair: says }] })], WIDE, NARROW);
    const response = await server.response('/api/studies/s');
    expect(response.headers.get('content-type')).toContain('application/json');
    const found = (await response.json()) as StudyDetail;
    expect([found.grids[0]!.title, found.claimList[0]!.says, found.claimList[0]!.fair]).toEqual([says, says, says]);
  });
});
