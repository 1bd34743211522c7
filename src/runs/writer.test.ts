import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { someInfo, someRecord } from '../../test/support/someRun.js';
import type { EventSink } from '../domain/event.js';
import { openRun, type Run } from './reader.js';
import { MIGRATIONS, openForReading, openForWriting, SCHEMA_VERSION } from './store.js';
import { RunWriter } from './writer.js';

let folder: string;
let open: { close(): void }[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-'));
  open = [];
});
afterEach(() => {
  for (const each of open) each.close();
  rmSync(folder, { recursive: true, force: true });
});

const keep = <T extends { close(): void }>(it: T): T => {
  open.push(it);
  return it;
};
const create = (): RunWriter => keep(RunWriter.create(folder, someInfo()));
const read = (): Run => keep(openRun(folder));

function playStep(sink: EventSink, step: number, samples = 4): void {
  for (let i = 0; i < samples; i++) sink({ kind: 'trajectory', record: someRecord(step, i, 'train', i % 2 === 0) });
  const checkpoint = {
    path: `checkpoints/rl-${step + 1}`,
    stage: 'rl',
    step: step + 1,
    policyVersion: 4 * (step + 1),
    optimizer: true,
    reason: 'newest',
  } as const;
  sink({ kind: 'stepEnded', stage: 'rl', step, metrics: { 'reward/total': step / 10, 'loss/kl': Number.NaN }, checkpoint });
}

function playEvaluation(sink: EventSink, step: number, name = 'greedy', correct = true): void {
  sink({ kind: 'trajectory', record: someRecord(step, 0, name, correct) });
  sink({ kind: 'evaluation', record: { name, stage: 'rl', step, metrics: { accuracy: correct ? 1 : 0, toolSuccess: Number.NaN } } });
}

describe('a run', () => {
  it('lists a rollout of several branches once, with the numbers of all of them', () => {
    const writer = create();
    const record = someRecord(0, 0);
    const { promptTokens, tokens, mask, samplerLogProbs, turns } = record.trajectory;
    const branches = [{ promptTokens, tokens, mask, samplerLogProbs, turns }];
    writer.sink({ kind: 'trajectory', record: { ...record, trajectory: { ...record.trajectory, branches } } });
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
    const run = read();
    expect(run.trajectories()).toMatchObject([{ promptTokens: 3, tokens: 10, modelTokens: 8, turns: 4, calls: 2 }]);
    expect(run.trajectory(1)!.trajectory.branches).toEqual(branches);
    const wrong = [{ ...branches[0]!, mask: [1] }];
    expect(() => writer.sink({ kind: 'trajectory', record: { ...record, trajectory: { ...record.trajectory, branches: wrong } } })).toThrow(
      'differ in length',
    );
  });

  it('is read back as it was told, also while it is being written', () => {
    const writer = create();
    writer.sink({ kind: 'stageStarted', stage: 'rl', steps: 3 });
    playEvaluation(writer.sink, 0);
    playStep(writer.sink, 0);
    playStep(writer.sink, 1);
    writer.sink({ kind: 'note', level: 'warning', text: 'entropy is falling' });
    const run = read();
    expect(run.info).toEqual(someInfo());
    expect(run.stages()).toMatchObject([{ stage: 'rl', steps: 3 }]);
    expect(run.stages()[0]!.endedAt).toBeUndefined();
    expect(run.metric('rl', 'reward/total')).toEqual([
      { step: 0, value: 0 },
      { step: 1, value: 0.1 },
    ]);
    expect(run.metric('rl', 'loss/kl')[0]!.value).toBeNaN();
    expect(run.metricNames('rl')).toEqual(['loss/kl', 'reward/total']);
    expect(run.steps('rl').map(({ step, metrics }) => [step, metrics['reward/total']])).toEqual([
      [0, 0],
      [1, 0.1],
    ]);
    expect(run.evaluations()).toEqual([{ name: 'greedy', stage: 'rl', step: 0, metrics: { accuracy: 1, toolSuccess: Number.NaN } }]);
    expect(run.checkpoints().map(({ path, optimizer }) => [path, optimizer])).toEqual([
      ['checkpoints/rl-1', true],
      ['checkpoints/rl-2', true],
    ]);
    expect(run.notes()).toMatchObject([{ level: 'warning', text: 'entropy is falling' }]);
    writer.sink({ kind: 'stageEnded', stage: 'rl', seconds: 12.5 });
    expect(run.stages()).toMatchObject([{ stage: 'rl', seconds: 12.5 }]);
  });

  it('lists trajectories by stage, step, split and correctness, and gives each one whole', () => {
    const writer = create();
    for (const step of [0, 1, 2]) playStep(writer.sink, step);
    playEvaluation(writer.sink, 3);
    const run = read();
    expect(run.countTrajectories()).toBe(13);
    expect(run.countTrajectories({ split: 'train' })).toBe(12);
    expect(run.countTrajectories({ stage: 'rl', step: 1, correct: false })).toBe(2);
    const [row] = run.trajectories({ split: 'greedy' });
    expect(row).toMatchObject({
      verdict: 'graded',
      correct: true,
      reward: 1.1,
      calls: 1,
      turns: 2,
      tokens: 5,
      modelTokens: 4,
      stopReason: 'answered',
    });
    expect(run.trajectory(row!.id)).toEqual(someRecord(3, 0, 'greedy'));
    expect(run.trajectory(999)).toBeUndefined();
    const page = run.trajectories({ split: 'train', limit: 2, offset: 3 });
    expect(page.map(({ trajectoryId }) => trajectoryId)).toEqual(['train/0/3', 'train/1/0']);
    expect([...run.records({ step: 2, correct: true })].map(({ trajectory }) => trajectory.trajectoryId)).toEqual([
      'train/2/0',
      'train/2/2',
    ]);
  });

  it('has no score, no correctness and no reward for what infrastructure took', () => {
    const writer = create();
    const { reward: _, advantage: __, ...record } = someRecord(0, 0);
    writer.sink({ kind: 'trajectory', record: { ...record, verdict: { kind: 'infra', error: 'sandbox down' } } });
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
    const [row] = read().trajectories();
    expect(row).toMatchObject({ verdict: 'infra' });
    for (const key of ['correct', 'score', 'reward', 'advantage']) expect(row).not.toHaveProperty(key);
  });

  it('holds the resolved recipe as a file that loads again', () => {
    create();
    expect(parse(readFileSync(join(folder, 'recipe.yaml'), 'utf8'))).toEqual(someInfo().recipe);
  });

  it('is one plain file once it is closed', () => {
    const writer = create();
    playStep(writer.sink, 0);
    writer.close();
    writer.close();
    expect(readdirSync(folder).filter((name) => name.startsWith('run.sqlite'))).toEqual(['run.sqlite']);
    expect(() => writer.sink({ kind: 'note', level: 'info', text: 'late' })).toThrow('is closed');
  });
});

