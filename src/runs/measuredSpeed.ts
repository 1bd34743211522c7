/** What earlier runs of a model measured on this machine, for the plan of the next one. Reads their stores; changes nothing. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { computesOn, type MeasuredSpeed, trainingWork } from '../recipe/plan.js';
import type { Recipe } from '../recipe/schema.js';
import { openRun, type Run } from './reader.js';
import type { RunInfo } from './runInfo.js';

/** How many runs are looked at, the newest first. */
const LOOKED_AT = 40;

/**
 * The newest run under `folder` (or one folder deeper) with the same model, device, precision, threads and kind of training that has made
 * steps.
 * @param gpu whether this machine has a GPU that `engine.device: auto` may take
 */
export function measuredSpeed(folder: string, recipe: Recipe, gpu: boolean): MeasuredSpeed | undefined {
  for (const candidate of newestRuns(folder).slice(0, LOOKED_AT)) {
    const found = speedOf(candidate, recipe, gpu);
    if (found !== undefined) return found;
  }
  return undefined;
}

function newestRuns(folder: string): string[] {
  const found: { readonly path: string; readonly at: number }[] = [];
  const look = (path: string, deeper: boolean): void => {
    for (const entry of list(path)) {
      const inner = join(path, entry);
      const at = modified(join(inner, 'run.sqlite'));
      if (at !== undefined) found.push({ path: inner, at });
      else if (deeper) look(inner, false);
    }
  };
  look(folder, true);
  return found.sort((a, b) => b.at - a.at).map(({ path }) => path);
}

function list(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

function modified(file: string): number | undefined {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return undefined;
  }
}

function speedOf(folder: string, recipe: Recipe, gpu: boolean): MeasuredSpeed | undefined {
  let run: Run | undefined;
  try {
    run = openRun(folder);
    const theirs = run.info.recipe;
    const same =
      theirs.model === recipe.model &&
      theirs.loraRank > 0 === recipe.loraRank > 0 &&
      theirs.trainUnembed === recipe.trainUnembed &&
      deviceOf(run.info) === computesOn(recipe, gpu) &&
      theirs.engine.dtype === recipe.engine.dtype &&
      theirs.engine.threads === recipe.engine.threads &&
      // What is sampled while the engine trains is not waited for, and says nothing of how fast sampling is.
      theirs.rl?.async === undefined &&
      theirs.engine.url === undefined;
    return same ? read(folder, run, theirs, recipe) : undefined;
  } catch {
    // Another program's file, or a run that never began: no measurement.
    return undefined;
  } finally {
    run?.close();
  }
}

/** Where a run was computed: by its record, else, of one made before that was kept, the CPU. */
const deviceOf = ({ extra }: RunInfo): 'cpu' | 'cuda' => (String(extra?.device).startsWith('cuda') ? 'cuda' : 'cpu');

function read(folder: string, run: Run, theirs: Recipe, recipe: Recipe): MeasuredSpeed | undefined {
  const total = (stage: 'rl' | 'sft', name: string): number => run.metric(stage, name).reduce((sum, { value }) => sum + value, 0);
  const steps = run.metric('rl', 'seconds/generation').length;
  const updates = run.metric('sft', 'seconds/training').length;
  const tokens = total('rl', 'rollout/modelTokens');
  const rollouts = theirs.rl ? theirs.rl.groupsPerStep * theirs.rl.groupSize : 0;
  const rate = (amount: number, seconds: number): number | undefined => (amount > 0 && seconds > 0 ? amount / seconds : undefined);
  const generation = rate(tokens * rollouts, total('rl', 'seconds/generation'));
  const work = trainingWork(theirs) / trainingWork(recipe);
  const training = rate(tokens * rollouts * (theirs.rl?.epochs ?? 1) * work, total('rl', 'seconds/training'));
  const sftTraining = rate(total('sft', 'train/tokens'), total('sft', 'seconds/training'));
  if (generation === undefined && sftTraining === undefined) return undefined;
  return {
    run: folder,
    ...(generation !== undefined && { generation, tokensPerRollout: tokens / steps }),
    ...(training !== undefined && { training }),
    ...(sftTraining !== undefined &&
      theirs.sft && { sftTraining, tokensPerDemonstration: total('sft', 'train/tokens') / (updates * theirs.sft.batchSize) }),
  };
}
