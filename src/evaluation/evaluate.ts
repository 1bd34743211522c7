/**
 * Measures a policy on held-out problems: rollouts under one or more samplings (all at once, so that the engine's batch stays full),
 * grading, metrics with intervals. Does not train and does not choose problems.
 */
import type { EventSink, Metrics, Stage } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Rollout, Trajectory } from '../domain/trajectory.js';
import type { Verdict } from '../domain/verdict.js';
import type { Sampler } from '../engine/sampler.js';
import { deriveSeed } from '../random.js';
import type { Grader } from '../reward/grader.js';
import type { RolloutAgent } from '../rollout/endpointAgent.js';
import type { RolloutSettings } from '../rollout/episode.js';
import { planGroups, type RolloutPlan, runRollouts } from '../rollout/scheduler.js';
import { type RolloutStatistics, rolloutStatistics } from '../rollout/statistics.js';
import { type Accuracy, accuracy, type Figure, powersUpTo, type Sample } from './metrics.js';
import { type Modes, modesOf } from './modes.js';

/** One way to sample, under its own name in the tables. */
export interface SamplingSetting {
  readonly name: string;
  readonly samples: number;
  readonly temperature: number;
  readonly topP: number;
  /** Absent: all tokens. */
  readonly topK?: number;
}

/** Who answers: a policy that is sampled token by token, or an agent that runs each rollout by itself. */
export type Answerer =
  | { readonly sampler: Sampler; readonly rollout: Omit<RolloutSettings, 'sampler' | 'sampling'>; readonly agent?: never }
  | { readonly agent: RolloutAgent };

export type EvaluationInput<P extends Problem> = EvaluationTask<P> & Answerer;