describe('steps', () => {
  it('are kept whole or not at all', () => {
    const writer = create();
    playStep(writer.sink, 0);
    writer.sink({ kind: 'trajectory', record: someRecord(1, 0) });
    expect(read().countTrajectories()).toBe(4);
    writer.close();
    const resumed = keep(RunWriter.resume(folder));
    expect(resumed.lastStep('rl')).toBe(0);
    expect(resumed.lastStep('sft')).toBeUndefined();
    playStep(resumed.sink, 1);
    expect(read().countTrajectories({ step: 1 })).toBe(4);
  });

  it('may not end twice', () => {
    const writer = create();
    playStep(writer.sink, 0);
    expect(() => playStep(writer.sink, 0)).toThrow('UNIQUE');
    expect(read().countTrajectories()).toBe(4);
  });

  it('and evaluations do not take each other’s trajectories, whatever order they end in', () => {
    const writer = create();
    writer.sink({ kind: 'trajectory', record: someRecord(1, 0, 'greedy') });
    writer.sink({ kind: 'trajectory', record: someRecord(1, 1, 'T=1') });
    playStep(writer.sink, 1);
    expect(read().countTrajectories()).toBe(4);
    writer.sink({ kind: 'evaluation', record: { name: 'T=1', stage: 'rl', step: 1, metrics: {} } });
    expect(read().trajectories({ split: 'T=1' })).toHaveLength(1);
    expect(read().trajectories({ split: 'greedy' })).toHaveLength(0);
  });

  it('refuse a trajectory whose arrays differ in length', () => {
    const writer = create();
    const record = someRecord(0, 0);
    expect(() => writer.sink({ kind: 'trajectory', record: { ...record, trajectory: { ...record.trajectory, mask: [1] } } })).toThrow(
      RangeError,
    );
  });
});

