/** What one arm came to in one block: small enough to be kept as JSON in a repository. Made from a run's store; knows no claims. */
import { z } from 'zod';
import type { EvaluationRecord, Metrics, Stage } from '../domain/event.js';

export interface ArmResult {
  /** Version of this layout. */
  readonly format: 1;
  readonly arm: string;
  /** Hash of everything that decides the run: resolved recipe, start, block's seed. Equal keys are one run. */
  readonly key: string;
  readonly block: number;
  readonly seed: number;
  /** By stage and name, one value a step in order; null where it was not a finite number or the run ended before. */
  readonly curves: Partial<Record<Stage, Readonly<Record<string, readonly (number | null)[]>>>>;
  /** Steps that the stage was to make. */
  readonly steps: Partial<Record<Stage, number>>;
  readonly evaluations: readonly Evaluated[];
  /** Why the run ended before its end through its own fault, for example a loss that is not a number. It counts with what it had. */
  readonly diverged?: string;
  /** Rollouts that infrastructure took. */
  readonly lost: number;
  /** Tokens that the policy wrote and that were trained on. */
  readonly tokens: { readonly written: number; readonly trained: number };
  readonly seconds: number;
  /** For example `{ cpu, cores, toolwise }`. A block stays on one machine. */
  readonly machine: Readonly<Record<string, string | number>>;
  /** When its last stage ended, as ISO 8601; absent in results that were made by hand. */
  readonly ended?: string;
}

export interface Evaluated {
  readonly name: string;
  readonly stage: Stage;
  readonly step: number;
  readonly metrics: Readonly<Record<string, number | null>>;
}

const values = z.record(z.string(), z.number().nullable());

/** What readers count on in a file; further keys are left alone. */
const armResultSchema = z.looseObject({
  format: z.literal(1),
  arm: z.string(),
  key: z.string(),
  block: z.int(),
  seed: z.int(),
  curves: z.record(z.string(), z.record(z.string(), z.array(z.number().nullable()))),
  steps: z.record(z.string(), z.number()),
  evaluations: z.array(z.looseObject({ name: z.string(), stage: z.string(), step: z.int(), metrics: values })),
  diverged: z.string().optional(),
  lost: z.number(),
  tokens: z.looseObject({ written: z.number(), trained: z.number() }),
  seconds: z.number(),
  machine: z.record(z.string(), z.union([z.string(), z.number()])),
  ended: z.string().optional(),
});

/**
 * A result as its file has it, or what is wrong with the file, to be said after its name.
 * @param key that the file is named by
 */
export function parseResult(text: string, key: string): ArmResult | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `is not JSON: ${(error as Error).message}`;
  }
  const { error } = armResultSchema.safeParse(value);
  if (error) return `is not a result of this version: ${z.prettifyError(error)}`;
  const result = value as ArmResult;
  return result.key === key ? result : `holds the result of another arm, whose key is ${result.key.slice(0, 40)}`;
}

/** Digits that are kept: results are read by people and compared by machines at 1e-4. */
const DIGITS = 6;

/** @param steps metrics of each ended step, in order */
export function curvesOf(
  steps: readonly { readonly step: number; readonly metrics: Metrics }[],
  planned: number,
): Record<string, (number | null)[]> {
  const names = new Set(steps.flatMap(({ metrics }) => Object.keys(metrics)));
  const curves: Record<string, (number | null)[]> = {};
  for (const name of [...names].sort()) curves[name] = new Array<number | null>(planned).fill(null);
  for (const { step, metrics } of steps)
    for (const [name, value] of Object.entries(metrics)) if (step < planned) curves[name]![step] = short(value);
  return curves;
}

export const evaluatedOf = ({ name, stage, step, metrics }: EvaluationRecord): Evaluated => ({
  name,
  stage,
  step,
  metrics: Object.fromEntries(Object.entries(metrics).map(([key, value]) => [key, short(value)])),
});

const short = (value: number): number | null => (Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null);
