/** One arm of one block: trains in a run folder of its own, goes on where an earlier try was interrupted, and reads the result from its store. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { exportRun } from '../export/exportRun.js';
import { openRun } from '../runs/reader.js';
import { Diverged } from '../training/diverged.js';
import { train } from '../training/train.js';
import { type ArmResult, curvesOf, evaluatedOf } from './armResult.js';
import type { Job, StartJob } from './jobs.js';
import { withPackagedFiles } from './planFiles.js';
import type { StudyFolder } from './studyFolder.js';

export interface RunOptions {
  readonly folder: StudyFolder;
  /** What each step says, for a progress line. */
  readonly onStep?: (stage: string, step: number, steps: number) => void;
  readonly log: (line: string, level?: 'info' | 'warning') => void;
  readonly signal: AbortSignal;
}

/** Makes the model that the arms of a block begin with, once. @returns its folder */
export async function makeStart({ key, recipe }: StartJob, options: RunOptions): Promise<string> {
  const { folder, log, signal } = options;
  const to = folder.startFolder(key);
  if (existsSync(join(to, 'toolwise.json'))) return to;
  const run = folder.runFolder(`start-${key}`);
  await trainIn(run, recipe, options);
  await exportRun({ run, to, dtype: 'float32', force: true, log: () => undefined, signal });
  rmSync(run, { recursive: true, force: true });
  log(`start ${key} is made`);
  return to;
}

/** @param model the folder of the start, where the plan has one */
export async function runArm(job: Job, model: string | undefined, options: RunOptions): Promise<ArmResult> {
  const run = options.folder.runFolder(job.key);
  const recipe = { ...job.recipe, ...(model !== undefined && { model }) };
  let diverged: string | undefined;
  try {
    await trainIn(run, recipe, options);
  } catch (error) {
    if (!(error instanceof Diverged)) throw error;
    diverged = error.message;
  }
  return resultOf(run, job, diverged);
}

async function trainIn(out: string, recipe: Job['recipe'], { log, signal, onStep }: RunOptions): Promise<void> {
  const resume = existsSync(join(out, 'run.sqlite'));
  const planned: Record<string, number> = {};
  await train({
    recipe: withPackagedFiles(recipe),
    out,
    resume,
    log: (line, level) => level === 'warning' && log(line, level),
    onEvent: (event) => {
      if (event.kind === 'stageStarted') planned[event.stage] = event.steps;
      // what seems to collapse is in the curves; what was left out is said nowhere else
      if (event.kind === 'note' && event.level === 'warning' && event.alarm === undefined) log(event.text, 'warning');
      if (event.kind === 'stepEnded') onStep?.(event.stage, event.step + 1, planned[event.stage] ?? 0);
    },
    signal,
  });
}

/** @param diverged why the run ended by itself before its end */
export function resultOf(folder: string, job: Pick<Job, 'key' | 'arm' | 'block' | 'seed'>, diverged?: string): ArmResult {
  const run = openRun(folder);
  try {
    const stages = run.stages();
    const curves: Record<string, Record<string, (number | null)[]>> = {};
    let [written, trained, lost, seconds] = [0, 0, 0, 0];
    for (const { stage, steps, seconds: whole } of stages) {
      const ended = run.steps(stage);
      // with the evaluation at its end, where the stage came to that
      seconds += whole ?? ended.reduce((sum, { metrics }) => sum + (metrics['seconds/step'] ?? 0), 0);
      if (ended.length > 0) curves[stage] = curvesOf(ended, steps);
      for (const { metrics } of ended) {
        trained += metrics['train/tokens'] ?? 0;
        lost += metrics['rollout/lost'] ?? 0;
      }
    }
    for (const { modelTokens } of run.trajectories({ split: 'train' })) written += modelTokens;
    const evaluations = run.evaluations();
    for (const { metrics } of evaluations) lost += metrics.lost ?? 0;
    const { key, arm, block, seed } = job;
    const ended = stages.at(-1)?.endedAt;
    const { extra = {}, versions } = run.info;
    const machine = { cpu: String(extra.cpu ?? 'unknown'), cores: Number(extra.cores ?? 0), toolwise: versions.toolwise ?? 'unknown' };
    return {
      ...{ format: 1, arm: arm.name, key, block, seed, curves },
      steps: Object.fromEntries(stages.map(({ stage, steps }) => [stage, steps])),
      evaluations: evaluations.map(evaluatedOf),
      ...(diverged !== undefined && { diverged }),
      ...{ lost, tokens: { written, trained }, seconds: Math.round(10 * seconds) / 10, machine },
      ...(ended !== undefined && { ended }),
    };
  } finally {
    run.close();
  }
}