describe('an evaluation that is repeated', () => {
  it('takes the place of the earlier one', () => {
    const writer = create();
    playEvaluation(writer.sink, 0, 'greedy', true);
    playEvaluation(writer.sink, 0, 'greedy', false);
    const run = read();
    expect(run.evaluations()).toMatchObject([{ metrics: { accuracy: 0 } }]);
    expect(run.trajectories({ split: 'greedy' })).toMatchObject([{ correct: false }]);
  });
});

describe('checkpoints', () => {
  it('are listed until they are dropped, and a new reason replaces the old one', () => {
    const writer = create();
    for (const step of [0, 1, 2]) playStep(writer.sink, step);
    writer.sink({ kind: 'checkpointDropped', path: 'checkpoints/rl-1' });
    const [second] = writer.checkpoints();
    writer.sink({ kind: 'checkpoint', record: { ...second!, reason: 'best' } });
    expect(writer.checkpoints().map(({ path, reason }) => [path, reason])).toContainEqual(['checkpoints/rl-2', 'best']);
    expect(writer.checkpoints()).toHaveLength(2);
  });
});

describe('a rollback', () => {
  it('forgets what came after the steps of a checkpoint, and keeps the evaluation at it', () => {
    const writer = create();
    writer.sink({ kind: 'stageStarted', stage: 'rl', steps: 4 });
    for (const step of [0, 1, 2, 3]) {
      playEvaluation(writer.sink, step);
      playStep(writer.sink, step);
    }
    writer.sink({ kind: 'stageEnded', stage: 'rl', seconds: 9 });
    expect(writer.rollbackAfter('rl', 2)).toEqual(['checkpoints/rl-3', 'checkpoints/rl-4']);
    const run = read();
    expect(run.lastStep('rl')).toBe(1);
    expect(run.metric('rl', 'reward/total')).toHaveLength(2);
    expect(run.evaluations().map(({ step }) => step)).toEqual([0, 1, 2]);
    expect(run.trajectories().map(({ split, step }) => `${split} ${step}`)).toEqual([
      'greedy 0',
      ...Array(4).fill('train 0'),
      'greedy 1',
      ...Array(4).fill('train 1'),
      'greedy 2',
    ]);
    expect(run.checkpoints().map(({ step }) => step)).toEqual([1, 2]);
    expect(run.stages()[0]!.endedAt).toBeUndefined();
    playStep(writer.sink, 2);
    expect(writer.lastStep('rl')).toBe(2);
  });

  it('undoes the stages behind it, and leaves those before', () => {
    const writer = create();
    writer.sink({ kind: 'stageStarted', stage: 'sft', steps: 2 });
    for (const step of [0, 1]) writer.sink({ kind: 'stepEnded', stage: 'sft', step, metrics: { loss: 1 } });
    writer.sink({ kind: 'stageEnded', stage: 'sft', seconds: 3 });
    writer.sink({ kind: 'stageStarted', stage: 'rl', steps: 1 });
    playStep(writer.sink, 0);
    expect(writer.rollbackAfter('rl', 0)).toEqual(['checkpoints/rl-1']);
    expect(writer.lastStep('sft')).toBe(1);
    playStep(writer.sink, 0);
    expect(writer.rollbackAfter('sft', 2)).toEqual(['checkpoints/rl-1']);
    expect(writer.stages()).toMatchObject([{ stage: 'sft', seconds: 3 }]);
    expect(writer.stages()).toHaveLength(1);
    expect(read().countTrajectories()).toBe(0);
    const left = new Database(join(folder, 'run.sqlite'), { readonly: true });
    expect(left.prepare('SELECT count(*) FROM bodies').pluck().get()).toBe(0);
    left.close();
  });
});

