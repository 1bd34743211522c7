/**
 * The training problems that RL goes on with, chosen again and again by how often the policy of the moment solves them: always and never
 * solved ones out, the rest drawn to a target distribution (paper, section 3.3). What was chosen is in the run's record, so a resumed run
 * goes on with the same stream. Does not train.
 */
import { histogramOf } from '../data/difficulty/histogram.js';
import { enoughOf, tally } from '../data/difficulty/profile.js';
import { draw } from '../data/select/draw.js';
import { bucketsOf, readTarget, type Target } from '../data/select/target.js';
import type { RefreshRecord } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Rollout } from '../domain/trajectory.js';
import type { Verdict } from '../domain/verdict.js';
import type { Trainer } from '../engine/trainer.js';
import { deriveSeed, Random } from '../random.js';
import type { Recipe, Refresh, RlStage } from '../recipe/schema.js';
import { planGroups, streamRollouts } from '../rollout/scheduler.js';
import { UserError } from '../userError.js';
import type { RlContext } from './rl.js';
import type { RunParts } from './trainingRun.js';

/** Rollouts in flight at once, where the recipe leaves it open. */
const CONCURRENCY = 192;

/** Before anything is started: a bad target is told at once. @throws UserError */
export async function refreshTarget({ rl, stages }: Recipe): Promise<Target | undefined> {
  if (!rl?.refresh || !stages.includes('rl')) return undefined;
  try {
    const target = await readTarget(rl.refresh.target);
    bucketsOf(target, rl.refresh.samples);
    return target;
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`rl.refresh: ${error.message}`, error.hint);
    throw error;
  }
}

export class Refresher<P extends Problem> {
  readonly #parts: RunParts<P>;
  readonly #trainer: Trainer;

  constructor(parts: RunParts<P>, trainer: Trainer) {
    this.#parts = parts;
    this.#trainer = trainer;
  }

  /**
   * What a step's problems are taken from; chooses anew where that is due and the record does not have it yet.
   *
   * @param step RL steps made before
   * @returns with the metrics of the choice, in the step that it was made for
   * @throws UserError where the record's problems are no longer the training problems
   */
  async streamAt(step: number): Promise<Pick<RlContext<P>, 'problems' | 'order'> & { readonly metrics?: RefreshRecord['metrics'] }> {
    const { recipe, data, writer, target } = this.#parts;
    const { rl } = recipe;
    if (!rl?.refresh || !target) return { problems: data.train };
    let records = writer.refreshes();
    if (step % rl.refresh.everySteps === 0 && !records.some((record) => record.step === step)) {
      await this.#choose(step, rl, rl.refresh, target);
      records = writer.refreshes();
    }
    const now = records.find((record) => record.step === step);
    const latest = records.filter((record) => record.step <= step && record.selected.length > 0).at(-1);
    return {
      ...(now && { metrics: now.metrics }),
      problems: latest ? latest.selected.map((one) => this.#problemOf(one)) : data.train,
      ...(latest && { order: { seed: deriveSeed(recipe.seed, 'refresh order', latest.step), from: latest.step } }),
    };
  }

  #problemOf({ index, id }: RefreshRecord['selected'][number]): P {
    const problem = this.#parts.data.train[index];
    if (problem?.id === id) return problem;
    throw new UserError(
      `training problem ${index + 1} is ${problem ? JSON.stringify(problem.id) : 'missing'}; when this run chose its problems it was ${JSON.stringify(id)}`,
      'Give the run back the training problems it began with, or start anew.',
    );
  }

