/**
 * The one number that an arm is judged by, read from its result; and the checks that stand before a verdict. Pure. Shares (names that are
 * listed below) come in points, so that margins can be written as people say them.
 */
import { z } from 'zod';
import type { ArmResult } from './armResult.js';

const name = z.string().min(1);
const stage = z.enum(['base', 'sft', 'rl']);
const step = z.int().positive();

export const endpointSchema = z.union([
  /** A metric of the last evaluation of a stage. */
  z.strictObject({ final: name, stage: stage.default('rl'), evaluation: name.optional() }),
  /** The mean of a curve over steps, both ends included, counted from 1: the area under it. */
  z.strictObject({ mean: name, stage: stage.default('rl'), from: step.default(1), to: step.optional() }),
  /** Steps until a curve, averaged over `window` steps, is at `reach`; one more than all steps where it never is. */
  z.strictObject({ stepsTo: name, reach: z.number(), window: step.default(3), stage: stage.default('rl') }),
]);

export type Endpoint = z.infer<typeof endpointSchema>;

export const checkSchema = z.union([
  /** The mean of a curve over the arm's steps and blocks is at least so much. Absent, the stage is rl: a default would change the hash of plans. */
  z.strictObject({ arm: name, mean: name, stage: stage.optional(), from: step.default(1), to: step.optional(), atLeast: z.number() }),
  /** Two arms differ by at least so much in the mean over blocks, whichever is above. */
  z.strictObject({ arms: z.tuple([name, name]), endpoint: endpointSchema, differBy: z.number().positive() }),
]);

export type Check = z.infer<typeof checkSchema>;

const SHARES =
  /(^|\/)(accuracy|toolSuccess|malformed|truncated|overlongShare|answered|withoutCall|zeroVariance|allWrong|deliberative|reactive|majority|accuracyOverAll|avg@\d+|pass@\d+|maj@\d+|reference (best|maj)@\d+|clip\w+)(\/|$)/;

/** Points for a share, else 1. */
export const unitOf = (metric: string): number => (SHARES.test(metric) ? 100 : 1);

/** What the endpoint is counted in, for people. */
export function unitName(endpoint: Endpoint): string {
  if ('stepsTo' in endpoint) return 'steps';
  return unitOf('final' in endpoint ? endpoint.final : endpoint.mean) === 100 ? 'points' : 'units';
}

/** A sentence for tables. */
export function describeEndpoint(endpoint: Endpoint): string {
  if ('final' in endpoint)
    return `${endpoint.final} at the end of ${endpoint.stage}${endpoint.evaluation ? ` (${endpoint.evaluation})` : ''}`;
  if ('mean' in endpoint) return `mean ${endpoint.mean} over ${endpoint.stage} steps ${endpoint.from} to ${endpoint.to ?? 'the last'}`;
  return `${endpoint.stage} steps until ${endpoint.stepsTo} is ${endpoint.reach} (mean of ${endpoint.window})`;
}

/**
 * Undefined where the result does not hold it: a typing error in a plan, or a metric that this run did not give. A diverged run counts with
 * what it had: steps it did not make keep its last value.
 */
export function endpointValue(result: ArmResult, endpoint: Endpoint): number | undefined {
  if ('final' in endpoint) {
    const found = result.evaluations.filter((one) => one.stage === endpoint.stage && (endpoint.evaluation ?? one.name) === one.name);
    const last = found.reduce<(typeof found)[number] | undefined>(
      (best, one) => (best === undefined || one.step > best.step ? one : best),
      undefined,
    );
    const value = last?.metrics[endpoint.final] ?? undefined;
    return value === undefined ? undefined : value * unitOf(endpoint.final);
  }
  const metric = 'mean' in endpoint ? endpoint.mean : endpoint.stepsTo;
  const curve = heldCurve(result, endpoint.stage, metric);
  if (curve === undefined) return undefined;
  if ('mean' in endpoint) {
    const part = curve.slice(endpoint.from - 1, endpoint.to ?? curve.length);
    if (part.length === 0) return undefined;
    return (unitOf(metric) * part.reduce((sum, value) => sum + value, 0)) / part.length;
  }
  for (let end = endpoint.window; end <= curve.length; end++) {
    const part = curve.slice(end - endpoint.window, end);
    if (part.reduce((sum, value) => sum + value, 0) / part.length >= endpoint.reach) return end;
  }
  return curve.length + 1;
}

/** The curve with its gaps filled by the value before; undefined where it has none. */
function heldCurve(result: ArmResult, stage: 'base' | 'sft' | 'rl', metric: string): number[] | undefined {
  const curve = result.curves[stage]?.[metric];
  const first = curve?.find((value) => value !== null);
  if (curve === undefined || first === undefined || first === null) return undefined;
  let held = first;
  return curve.map((value) => {
    held = value ?? held;
    return held;
  });
}

/** Shares of which less is better. */
const FAULTS = /^(malformed|truncated|withoutCall)(\/|$)/;

/** A run that diverged counts: a share of a last evaluation that was never made is as bad as it can be. */
export function counted(result: ArmResult, endpoint: Endpoint): number | undefined {
  const value = endpointValue(result, endpoint);
  if (value !== undefined || result.diverged === undefined) return value;
  if (!('final' in endpoint) || unitOf(endpoint.final) !== 100) return undefined;
  return FAULTS.test(endpoint.final) ? 100 : 0;
}

export interface CheckOutcome {
  readonly check: Check;
  /** In which all arms that it asks have ended; 0: nothing is known yet. */
  readonly blocks: number;
  readonly holds: boolean;
  /** What was found, and what was asked for. */
  readonly text: string;
}

/** @param resultsOf an arm's results, one a block */
export function checkOf(check: Check, resultsOf: (arm: string) => readonly ArmResult[]): CheckOutcome {
  const meanOver = (arm: string, endpoint: Endpoint): number | undefined => {
    const values = resultsOf(arm).map((result) => counted(result, endpoint));
    if (values.length === 0 || values.includes(undefined)) return undefined;
    return values.reduce<number>((sum, value) => sum + value!, 0) / values.length;
  };
  const blocks = Math.min(...('arm' in check ? [check.arm] : check.arms).map((arm) => resultsOf(arm).length));
  if ('arm' in check) {
    const { arm, mean, stage = 'rl', from, to, atLeast } = check;
    const value = meanOver(arm, { mean, stage, from, ...(to !== undefined && { to }) });
    const share = value === undefined ? undefined : value / unitOf(mean);
    const found = share === undefined ? 'was not measured' : `is ${Number(share.toPrecision(3))}`;
    return {
      check,
      blocks,
      holds: share !== undefined && share >= atLeast,
      text: `${mean} of ${arm}${check.stage ? ` in ${stage}` : ''} ${found}; at least ${atLeast} is needed`,
    };
  }
  const [first, second] = check.arms.map((arm) => meanOver(arm, check.endpoint));
  const difference = first === undefined || second === undefined ? undefined : Math.abs(first - second);
  const found = difference === undefined ? 'was not measured' : `differs by ${Number(difference.toPrecision(3))}`;
  return {
    check,
    blocks,
    holds: difference !== undefined && difference >= check.differBy,
    text: `${describeEndpoint(check.endpoint)} of ${check.arms.join(' and ')} ${found}; ${check.differBy} ${unitName(check.endpoint)} are needed`,
  };
}