describe('a run folder', () => {
  it('is not written over, and its recipe changes only when asked', () => {
    create().close();
    expect(() => RunWriter.create(folder, someInfo())).toThrow('holds a run already');
    const writer = keep(RunWriter.resume(folder));
    const recipe = { ...someInfo().recipe, seed: 5 };
    writer.updateInfo({ recipe }, 'recipe changed on resume: seed 1 -> 5');
    const run = read();
    expect([run.info.recipe.seed, run.notes()[0]!.text]).toEqual([5, 'recipe changed on resume: seed 1 -> 5']);
    expect(readFileSync(join(folder, 'recipe.yaml'), 'utf8')).toContain('seed: 5');
  });

  it('has one writer at a time', () => {
    const first = create();
    expect(() => RunWriter.resume(folder)).toThrow(`is being written by process ${process.pid}`);
    first.close();
    keep(RunWriter.resume(folder));
  });

  it('without a run is told from one', () => {
    expect(() => RunWriter.resume(folder)).toThrow('holds no run');
    expect(() => openRun(folder)).toThrow('holds no run');
    expect(() => openRun(join(folder, 'nowhere'))).toThrow('holds no run');
  });

  it('that cannot be a folder is refused', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(() => RunWriter.create(file, someInfo())).toThrow(`cannot be made: ${file} is a file`);
    expect(() => RunWriter.create(join(file, 'run'), someInfo())).toThrow(`cannot be made: ${file} is a file`);
  });

  it('whose process died before the run began can be used again', () => {
    openForWriting(folder).close();
    expect(() => openRun(folder)).toThrow('never began');
    expect(() => RunWriter.resume(folder)).toThrow('no run that has begun');
    create();
    expect(read().info.seed).toBe(1);
  });
});

describe('a file that is not this version’s', () => {
  const file = (): string => join(folder, 'run.sqlite');

  it('is left as it is where it is no run: text, or another program’s database', () => {
    writeFileSync(file(), 'not a database, but long enough to be looked at. '.repeat(40));
    const before = readFileSync(file());
    expect(() => RunWriter.create(folder, someInfo())).toThrow('is not a run of Toolwise');
    expect(() => openRun(folder)).toThrow('is not a run of Toolwise');
    expect(readFileSync(file())).toEqual(before);
    rmSync(file());
    const other = new Database(file());
    other.exec('CREATE TABLE meta (key TEXT, value TEXT); INSERT INTO meta VALUES (1, 2)');
    other.close();
    expect(() => RunWriter.create(folder, someInfo())).toThrow('is not a run of Toolwise');
    expect(() => openRun(folder)).toThrow('is not a run of Toolwise');
  });

  it('is read with a note and not written where it is newer', () => {
    const writer = create();
    playStep(writer.sink, 0);
    writer.close();
    const db = new Database(file());
    db.prepare(`UPDATE meta SET value = '999' WHERE key = 'schemaVersion'`).run();
    db.close();
    const run = read();
    expect(run.note).toContain('run format 999');
    expect(run.countTrajectories()).toBe(4);
    expect(() => RunWriter.resume(folder)).toThrow('was written by a newer version of Toolwise (run format 999;');
    expect(read().countTrajectories()).toBe(4);
  });

  it('is brought to this version where it is older, by a reader too, and keeps its rows', () => {
    const writer = create();
    playStep(writer.sink, 0);
    writer.close();
    const next = [...MIGRATIONS, 'ALTER TABLE notes ADD COLUMN source TEXT'];
    const { db, note } = openForReading(folder, next);
    expect(note).toBeUndefined();
    expect(db.prepare(`SELECT value FROM meta WHERE key = 'schemaVersion'`).pluck().get()).toBe(String(SCHEMA_VERSION + 1));
    expect(db.prepare('SELECT source FROM notes').all()).toEqual([]);
    expect(db.prepare('SELECT count(*) FROM trajectories').pluck().get()).toBe(4);
    db.close();
  });

  it('stays as it was where a migration fails half-way', () => {
    create().close();
    const broken = [...MIGRATIONS, 'ALTER TABLE notes ADD COLUMN source TEXT; SELECT * FROM nowhere'];
    expect(() => openForWriting(folder, broken)).toThrow('nowhere');
    expect(read().note).toBeUndefined();
    keep(RunWriter.resume(folder)).sink({ kind: 'note', level: 'info', text: 'still fine' });
  });
});

describe('listings', () => {
  it('find a step, a problem and a trajectory by index', () => {
    create().close();
    const db = keep(new Database(join(folder, 'run.sqlite'), { readonly: true }));
    const plan = (where: string) => JSON.stringify(db.prepare(`EXPLAIN QUERY PLAN SELECT count(*) FROM trajectories WHERE ${where}`).all());
    expect(plan(`stage = 'rl' AND split = 'train' AND step = 3 AND correct = 1`)).toContain('trajectoriesByStep');
    expect(plan(`problemId = 'x'`)).toContain('trajectoriesByProblem');
    expect(plan(`trajectoryId = 'x'`)).toContain('trajectoriesByName');
  });
});