interface EvaluationTask<P extends Problem> {
  readonly problems: readonly P[];
  readonly settings: readonly SamplingSetting[];
  readonly grader: Grader<P>;
  readonly stage: Stage;
  /** Training steps made before. */
  readonly step: number;
  /** Evaluations of one seed ask the same questions under the same random numbers, so that stages can be compared. */
  readonly seed: number;
  /** Rollouts in flight at once, over all settings. */
  readonly concurrency: number;
  readonly lockstep: boolean;
  readonly sink: EventSink;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

export interface EvaluationResult<P extends Problem = Problem> {
  readonly setting: SamplingSetting;
  /** avg@n, pass@k and maj@n with 95 % intervals over problems: over the rollouts that infrastructure left us, and over all. */
  readonly accuracy: Accuracy;
  readonly statistics: RolloutStatistics;
  /** Deliberative and reactive rollouts (paper, section 5). */
  readonly modes: Modes;
  readonly seconds: number;
  readonly rollouts: readonly GradedRollout<P>[];
}

export interface GradedRollout<P extends Problem = Problem> {
  readonly trajectory: Trajectory<P>;
  readonly verdict: Verdict;
}

/**
 * Evaluates under every setting, in one pool of rollouts so that the engine's batch stays full to the end; results in the settings' order.
 * In lockstep one setting follows the other, since a batch must not depend on what else is running.
 */
export async function evaluatePolicy<P extends Problem>(input: EvaluationInput<P>): Promise<EvaluationResult<P>[]> {
  const all = input.settings.reduce((sum, { samples }) => sum + samples * input.problems.length, 0);
  let done = 0;
  const tick = (): void => input.onProgress?.(++done, all);
  if (!input.lockstep) return evaluateTogether(input, input.settings, tick);
  const results: EvaluationResult<P>[] = [];
  for (const setting of input.settings) results.push(...(await evaluateTogether(input, [setting], tick)));
  return results;
}

async function evaluateTogether<P extends Problem>(
  input: EvaluationInput<P>,
  settings: readonly SamplingSetting[],
  onRollout: () => void,
): Promise<EvaluationResult<P>[]> {
  const started = performance.now();
  const plansOf = settings.map((setting, i) => {
    const { temperature, topP, topK } = setting;
    const sampling = { temperature, topP, ...(topK !== undefined && { topK }) };
    const plans = planGroups(input.problems, setting.samples, `${input.stage}/${input.step}/${setting.name}`);
    return plans.map((plan) => ({
      ...plan,
      occurrence: i * input.problems.length + plan.occurrence,
      // Every stage and every setting begins an environment alike.
      startSeed: deriveSeed(input.seed, 'start', plan.occurrence),
      sampling,
    }));
  });
  const verdicts = new Map<string, Verdict>();
  const rollouts = await runRollouts(
    plansOf.flat(),
    input.agent ?? { ...input.rollout, sampler: input.sampler, sampling: settings[0] ?? { temperature: 1, topP: 1 } },
    {
      runSeed: input.seed,
      step: `evaluation ${settings.map(({ name }) => name).join(' ')}`,
      concurrency: input.concurrency,
      lockstep: input.lockstep,
      signal: input.signal,
      onRollout,
      onGroup: async (group) => {
        for (const rollout of group) {
          if (rollout.kind === 'infra') continue;
          verdicts.set(rollout.trajectory.trajectoryId, await input.grader(rollout.trajectory, { signal: input.signal }));
        }
      },
    },
  );
  const seconds = (performance.now() - started) / 1000;
  let from = 0;
  return settings.map((setting, i) => {
    const plans = plansOf[i]!;
    const own = rollouts.slice(from, from + plans.length);
    from += plans.length;
    return resultOf(input, setting, plans, own, verdicts, seconds);
  });
}

function resultOf<P extends Problem>(
  input: EvaluationInput<P>,
  setting: SamplingSetting,
  plans: readonly RolloutPlan<P>[],
  rollouts: readonly Rollout<P>[],
  verdicts: ReadonlyMap<string, Verdict>,
  seconds: number,
): EvaluationResult<P> {
  const graded: GradedRollout<P>[] = [];
  const samplesOf = new Map<string, Sample[]>(plans.map(({ groupId }) => [groupId, []]));
  for (const [i, rollout] of rollouts.entries()) {
    const verdict = rollout.kind === 'finished' ? verdicts.get(rollout.trajectory.trajectoryId) : undefined;
    const own = samplesOf.get(plans[i]!.groupId)!;
    if (rollout.kind !== 'finished' || verdict?.kind !== 'graded') {
      own.push({ kind: 'infra' });
      continue;
    }
    const { trajectory } = rollout;
    graded.push({ trajectory, verdict });
    own.push({ kind: 'graded', correct: verdict.correct, ...(verdict.extracted !== undefined && { answer: verdict.extracted }) });
    input.sink({ kind: 'trajectory', record: { stage: input.stage, step: input.step, split: setting.name, trajectory, verdict } });
  }
  const perProblem = [...samplesOf].map(([groupId, own], i) => ({ problemId: input.problems[i]?.id ?? groupId, samples: own }));
  const result: EvaluationResult<P> = {
    setting,
    accuracy: accuracy(perProblem, { seed: input.seed, passAt: powersUpTo(setting.samples) }),
    statistics: rolloutStatistics(graded.map(({ trajectory }) => trajectory)),
    modes: modesOf(graded.map(({ trajectory }) => trajectory)),
    seconds,
    rollouts: graded,
  };
  input.sink({ kind: 'evaluation', record: { name: setting.name, stage: input.stage, step: input.step, metrics: metricsOf(result) } });
  return result;
}

/** Everything of a result that is one number, for the store. */
export function metricsOf(result: EvaluationResult): Metrics {
  const { statistics, setting } = result;
  const { valid, all, problems, infra } = result.accuracy;
  return {
    // Nothing valid: no number, rather than a wrong one.
    ...(valid && {
      accuracy: valid.average.value,
      intervalLow: valid.average.interval.low,
      intervalHigh: valid.average.interval.high,
      majority: valid.majority.value,
      ...named('pass@', valid.passAt),
      ...named('maj@', valid.majorityAt),
      ...named('reference best@', valid.referenceBestAt),
      ...named('reference maj@', valid.referenceMajorityAt),
      deliberative: result.modes.deliberative.share,
      reactive: result.modes.reactive.share,
      ...accuracyByLevel(result.rollouts),
    }),
    ...(all && { accuracyOverAll: all.average.value }),
    problems,
    samples: setting.samples,
    lost: infra,
    callsPerRollout: statistics.callsPerRollout,
    ...(Number.isFinite(statistics.toolSuccess) && { toolSuccess: statistics.toolSuccess }),
    malformed: statistics.malformed,
    truncated: statistics.truncated,
    withoutCall: statistics.withoutCall,
    turnsPerRollout: statistics.turnsPerRollout,
    tokensPerTurn: statistics.tokensPerTurn,
    modelTokens: statistics.modelTokensPerRollout,
    responseTokens: statistics.responseTokensPerRollout,
    // Under another sampling the estimate would be of something else.
    ...(setting.temperature === 1 && setting.topP === 1 && setting.topK === undefined && finite('entropy', statistics.entropyEstimate)),
    temperature: result.setting.temperature,
    topP: result.setting.topP,
    ...(result.setting.topK !== undefined && { topK: result.setting.topK }),
    seconds: result.seconds,
  };
}

const finite = (name: string, value: number): Metrics => (Number.isFinite(value) ? { [name]: value } : {});

/** `accuracy/level=1` and so on, for problems that carry a level: the share of right rollouts of each, where there are several. */
export function accuracyByLevel(rollouts: readonly GradedRollout[]): Metrics {
  const levels = new Map<string, { right: number; all: number }>();
  for (const { trajectory, verdict } of rollouts) {
    const level = trajectory.problem.tags?.level;
    if (level === undefined || verdict.kind !== 'graded') continue;
    const found = levels.get(String(level)) ?? { right: 0, all: 0 };
    levels.set(String(level), { right: found.right + (verdict.correct ? 1 : 0), all: found.all + 1 });
  }
  if (levels.size < 2) return {};
  return Object.fromEntries([...levels].sort().map(([level, { right, all }]) => [`accuracy/level=${level}`, right / all]));
}

const named = (prefix: string, figures: Readonly<Record<number, Figure>>): Record<string, number> =>
  Object.fromEntries(Object.entries(figures).map(([k, { value }]) => [`${prefix}${k}`, value]));
