/**
 * What `train` is asked for, and what follows from it before anything is started: the recipe, the problems, the grader and the reward.
 */
import type { Agent } from '../agents/agent.js';
import type { EventSink } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Environment } from '../environments/environment.js';
import { environmentGrader, environmentReward } from '../environments/environmentScoring.js';
import { isFileSource, loadProblems } from '../problems/load.js';
import { deriveSeed } from '../random.js';
import { loadRecipe, recipeDiff, resolveRecipe } from '../recipe/load.js';
import type { Recipe, RecipeInput } from '../recipe/schema.js';
import type { Grader } from '../reward/grader.js';
import { paperReward } from '../reward/paperReward.js';
import { gradedUnlessGiven, type RewardFunction, type Scoring, toReward, verdictOf } from '../reward/rewardFunction.js';
import { openRun } from '../runs/reader.js';
import type { Session } from '../session/session.js';
import type { Log } from '../session/withRun.js';
import type { AnyTool } from '../tools/callTool.js';
import type { Tracker } from '../trackers/tracker.js';
import { UserError } from '../userError.js';

export interface TrainOptions<P extends Problem = Problem> {
  /** A packaged name, a YAML file, or the recipe itself. */
  readonly recipe: string | RecipeInput;
  /** Assignments over the recipe, for example `rl.steps=20`. */
  readonly set?: readonly string[];
  /** The run's folder; default `runs/<name>-<time>`. */
  readonly out?: string;
  /** Go on with the run in `out`. */
  readonly resume?: boolean;
  /** Go on although the recipe changed since. */
  readonly acceptChanges?: boolean;
  /** In place of the recipe's problems. */
  readonly problems?: { readonly train: readonly P[]; readonly evaluation?: readonly P[] };
  /** In place of the tools that the recipe names; add `code_interpreter` to the recipe to keep it. */
  readonly tools?: readonly AnyTool[];
  /** Takes each rollout through by itself, in place of the built-in loop, the recipe's tools and its prompt. */
  readonly agent?: Agent<P>;
  /** What the rollouts happen in: its actions stand beside the tools, and its rewards and successes are the run's. */
  readonly environment?: Environment<P>;
  /** In place of the paper's reward. */
  readonly reward?: RewardFunction<P>;
  /** In place of the grader by the problem's kind: boxed answers, options' letters, programs judged by tests. */
  readonly grader?: Grader<P>;
  readonly onEvent?: EventSink;
  /** Where the run's numbers go beside its own folder; one that fails never stops the run. */
  readonly trackers?: readonly Tracker[];
  /** Lines for a person: set-up, deviations, warnings. */
  readonly log?: Log;
  /** How far the present work is: rollouts of a step, of an evaluation. */
  readonly onProgress?: (what: string, done: number, all: number) => void;
  /** Told where the run is kept, as soon as that is settled. */
  readonly onFolder?: (folder: string) => void;
  readonly signal?: AbortSignal;
}

export interface TrainingData<P extends Problem> {
  readonly train: readonly P[];
  readonly evaluation: readonly P[];
}

/** Held-out problems of a generator are the same in every run. */
const EVALUATION_SEED = 0;

export async function recipeOf<P extends Problem>(options: TrainOptions<P>): Promise<Recipe> {
  const { recipe, set = [] } = options;
  if (typeof recipe === 'string') return (await loadRecipe(recipe, { set })).recipe;
  if (set.length > 0) throw new UserError('`set` goes with a recipe by name or file', 'Write the values into the recipe object.');
  return resolveRecipe(recipe);
}

/** @throws UserError where the run of a folder has another recipe and that is not accepted */
export function refuseChanges(folder: string, recipe: Recipe, accept: boolean, log: Log): void {
  const run = openRun(folder);
  const changes = recipeDiff(run.info.recipe, recipe);
  const over =
    run.stages().find(({ stage, endedAt }) => stage === 'sft' && endedAt !== undefined) && changes.some(({ path }) => /^sft\b/.test(path));
  run.close();
  if (changes.length === 0) return;
  const lines = changes.map(({ path, was, is }) => `  ${path}: ${JSON.stringify(was)} -> ${JSON.stringify(is)}`).join('\n');
  if (!accept)
    throw new UserError(
      `the recipe differs from that of the run in ${folder}:\n${lines}`,
      'Take the changes back, or go on with them by --accept-changes.',
    );
  log(`going on with a changed recipe:\n${lines}`, 'warning');
  if (over) log('stage sft of this run has ended: what changed of it has no effect', 'warning');
}

/**
 * Evaluations count a rollout as right where its grader says so; in an environment, where that does; with a reward function alone, where the
 * reward is above 0.
 * @param byKind the grader where the options name none
 */
export function graderOf<P extends Problem>(
  options: Pick<TrainOptions<P>, 'grader' | 'reward' | 'environment'>,
  byKind: Grader<P>,
): Grader<P> {
  const { reward, environment } = options;
  const grader = options.grader ?? (environment && environmentGrader);
  if (grader || !reward) return gradedUnlessGiven(grader ?? byKind);
  return async (trajectory, context) => verdictOf(toReward(await reward(trajectory, context)));
}

/** @param byKind the grader where the options name none */
export function scoringOf<P extends Problem>(options: TrainOptions<P>, recipe: Recipe, byKind: Grader<P>): Scoring<P> {
  const { environment, reward: own } = options;
  if (environment) {
    const reward = own ?? environmentReward;
    return { grader: options.grader ?? environmentGrader, reward: (trajectory, _, context) => reward(trajectory, context) };
  }
  if (own) return { reward: own };
  const rules = recipe.rl?.reward;
  const reward = paperReward({
    tool: rules ? { perCall: rules.toolBonus.perCall, cap: rules.toolBonus.max } : false,
    ...(rules?.overlong && { overlong: { maxTokens: rules.overlong.maxTokens, bufferTokens: rules.overlong.cacheTokens } }),
    reference: rules?.reference ?? false,
  });
  return { grader: options.grader ?? byKind, reward };
}

/** The problems of a run, before anything is started: a bad file is told at once. */
export async function loadData<P extends Problem>(options: TrainOptions<P>, recipe: Recipe): Promise<TrainingData<P>> {
  const { problems } = options;
  const batches = recipe.rl?.dynamicSampling?.maxBatches ?? 1;
  const perRun = recipe.rl ? recipe.rl.steps * recipe.rl.groupsPerStep * batches : 1;
  // What RL chooses from is the whole file, not its beginning.
  const whole = (recipe.rl?.refresh ?? recipe.rl?.dynamicSampling) !== undefined && isFileSource(recipe.problems.train);
  const trained = async (): Promise<readonly P[]> =>
    problems?.train ??
    ((await loadProblems(recipe.problems.train, {
      split: 'train',
      seed: deriveSeed(recipe.seed, 'train'),
      ...(!whole && { count: perRun }),
    })) as P[]);
  return {
    train: recipe.stages.includes('rl') ? await trained() : [],
    evaluation: problems
      ? (problems.evaluation ?? [])
      : ((await loadProblems(recipe.problems.evaluation, { split: 'evaluation', seed: EVALUATION_SEED })) as P[]),
  };
}

/** Leaves out what is too long for the recipe's prompts. */
export const fitting = <P extends Problem>({ train, evaluation }: TrainingData<P>, session: Session): TrainingData<P> => ({
  train: train.length > 0 ? session.fitting(train, 'training') : [],
  evaluation: evaluation.length > 0 ? session.fitting(evaluation, 'evaluation') : [],
});
