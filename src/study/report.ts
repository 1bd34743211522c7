/**
 * What a report of a study says, as plain values: judged claims with their arms' numbers and curves, what ran where and when. Read from the
 * study's folder alone, so that the same folder gives the same report. Knows neither HTML nor Markdown.
 */

import { existsSync } from 'node:fs';
import type { Stage } from '../domain/event.js';
import { UserError } from '../userError.js';
import type { ArmResult } from './armResult.js';
import { type Calibration, calibrationsOf } from './calibration.js';
import { counted, type Endpoint, unitOf } from './endpoint.js';
import { blocksOf, resultsOfArm } from './jobs.js';
import { type JudgedArm, type JudgedClaim, judge } from './judge.js';
import { type MixedBlock, mixedBlocks } from './mixedBlocks.js';
import type { StudyPlan } from './plan.js';
import { readPlans, readResults } from './studyFolder.js';
import { type PairedDifference, pairedDifference, type Reading, readParts } from './verdict.js';

export interface StudyReport {
  readonly folder: string;
  readonly plans: readonly StudyPlan[];
  readonly claims: readonly ReportedClaim[];
  /** Over how many claims Holm's procedure went. */
  readonly tested: number;
  readonly runs: Runs;
  readonly calibrations: readonly Calibration[];
  /** Blocks whose arms ran on different processors. */
  readonly mixed: readonly MixedBlock[];
}

export interface Runs {
  /** Arm-runs that are there, of those that the plans ask for. */
  readonly done: number;
  readonly wanted: number;
  readonly machines: readonly string[];
  readonly seeds: readonly number[];
  /** Days of the first and the last run, as ISO 8601, where they are known. */
  readonly days?: readonly [string, string];
  readonly tokens: number;
  /** Of one engine. */
  readonly seconds: number;
  /** What the arms are trained from, as their recipes name it. */
  readonly models: readonly string[];
}

export interface ReportedClaim extends JudgedClaim {
  /** In a page: unique, of letters that need no escaping. */
  readonly anchor: string;
  /** What the numbers would say if the claim stood alone. */
  readonly reading: Reading;
  readonly blocksWanted: number;
  readonly models: readonly string[];
  /** Each endpoint once, in the order of the parts. */
  readonly endpoints: readonly Endpoint[];
  readonly rows: readonly ArmRow[];
  readonly curves: readonly Curve[];
}

export interface ArmRow extends JudgedArm {
  /** Mean over its blocks, one an endpoint; undefined where there is none. */
  readonly values: readonly (PairedDifference | undefined)[];
}

/** A metric over steps, mean over blocks, with one standard error on both sides where there are two blocks or more. */
export interface Curve {
  readonly metric: string;
  readonly stage: Stage;
  /** Whether the values are shares, which are shown in points. */
  readonly points: boolean;
  readonly of: 'steps' | 'evaluations';
  readonly series: readonly { readonly arm: string; readonly points: readonly CurvePoint[] }[];
}

export interface CurvePoint {
  readonly x: number;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
}

/** @throws UserError where the folder is no study, or an empty one, or holds what this version cannot read */
export function readReport(folder: string): StudyReport {
  if (!existsSync(folder)) throw new UserError(`there is no folder ${folder}`, 'Give the folder of a study, its --out.');
  const plans = readPlans(folder);
  if (plans.length === 0) throw new UserError(`the study in ${folder} has no plan`);
  return reportOf(folder, plans, readResults(folder));
}

export function reportOf(folder: string, plans: readonly StudyPlan[], results: ReadonlyMap<string, ArmResult>): StudyReport {
  const jobs = blocksOf(plans).flatMap((block) => block.jobs);
  const used = jobs.flatMap(({ key }) => results.get(key) ?? []);
  if (used.length === 0)
    throw new UserError(
      `the study in ${folder} has no result yet: ${jobs.length} arm-runs are to be made${results.size > 0 ? `, and the ${results.size} that are there belong to none of its plans` : ''}`,
      `npx toolwise study ${folder}/plans/${plans[0]!.name}.yaml --out ${folder} makes them.`,
    );
  const claims = judge(plans, results).map((judged) => reported(plans.find(({ name }) => name === judged.plan)!, judged, results));
  const days = used.flatMap(({ ended }) => ended?.slice(0, 10) ?? []).sort();
  const sum = (of: (result: ArmResult) => number): number => used.reduce((total, result) => total + of(result), 0);
  return {
    folder,
    plans,
    claims,
    tested: claims.filter(({ verdict }) => verdict.adjusted !== undefined).length,
    calibrations: calibrationsOf(plans, claims, results),
    mixed: plans.flatMap((plan) => mixedBlocks(plan, results)),
    runs: {
      done: used.length,
      wanted: jobs.length,
      machines: distinct(
        used.map(({ machine }) =>
          Object.entries(machine)
            .map(([name, value]) => `${name} ${value}`)
            .join(', '),
        ),
      ),
      seeds: [...new Set(used.map(({ seed }) => seed))].sort((a, b) => a - b),
      ...(days.length > 0 && { days: [days[0]!, days.at(-1)!] as const }),
      tokens: sum(({ tokens }) => tokens.written),
      seconds: sum(({ seconds }) => seconds),
      models: distinct(plans.flatMap(modelsOf)),
    },
  };
}

