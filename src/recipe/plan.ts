/**
 * How long a run will take and how much disk its checkpoints need, for `--dry-run`: from what an earlier run of the same model measured
 * here, else from a small table. Estimates, which say what they rest on and how wrong they may be. Starts nothing and measures nothing.
 */
import { bytes, checkpointBytes, type ModelFacts } from './memory.js';
import type { Recipe } from './schema.js';

/** What a run of the same model came to on this machine. */
export interface MeasuredSpeed {
  readonly run: string;
  /** Tokens of the model that were sampled a second, waiting for tools included. */
  readonly generation?: number;
  /** Trained tokens a second, the recomputing of old log-probs included. */
  readonly training?: number;
  /** The same of SFT. */
  readonly sftTraining?: number;
  /** Of the model, mean of a rollout. */
  readonly tokensPerRollout?: number;
  /** Trained tokens, mean of a demonstration. */
  readonly tokensPerDemonstration?: number;
}

export interface Machine {
  readonly cores: number;
  /** Whether there is a GPU that `engine.device: auto` may take. */
  readonly gpu: boolean;
  readonly freeDisk: number;
  /** Where runs are kept. */
  readonly folder: string;
}

/** Seconds; a part that cannot be told is absent. */
export interface TimeNeed {
  readonly step?: { readonly generation: number; readonly training: number };
  readonly rl?: number;
  readonly sft?: number;
  readonly evaluation?: number;
  /** Rollouts and demonstrations were taken at their limits: no measurement says how long they are. */
  readonly bound: boolean;
}

/** Arithmetic that a core does a second, and tokens above which small models do not come: of x86 cores with bfloat16 in hardware, by runs of
 * nano and SmolLM2-135M. */
const TABLE = { generation: 27e9, training: 67e9, mostGenerated: 1900, mostTrained: 6300 } as const;
/** Operations a weight and token: a pass is 2, forward and backward 6. */
const PASS = 2;
const TRAINING = 6;

/** Where the embedded engine is going to compute, as far as can be told without starting it. */
export function computesOn({ engine }: Pick<Recipe, 'engine'>, gpu: boolean): 'cpu' | 'cuda' {
  return engine.device === 'cuda' || (engine.device === 'auto' && gpu) ? 'cuda' : 'cpu';
}

/** Operations a weight and trained token: forward and backward, and the passes for old log-probs and the reference of a KL term. */
export function trainingWork({ rl }: Pick<Recipe, 'rl'>): number {
  const recomputed = rl?.algorithm.oldLogProbs === 'trainer' ? PASS : 0;
  const reference = rl && rl.algorithm.klCoefficient > 0 ? PASS : 0;
  return TRAINING + recomputed + reference;
}

/** @param facts of the model; without them and without a measurement there is no estimate */
export function estimateTime(recipe: Recipe, cores: number, facts?: ModelFacts, measured?: MeasuredSpeed): TimeNeed | undefined {
  const generation = measured?.generation ?? tabulated(facts, cores, 'generation', PASS);
  const training = measured?.training ?? tabulated(facts, cores, 'training', trainingWork(recipe));
  const sftTraining = measured?.sftTraining ?? tabulated(facts, cores, 'training', TRAINING);
  if (generation === undefined || training === undefined || sftTraining === undefined) return undefined;
  const { rl, sft, stages, limits } = recipe;
  const perRollout = Math.min(measured?.tokensPerRollout ?? Number.POSITIVE_INFINITY, limits.responseTokens);
  let bound = measured?.tokensPerRollout === undefined;
  const need: { -readonly [K in keyof TimeNeed]: TimeNeed[K] } = { bound };
  if (rl && stages.includes('rl')) {
    const tokens = rl.groupsPerStep * rl.groupSize * perRollout;
    const step = { generation: tokens / generation, training: (tokens * rl.epochs) / training };
    need.step = step;
    need.rl = rl.steps * (step.generation + step.training);
  }
  if (sft && stages.includes('sft') && 'count' in sft.demonstrations) {
    const longest = Math.min(sft.maxTokens, limits.promptTokens + limits.responseTokens);
    const tokens = Math.min(measured?.tokensPerDemonstration ?? Number.POSITIVE_INFINITY, longest);
    bound ||= measured?.tokensPerDemonstration === undefined;
    need.sft = (sft.epochs * sft.demonstrations.count * tokens) / sftTraining;
  }
  const problems = countOf(recipe.problems.evaluation);
  if (problems !== undefined) {
    need.evaluation = (evaluations(recipe) * problems * recipe.evaluation.samples * perRollout) / generation;
  }
  return { ...need, bound };
}

