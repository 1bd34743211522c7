/**
 * How long arms will take, before they run: from what equal arms took in this study or in the results that come with the package, else from what
 * other arms of the same model took for each conversation. Knows seconds of one engine; does not know how many run side by side.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Recipe } from '../recipe/schema.js';
import { packageRoot } from '../setup/paths.js';
import { blocksOf, type Job, type StartJob } from './jobs.js';
import { hashOf } from './plan.js';
import { readPlans, readResults, STUDY_FILE } from './studyFolder.js';

export interface Estimate {
  /** Of one engine, starts included. */
  readonly seconds: number;
  /** Where the times come from: processors' names, and whether it was this very study. */
  readonly from: { readonly here: boolean; readonly machines: readonly string[] };
}

interface Known {
  readonly arm: string;
  readonly model: string;
  readonly passes: number;
  readonly seconds: number;
  readonly machine: string;
}

/** @returns undefined where nothing is known of one of the models */
export function estimate(left: readonly Job[], out: string): Estimate | undefined {
  const here = knownIn(out);
  const shipped = knownIn(join(packageRoot(), 'studies', 'findings'));
  const used = new Set<readonly Known[]>();
  const machines = new Set<string>();
  const secondsOf = (recipe: Recipe): number | undefined => {
    for (const known of [here, shipped]) {
      const equal = known.filter(({ arm }) => arm === armOf(recipe));
      const alike = equal.length > 0 ? equal : known.filter(({ model }) => model === recipe.model);
      if (alike.length === 0) continue;
      used.add(known);
      for (const { machine } of alike) machines.add(machine);
      return passesOf(recipe) * (sum(alike, ({ seconds }) => seconds) / sum(alike, ({ passes }) => passes));
    }
    return undefined;
  };
  const starts = new Map<string, StartJob>(left.flatMap(({ start }) => (start === undefined ? [] : [[start.key, start] as const])));
  let seconds = 0;
  for (const { recipe } of [...left, ...starts.values()]) {
    const one = secondsOf(recipe);
    if (one === undefined) return undefined;
    seconds += one;
  }
  return { seconds, from: { here: !used.has(shipped), machines: [...machines] } };
}

/** Of all arms that have ended in a study's folder. */
function knownIn(folder: string): Known[] {
  if (!existsSync(join(folder, STUDY_FILE))) return [];
  const results = readResults(folder);
  return blocksOf(readPlans(folder)).flatMap(({ jobs }) =>
    jobs.flatMap(({ key, recipe }): Known[] => {
      const result = results.get(key);
      if (result === undefined || result.seconds <= 0 || result.diverged !== undefined) return [];
      return [
        {
          ...{ arm: armOf(recipe), model: recipe.model, passes: passesOf(recipe), seconds: result.seconds },
          machine: String(result.machine.cpu ?? 'unknown'),
        },
      ];
    }),
  );
}

/** The same for all blocks. */
const armOf = ({ name, description, seed, ...rest }: Recipe): string => hashOf(rest);

/** How often a conversation goes through the model: written, or trained on. */
function passesOf({ stages, sft, rl, evaluation, problems }: Recipe): number {
  const source = problems.evaluation;
  const evaluated = (typeof source === 'string' ? 0 : (source.count ?? 0)) * evaluation.samples * stages.length;
  const demonstrations = sft !== undefined && stages.includes('sft') && 'count' in sft.demonstrations ? sft.demonstrations.count : 0;
  const rollouts = rl !== undefined && stages.includes('rl') ? rl.steps * rl.groupsPerStep * rl.groupSize : 0;
  return 1 + evaluated + demonstrations * (sft?.epochs ?? 0) + rollouts * (1 + (rl?.epochs ?? 0));
}

const sum = <T>(values: readonly T[], of: (value: T) => number): number => values.reduce((total, value) => total + of(value), 0);
