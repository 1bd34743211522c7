/**
 * How long arms will take, before they run: from what equal arms took in this study or in the results that come with the package, else from what
 * other arms of the same model took for each conversation.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProblemSource, Recipe } from '../recipe/schema.js';
import { packageRoot } from '../setup/paths.js';
import type { ArmResult } from './armResult.js';
import { blocksOf, type Job } from './jobs.js';
import { hashOf } from './plan.js';
import { readPlans, readResults, STUDY_FILE } from './studyFolder.js';

export interface Estimate {
  /** Of one engine, starts included. */
  readonly seconds: number;
  /** By the clock: blocks one after the other, each with its start and then its arms side by side. */
  readonly clock: number;
  /** Where the times come from: processors' names, and whether it was this very study. */
  readonly from: { readonly here: boolean; readonly machines: readonly string[] };
}

/** What arms took that have ended. */
export interface Took {
  readonly arm: string;
  readonly model: string;
  readonly passes: number;
  readonly seconds: number;
  readonly machine: string;
}

/**
 * @param parallel arms side by side
 * @returns undefined where nothing is known of one of the models
 */
export function estimate(left: readonly Job[], out: string, parallel: number): Estimate | undefined {
  return estimateFrom(left, parallel, { here: tookIn(out), elsewhere: tookElsewhere() });
}

/** Of the results that come with the package. */
export const tookElsewhere = (): Took[] => tookIn(join(packageRoot(), 'studies', 'findings'));

export interface Sources {
  readonly here: readonly Took[];
  /** Asked where nothing is known from here. */
  readonly elsewhere?: readonly Took[];
  /** Keys of starts that are there already. */
  readonly made?: ReadonlySet<string>;
}

/** {@link estimate} from what was read before. Pure. */
export function estimateFrom(left: readonly Job[], parallel: number, { here, elsewhere = [], made }: Sources): Estimate | undefined {
  const used = new Set<readonly Took[]>();
  const machines = new Set<string>();
  const secondsOf = (recipe: Recipe): number | undefined => {
    for (const took of [here, elsewhere]) {
      const equal = took.filter(({ arm }) => arm === armOf(recipe));
      const alike = equal.length > 0 ? equal : took.filter(({ model }) => model === recipe.model);
      if (alike.length === 0) continue;
      used.add(took);
      for (const { machine } of alike) machines.add(machine);
      return passesOf(recipe) * (sum(alike, ({ seconds }) => seconds) / sum(alike, ({ passes }) => passes));
    }
    return undefined;
  };
  let [seconds, clock] = [0, 0];
  for (const jobs of byBlock(left)) {
    const starts = new Map<string, Recipe>();
    for (const { start } of jobs) if (start !== undefined && made?.has(start.key) !== true) starts.set(start.key, start.recipe);
    const ofStarts = total([...starts.values()], secondsOf);
    const ofArms = total(
      jobs.map(({ recipe }) => recipe),
      secondsOf,
    );
    if (ofStarts === undefined || ofArms === undefined) return undefined;
    seconds += ofStarts + ofArms;
    clock += ofStarts / Math.min(parallel, Math.max(1, starts.size)) + (ofArms * Math.ceil(jobs.length / parallel)) / jobs.length;
  }
  return { seconds, clock, from: { here: !used.has(elsewhere), machines: [...machines] } };
}

function byBlock(jobs: readonly Job[]): Job[][] {
  const blocks = new Map<string, Job[]>();
  for (const job of jobs) {
    const place = `${job.block}/${job.seed}`;
    blocks.set(place, [...(blocks.get(place) ?? []), job]);
  }
  return [...blocks.values()];
}

/** @returns undefined where one of them is */
function total(recipes: readonly Recipe[], of: (recipe: Recipe) => number | undefined): number | undefined {
  const each = recipes.map(of);
  return each.includes(undefined) ? undefined : sum(each as number[], (value) => value);
}

/** Of all arms that have ended in a study's folder. */
export function tookIn(folder: string): Took[] {
  if (!existsSync(join(folder, STUDY_FILE))) return [];
  return tookBy(
    blocksOf(readPlans(folder)).flatMap(({ jobs }) => jobs),
    readResults(folder),
  );
}

/** Of those of the jobs that have ended, but for what diverged. */
export function tookBy(jobs: readonly Job[], results: ReadonlyMap<string, ArmResult>): Took[] {
  return jobs.flatMap(({ key, recipe }): Took[] => {
    const result = results.get(key);
    if (result === undefined || result.seconds <= 0 || result.diverged !== undefined) return [];
    const machine = String(result.machine.cpu ?? 'unknown');
    return [{ arm: armOf(recipe), model: recipe.model, passes: passesOf(recipe), seconds: result.seconds, machine }];
  });
}

const armOfRecipe = new WeakMap<Recipe, string>();

/** The same for all blocks. */
function armOf(recipe: Recipe): string {
  const { name, description, seed, ...rest } = recipe;
  const arm = armOfRecipe.get(recipe) ?? hashOf(rest);
  armOfRecipe.set(recipe, arm);
  return arm;
}

/** How often a conversation goes through the model: written, or trained on. What a file holds is not looked up. */
function passesOf({ stages, sft, rl, evaluation, problems }: Recipe): number {
  const { samples, extra, everySteps, base } = evaluation;
  const trained = rl !== undefined && stages.includes('rl') ? rl : undefined;
  const onTheWay = trained !== undefined && everySteps > 0 ? Math.floor(trained.steps / everySteps) : 0;
  const evaluated = countOf(problems.evaluation) * (samples + extra.length) * (stages.length + (base ? 1 : 0) + onTheWay);
  const demonstrations = sft !== undefined && stages.includes('sft') && 'count' in sft.demonstrations ? sft.demonstrations.count : 0;
  const rollouts = trained ? trained.steps * trained.groupsPerStep * trained.groupSize : 0;
  const tried = trained?.refresh
    ? Math.ceil(trained.steps / trained.refresh.everySteps) *
      trained.refresh.samples *
      (trained.refresh.problems ?? countOf(problems.train))
    : 0;
  return 1 + evaluated + demonstrations * (sft?.epochs ?? 0) + rollouts * (1 + (trained?.epochs ?? 0)) + tried;
}

/** 0 where the recipe does not say it. */
const countOf = (source: ProblemSource): number => (typeof source === 'string' ? 0 : (source.count ?? 0));

const sum = <T>(values: readonly T[], of: (value: T) => number): number => values.reduce((total, value) => total + of(value), 0);