function tabulated(facts: ModelFacts | undefined, cores: number, kind: 'generation' | 'training', operations: number): number | undefined {
  if (facts === undefined) return undefined;
  const most = kind === 'generation' ? TABLE.mostGenerated : TABLE.mostTrained;
  return cores * Math.min(most, TABLE[kind] / (operations * facts.parameters));
}

function countOf(source: Recipe['problems']['evaluation']): number | undefined {
  return typeof source === 'string' ? undefined : source.count;
}

function evaluations({ evaluation, stages, rl }: Recipe): number {
  const between = evaluation.everySteps > 0 && rl && stages.includes('rl') ? Math.floor((rl.steps - 1) / evaluation.everySteps) : 0;
  return (evaluation.base ? 1 : 0) + stages.length + between;
}

/** Time and disk as text. */
export function planLines(recipe: Recipe, machine: Machine, facts?: ModelFacts, measured?: MeasuredSpeed): string[] {
  if (recipe.engine.url !== undefined) return ['Time and disk: not estimated, another server computes and keeps the checkpoints'];
  return [...timeLines(recipe, machine, facts, measured), ...(facts ? diskLines(recipe, machine, facts) : [])];
}

function timeLines(recipe: Recipe, { cores, gpu }: Machine, facts?: ModelFacts, measured?: MeasuredSpeed): string[] {
  if (computesOn(recipe, gpu) === 'cuda' && !measured) return ['Time: not estimated, no run on a GPU has been measured here'];
  const used = recipe.engine.threads === 'auto' ? cores : Math.min(cores, recipe.engine.threads);
  const need = estimateTime(recipe, used, facts, measured);
  if (!need) return ['Time: not estimated, the size of the model is not known yet'];
  const most = need.bound ? 'at most ' : 'about ';
  const { step, rl, sft, evaluation } = need;
  const parts = [
    ...(sft === undefined ? [] : [`sft ${duration(sft)}`]),
    ...(rl === undefined ? [] : [`rl ${duration(rl)}`]),
    ...(evaluation === undefined ? [] : [`evaluation ${duration(evaluation)}`]),
  ];
  const unknown = [
    ...(recipe.stages.includes('sft') && sft === undefined ? ['sft'] : []),
    ...(evaluation === undefined ? ['evaluation'] : []),
  ];
  return [
    ...(step
      ? [
          `Time of a step: ${most}${duration(step.generation + step.training)} (rollouts ${duration(step.generation)}, training ${duration(step.training)})`,
        ]
      : []),
    ...(parts.length === 0
      ? []
      : [`Time of the run: ${most}${duration((sft ?? 0) + (rl ?? 0) + (evaluation ?? 0))} (${parts.join(', ')})${besides(unknown)}`]),
    `  ${basis(used, need.bound, measured)}`,
  ];
}

const besides = (unknown: readonly string[]): string =>
  unknown.length === 0 ? '' : `, ${unknown.join(' and ')} besides: how much there is stands in a file`;

function basis(cores: number, bound: boolean, measured: MeasuredSpeed | undefined): string {
  const limits = bound ? '; rollouts or demonstrations are taken at their limits, most end earlier' : '';
  if (measured === undefined) {
    return `from a table for ${cores} core${cores === 1 ? '' : 's'}, nothing is measured here: another processor may differ by a factor of 3, more without bfloat16 in hardware${limits}`;
  }
  const figures = [
    ...(measured.generation === undefined ? [] : [`${Math.round(measured.generation)} sampled`]),
    ...(measured.training === undefined ? [] : [`${Math.round(measured.training)} trained`]),
    ...(measured.sftTraining === undefined ? [] : [`${Math.round(measured.sftTraining)} trained in sft`]),
  ];
  return `from ${measured.run}: ${figures.join(', ')} tokens a second; mostly right to a third while the machine is as free and answers stay as long${limits}`;
}

function diskLines(recipe: Recipe, { freeDisk, folder }: Machine, facts: ModelFacts): string[] {
  const one = checkpointBytes(recipe, facts);
  // The newest, the best, the end of each stage; one more while it is written.
  const count = recipe.checkpoints.keep + 1 + recipe.stages.length + 1;
  const short = one * count > freeDisk ? ': not enough' : '';
  return [`Disk: up to ${count} checkpoints of ${bytes(one)}, ${bytes(one * count)} in all; ${bytes(freeDisk)} free at ${folder}${short}`];
}

/** As text, to the unit that matters. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${seconds < 9.95 ? Number(seconds.toPrecision(2)) : Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Number((seconds / 3600).toPrecision(2))} h`;
  return `${Math.round(seconds / 86_400).toLocaleString('en-US')} days`;
}