function reported(plan: StudyPlan, judged: JudgedClaim, results: ReadonlyMap<string, ArmResult>): ReportedClaim {
  const resultsOf = (name: string): ArmResult[] => resultsOfArm(plan, name, results);
  const endpoints = distinctBy(
    judged.parts.map(({ endpoint }) => endpoint),
    (endpoint) => JSON.stringify(endpoint),
  );
  const rows = judged.arms.map((arm): ArmRow => {
    const values = endpoints.map((endpoint) => {
      const numbers = resultsOf(arm.name).flatMap((result) => counted(result, endpoint) ?? []);
      return numbers.length === 0 ? undefined : pairedDifference(numbers);
    });
    return { ...arm, values };
  });
  const curves = judged.parts.flatMap(({ endpoint, above, below }) => curveOf(endpoint, [above, below], resultsOf) ?? []);
  return {
    ...judged,
    anchor: `${plan.name}-${judged.claim.id}`,
    reading: readParts(judged.parts.map(({ reading }) => reading)),
    blocksWanted: plan.blocks,
    models: modelsOf(plan),
    ...{
      endpoints,
      rows,
      curves: together(
        curves,
        judged.arms.map(({ name }) => name),
      ),
    },
  };
}

/** One figure a metric, with every arm that a part compares in it. */
function together(curves: readonly Curve[], arms: readonly string[]): Curve[] {
  const same = (a: Curve, b: Curve): boolean => a.metric === b.metric && a.stage === b.stage && a.of === b.of;
  return curves
    .filter((curve, i) => curves.findIndex((other) => same(other, curve)) === i)
    .map((curve) => {
      const all = curves.filter((other) => same(other, curve)).flatMap(({ series }) => series);
      return { ...curve, series: arms.flatMap((arm) => all.find((one) => one.arm === arm) ?? []) };
    });
}

const modelsOf = (plan: StudyPlan): string[] => distinct(plan.start ? [plan.start.model] : plan.arms.map(({ recipe }) => recipe.model));

/** Evaluations on the way where there are some, else what training rollouts say of the same metric; undefined where there is neither. */
function curveOf(endpoint: Endpoint, arms: readonly string[], resultsOf: (arm: string) => readonly ArmResult[]): Curve | undefined {
  const { stage } = endpoint;
  const bySteps = (metric: string): Curve | undefined =>
    curve({ metric, stage, points: unitOf(metric) === 100, of: 'steps' }, arms, (arm) =>
      resultsOf(arm).map(({ curves }) => (curves[stage]?.[metric] ?? []).map((value, i) => [i + 1, value] as const)),
    );
  if (!('final' in endpoint)) return bySteps('mean' in endpoint ? endpoint.mean : endpoint.stepsTo);
  const { final: metric, evaluation } = endpoint;
  const valuesOf = ({ evaluations }: ArmResult): (readonly [number, number | null])[] =>
    evaluations
      .filter((one) => one.stage === stage && one.name === (evaluation ?? 'main'))
      .map(({ step, metrics }) => [step, metrics[metric] ?? null] as const);
  const evaluated = curve({ metric, stage, points: unitOf(metric) === 100, of: 'evaluations' }, arms, (arm) =>
    resultsOf(arm).map(valuesOf),
  );
  // of one run: ends of blocks with different numbers of steps are no curve
  const most = Math.max(0, ...arms.flatMap((arm) => resultsOf(arm).map((result) => valuesOf(result).length)));
  return most >= 3 ? evaluated : bySteps(`rollout/${metric}`);
}

function curve(
  what: Omit<Curve, 'series'>,
  arms: readonly string[],
  valuesOf: (arm: string) => readonly (readonly (readonly [number, number | null])[])[],
): Curve | undefined {
  const series = arms
    .map((arm) => ({ arm, points: meanCurve(valuesOf(arm), what.points ? 100 : 1) }))
    .filter(({ points }) => points.length > 0);
  return series.length === 0 ? undefined : { ...what, series };
}

/** @param blocks (step, value) of each block; a null is no value, and its block does not count at that step */
export function meanCurve(blocks: readonly (readonly (readonly [number, number | null])[])[], unit = 1): CurvePoint[] {
  const at = new Map<number, number[]>();
  for (const [x, value] of blocks.flat()) if (value !== null && Number.isFinite(value)) at.set(x, [...(at.get(x) ?? []), unit * value]);
  return [...at]
    .sort(([a], [b]) => a - b)
    .map(([x, values]): CurvePoint => {
      const { mean, deviation, blocks: n } = pairedDifference(values);
      const error = deviation / Math.sqrt(n);
      return { x, y: mean, ...(n > 1 && { low: mean - error, high: mean + error }) };
    });
}

const distinctBy = <T>(values: readonly T[], nameOf: (value: T) => string): T[] =>
  values.filter((value, i) => values.findIndex((other) => nameOf(other) === nameOf(value)) === i);

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];