  async #choose(step: number, stage: RlStage, refresh: Refresh, target: Target): Promise<void> {
    const { recipe, data, sink, log } = this.#parts;
    const started = performance.now();
    const tried = triedOf(data.train.length, refresh, recipe.seed, step);
    const accuracies = await this.#accuracies(tried, step, stage, refresh.samples);
    const size = refresh.size ?? refresh.everySteps * stage.groupsPerStep;
    const candidates = tried.map((index, i) => ({ accuracy: accuracies[i]!, rank: deriveSeed('refresh', recipe.seed, step, index) }));
    const { taken, buckets, short } = draw(candidates, bucketsOf(target, refresh.samples), size);
    const { labels, certain, unlabelled } = histogramOf(
      accuracies.map((accuracy) => ({ accuracy, n: refresh.samples })),
      refresh.samples,
    );
    const seconds = (performance.now() - started) / 1000;
    const selected = taken.map((i) => tried[i]!).map((index) => ({ index, id: data.train[index]!.id }));
    const metrics = {
      'refresh/problems': tried.length,
      'refresh/selected': selected.length,
      'refresh/solved': certain.solved,
      'refresh/unsolved': certain.unsolved,
      'refresh/lost': unlabelled,
      ...Object.fromEntries(Object.entries(labels).map(([label, count]) => [`refresh/${label}`, count])),
      'seconds/refresh': seconds,
    };
    sink({ kind: 'refresh', record: { step, selected, metrics } });
    const found = `${labels.easy} easy, ${labels.medium} medium, ${labels.hard} hard, ${certain.solved} always and ${certain.unsolved} never solved`;
    log(`problems chosen after ${step} steps: ${selected.length} of ${tried.length} (${found}) in ${seconds.toFixed(1)} s`);
    if (selected.length === 0) log('none of them can be learned from: the problems stay as they were', 'warning');
    else if (short.length > 0) {
      const lacks = buckets.filter(({ name }) => short.includes(name)).map(({ name, wanted, there }) => `${name} ${there} of ${wanted}`);
      log(`too few for the target: ${lacks.join(', ')}`, 'warning');
    }
  }

  /** Share of right rollouts of each problem that is tried, in their order; null where too few were valid. */
  async #accuracies(tried: readonly number[], step: number, stage: RlStage, samples: number): Promise<(number | null)[]> {
    const { recipe, session, data, signal, options, agent } = this.#parts;
    const plans = planGroups(
      tried.map((index) => data.train[index]!),
      samples,
      `refresh/${step}`,
    );
    const places = new Map(plans.map(({ groupId, occurrence }) => [groupId, occurrence]));
    const accuracies: (number | null)[] = tried.map(() => null);
    let done = 0;
    const sampler = await this.#trainer.publish(signal);
    const settings = { ...session.rolloutSettings(), sampler, sampling: { temperature: stage.temperature, topP: 1 } };
    await streamRollouts(plans, agent ? agent(settings) : settings, {
      runSeed: recipe.seed,
      step: `refresh ${step}`,
      concurrency: stage.concurrency === 'auto' ? CONCURRENCY : stage.concurrency,
      lockstep: recipe.engine.deterministic,
      signal,
      onRollout: () => options.onProgress?.('choosing problems', ++done, plans.length),
      onGroup: async (rollouts, groupId) => {
        const graded = await Promise.all(rollouts.map(async (rollout) => ({ rollout, verdict: await this.#verdict(rollout) })));
        const { valid, correct } = tally(graded);
        if (valid >= enoughOf(samples)) accuracies[places.get(groupId)!] = correct / valid;
      },
    });
    return accuracies;
  }

  /** A grader that breaks says nothing about the answer. @throws UserError, since it is a mistake in the problems */
  async #verdict(rollout: Rollout<P>): Promise<Verdict> {
    if (rollout.kind === 'infra') return { kind: 'infra', error: rollout.error };
    const { grader, signal } = this.#parts;
    try {
      return await grader(rollout.trajectory, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UserError) throw error;
      return { kind: 'infra', error: (error as Error).message };
    }
  }
}

/** Places of the training problems that are tried, rising. */
function triedOf(count: number, { problems }: Refresh, seed: number, step: number): number[] {
  const all = Array.from({ length: count }, (_, i) => i);
  if (problems === undefined || problems >= count) return all;
  return new Random(deriveSeed(seed, 'refresh problems', step))
    .shuffle(all)
    .slice(0, problems)
    .sort((a, b) => a - b);
}
