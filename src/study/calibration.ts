/**
 * What a study can tell apart, from its own runs: where its policies begin (floor), how far the best arm comes (ceiling), and how much blocks
 * and the differences within them scatter (noise). One for all plans that share a start. Pure.
 */
import type { ArmResult } from './armResult.js';
import { counted, describeEndpoint, type Endpoint, endpointValue, unitName } from './endpoint.js';
import { hashOf } from './hash.js';
import { resultsOfArm } from './jobs.js';
import type { JudgedClaim } from './judge.js';
import type { StudyPlan } from './plan.js';
import { studentQuantile } from './student.js';
import { type PairedDifference, pairedDifference } from './verdict.js';

export interface Calibration {
  readonly plans: readonly string[];
  /** Share right of the first step's rollouts, which the start itself makes, over blocks and in points; undefined without RL. */
  readonly floor: PairedDifference | undefined;
  /** The arm that ends highest in `accuracy` of the main evaluation, over blocks and in points. */
  readonly ceiling: { readonly arm: string; readonly plan: string; readonly value: PairedDifference } | undefined;
  readonly noise: readonly Noise[];
  /** Standard deviation in points of one evaluation at the ceiling by the draw of its rollouts alone. */
  readonly evaluation: { readonly problems: number; readonly samples: number; readonly deviation: number } | undefined;
}

/** Of one endpoint, in its units, pooled over arms or over the pairs that claims compare. */
export interface Noise {
  readonly endpoint: string;
  readonly unit: string;
  /** Standard deviation of an arm over blocks. */
  readonly betweenBlocks: number;
  /** Of the difference of two arms within a block. */
  readonly ofDifferences: number;
  readonly blocks: number;
  /** Half the width of a 95 % interval at that many blocks. */
  readonly reach: number;
}

const FIRST: Endpoint = { mean: 'rollout/accuracy', stage: 'rl', from: 1, to: 1 };

/** Plans without two blocks of anything are left out. */
export function calibrationsOf(
  plans: readonly StudyPlan[],
  claims: readonly JudgedClaim[],
  results: ReadonlyMap<string, ArmResult>,
): Calibration[] {
  const groups = new Map<string, StudyPlan[]>();
  for (const plan of plans) {
    const key = plan.start === undefined ? plan.name : hashOf({ start: plan.start, stages: plan.arms[0]!.recipe.stages });
    groups.set(key, [...(groups.get(key) ?? []), plan]);
  }
  return [...groups.values()].flatMap((group) => {
    const calibration = calibrationOf(
      group,
      claims.filter(({ plan }) => group.some(({ name }) => name === plan)),
      results,
    );
    return calibration.noise.length > 0 ? [calibration] : [];
  });
}

function calibrationOf(plans: readonly StudyPlan[], claims: readonly JudgedClaim[], results: ReadonlyMap<string, ArmResult>): Calibration {
  const arms = plans.flatMap((plan) => plan.arms.map((arm) => ({ plan, arm, results: resultsOfArm(plan, arm.name, results) })));
  const ends = arms.flatMap(({ plan, arm, results: own }) => {
    const stage = plan.arms.some(({ recipe }) => recipe.stages.includes('rl')) ? 'rl' : 'sft';
    const values = own.flatMap((result) => counted(result, { final: 'accuracy', stage, evaluation: 'main' }) ?? []);
    return values.length < 2 ? [] : [{ arm: arm.name, plan: plan.name, recipe: arm.recipe, value: pairedDifference(values) }];
  });
  const best = ends.reduce<(typeof ends)[number] | undefined>(
    (high, one) => (high === undefined || one.value.mean > high.value.mean ? one : high),
    undefined,
  );
  const floors = blockMeans(arms.flatMap(({ results: own }) => own));
  return {
    plans: plans.map(({ name }) => name),
    floor: floors.length < 2 ? undefined : pairedDifference(floors),
    ceiling: best && { arm: best.arm, plan: best.plan, value: best.value },
    noise: noiseOf(plans, claims, results),
    evaluation: best && evaluationOf(best.recipe, best.value.mean / 100),
  };
}

/** Arms of a block begin alike: their first steps are one sample. */
function blockMeans(results: readonly ArmResult[]): number[] {
  const bySeed = new Map<number, number[]>();
  for (const result of new Map(results.map((one) => [one.key, one])).values()) {
    const value = endpointValue(result, FIRST);
    if (value !== undefined) bySeed.set(result.seed, [...(bySeed.get(result.seed) ?? []), value]);
  }
  return [...bySeed.values()].map((values) => values.reduce((sum, value) => sum + value, 0) / values.length);
}

interface Compared {
  readonly endpoint: Endpoint;
  /** Values over blocks, by what the arm is whatever it is called. */
  readonly arms: Map<string, readonly number[]>;
  readonly differences: PairedDifference[];
}

function noiseOf(plans: readonly StudyPlan[], claims: readonly JudgedClaim[], results: ReadonlyMap<string, ArmResult>): Noise[] {
  const endpoints = new Map<string, Compared>();
  for (const claim of claims) {
    const plan = plans.find(({ name }) => name === claim.plan)!;
    for (const { endpoint, above, below, difference } of claim.parts) {
      const name = describeEndpoint(endpoint);
      const found: Compared = endpoints.get(name) ?? { endpoint, arms: new Map(), differences: [] };
      endpoints.set(name, found);
      if (difference.blocks > 1) found.differences.push(difference);
      for (const arm of [above, below]) {
        const own = resultsOfArm(plan, arm, results);
        const values = own.flatMap((result) => counted(result, endpoint) ?? []);
        if (values.length > 1) found.arms.set(own[0]!.key, values);
      }
    }
  }
  return [...endpoints].flatMap(([name, { endpoint, arms, differences }]) => {
    if (arms.size === 0 || differences.length === 0) return [];
    const blocks = Math.max(...differences.map((difference) => difference.blocks));
    const ofDifferences = pooled(differences);
    return [
      {
        endpoint: name,
        unit: unitName(endpoint),
        betweenBlocks: pooled([...arms.values()].map(pairedDifference)),
        ofDifferences,
        blocks,
        reach: (studentQuantile(0.975, blocks - 1) * ofDifferences) / Math.sqrt(blocks),
      },
    ];
  });
}

/** Root of the mean variance, each by its degrees of freedom. */
function pooled(samples: readonly PairedDifference[]): number {
  const freedom = samples.reduce((sum, { blocks }) => sum + blocks - 1, 0);
  return Math.sqrt(samples.reduce((sum, { deviation, blocks }) => sum + (blocks - 1) * deviation ** 2, 0) / freedom);
}

function evaluationOf(
  { problems, evaluation: { samples } }: StudyPlan['arms'][number]['recipe'],
  share: number,
): Calibration['evaluation'] {
  const source = problems.evaluation;
  const count = typeof source === 'string' ? undefined : source.count;
  if (count === undefined) return undefined;
  return { problems: count, samples, deviation: 100 * Math.sqrt((share * (1 - share)) / (count * samples)) };
}
