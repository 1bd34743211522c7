/**
 * Measures how often a policy solves each problem of a pool: n rollouts a problem, those that were graded before taken from the cache.
 * Reads the pool twice, first for the estimate, and holds one portion of it at a time. Draws no conclusions: see `select/`.
 */
import type { Problem } from '../../domain/problem.js';
import { modelTokens } from '../../domain/trajectory.js';
import type { Policy } from '../../session/policy.js';
import type { DifficultyCache, KnownRollout, MeasurementKey, Pace } from './cache.js';
import { type Histogram, histogramOf } from './histogram.js';
import type { Pool } from './pool.js';
import { hashOf, problemHash } from './problemHash.js';
import { enoughOf, type ProfileRow, profileRow, type Tally } from './profile.js';

export interface MeasureOptions {
  /** Rollouts a problem; the paper takes 8. */
  readonly samples: number;
  readonly temperature: number;
  readonly topP: number;
  readonly seed: number;
  /** Valid rollouts below which a problem stays without a label. Default: half, rounded up. */
  readonly enough?: number;
  readonly cache: DifficultyCache;
  /** Rollouts in flight at once. */
  readonly concurrency?: number;
  /** Problems held at a time. Default 1024. */
  readonly portion?: number;
  readonly signal: AbortSignal;
  readonly onEstimate?: (estimate: Estimate) => void;
  readonly onProgress?: (done: number, all: number) => void;
  /** In the order of the pool. Awaited. */
  readonly onRow: (row: ProfileRow) => void | Promise<void>;
}

export interface Estimate {
  readonly problems: number;
  /** Of these, with all rollouts in the cache. */
  readonly known: number;
  /** Rollouts to sample. */
  readonly rollouts: number;
  /** Tokens of all prompts to sample from, from the first ones; absent at an endpoint. */
  readonly promptTokens?: number;
  /** Tokens of the responses, at most. */
  readonly mostTokens: number;
  /** From earlier measurements of the same kind. */
  readonly expected?: { readonly tokens: number; readonly seconds: number };
}

export interface Measured {
  readonly problems: number;
  /** Problems taken from the cache. */
  readonly known: number;
  /** Problems left out because their prompt is too long. */
  readonly tooLong: number;
  /** What was sampled now. */
  readonly pace: Pace;
  /** Rollouts lost to infrastructure, now and in what the cache has. */
  readonly lost: number;
  readonly histogram: Histogram;
  /** Hash of prompt, tools, limits and sampling, as in each row. */
  readonly settings: string;
}

const PORTION = 1024;
/** Prompts that the estimate counts. */
const COUNTED_PROMPTS = 64;

/**
 * Rollouts that infrastructure took are not in the cache: the next measurement samples them again.
 * @throws what sampling throws; every rollout that was graded until then is in the cache
 */
export async function measureDifficulty(policy: Policy, pool: Pool, options: MeasureOptions): Promise<Measured> {
  const measurement = new Measurement(policy, options);
  await measurement.estimate(pool);
  let portion: Problem[] = [];
  for await (const { problem } of pool.rows()) {
    portion.push(problem);
    if (portion.length < (options.portion ?? PORTION)) continue;
    await measurement.portion(portion);
    portion = [];
  }
  await measurement.portion(portion);
  return measurement.result();
}

class Measurement {
  readonly #key: MeasurementKey;
  readonly #settings: string;
  readonly #accuracies: { accuracy: number | null; n: number }[] = [];
  #rollouts = 0;
  #tokens = 0;
  #seconds = 0;
  #planned = 0;
  #known = 0;
  #tooLong = 0;
  #lost = 0;

  constructor(
    private readonly policy: Policy,
    private readonly options: MeasureOptions,
  ) {
    const { samples, temperature, topP, seed } = options;
    const { fingerprint, settings } = policy;
    this.#key = { fingerprint, settings, temperature, topP, seed };
    this.#settings = hashOf({ settings, samples, temperature, topP });
  }

  async estimate(pool: Pool): Promise<void> {
    const { policy, options } = this;
    const incomplete = new Set<string>();
    let problems = 0;
    let known = 0;
    let counted = 0;
    let countedTokens: number | undefined = 0;
    for await (const { problem } of pool.rows()) {
      problems++;
      const hash = problemHash(problem);
      const missing = incomplete.has(hash) ? 0 : options.samples - this.#graded(hash).length;
      if (missing === 0) {
        if (!incomplete.has(hash)) known++;
        continue;
      }
      incomplete.add(hash);
      this.#planned += missing;
      if (counted === COUNTED_PROMPTS || countedTokens === undefined) continue;
      const tokens = policy.promptTokens(problem);
      counted++;
      countedTokens = tokens === undefined ? undefined : countedTokens + tokens;
    }
    const pace = options.cache.pace(this.#key);
    options.onEstimate?.({
      problems,
      known,
      rollouts: this.#planned,
      ...(countedTokens !== undefined && counted > 0 && { promptTokens: Math.round((countedTokens / counted) * this.#planned) }),
      mostTokens: this.#planned * policy.recipe.limits.responseTokens,
      ...(pace &&
        pace.rollouts > 0 && {
          expected: {
            tokens: Math.round((pace.tokens / pace.rollouts) * this.#planned),
            seconds: (pace.seconds / pace.rollouts) * this.#planned,
          },
        }),
    });
  }

  /** Samples what is missing of some problems, then gives a row of each. */
  async portion(problems: readonly Problem[]): Promise<void> {
    const { samples, enough = enoughOf(samples), onRow } = this.options;
    const graded = new Map<string, KnownRollout[]>();
    const missing = new Map<Problem, string>();
    const hashes = problems.map(problemHash);
    for (const [i, hash] of hashes.entries()) {
      if (graded.has(hash)) continue;
      const known = this.#graded(hash);
      if (known.length < samples) {
        if (!this.#fits(problems[i]!)) continue;
        missing.set(problems[i]!, hash);
      }
      graded.set(hash, known);
    }
    await this.#sample(missing, graded);
    const sampled = new Set(missing.values());
    for (const [i, problem] of problems.entries()) {
      const hash = hashes[i]!;
      const rollouts = graded.get(hash);
      if (rollouts === undefined) {
        this.#tooLong++;
        continue;
      }
      if (!sampled.has(hash)) this.#known++;
      this.#lost += samples - rollouts.length;
      const about = { fingerprint: this.policy.fingerprint, settings: this.#settings, enough };
      const row = profileRow(problem, tallyOf(rollouts, samples), about);
      this.#accuracies.push({ accuracy: row.accuracy, n: row.n });
      await onRow(row);
    }
  }

  result(): Measured {
    return {
      problems: this.#accuracies.length,
      known: this.#known,
      tooLong: this.#tooLong,
      pace: { rollouts: this.#rollouts, tokens: this.#tokens, seconds: this.#seconds },
      lost: this.#lost,
      histogram: histogramOf(this.#accuracies, this.options.samples),
      settings: this.#settings,
    };
  }

  /** @param graded what is there of each problem, by its hash; what is sampled comes to it */
  async #sample(missing: ReadonlyMap<Problem, string>, graded: ReadonlyMap<string, KnownRollout[]>): Promise<void> {
    if (missing.size === 0) return;
    const { samples, temperature, topP, seed, concurrency, cache, signal, onProgress } = this.options;
    const there = new Map([...missing].map(([problem, hash]) => [problem, new Set(graded.get(hash)!.map(({ sample }) => sample))]));
    const before = this.#rollouts;
    const started = performance.now();
    let tokens = 0;
    try {
      await this.policy.sample([...missing.keys()], {
        samples,
        temperature,
        topP,
        seed,
        ...(concurrency !== undefined && { concurrency }),
        signal,
        skip: (problem, sample) => there.get(problem)!.has(sample),
        onRollout: ({ rollout, verdict }, problem, sample) => {
          if (rollout.kind === 'infra' || verdict.kind === 'infra') return;
          const known = { sample, correct: verdict.correct, tokens: modelTokens(rollout.trajectory) };
          const hash = missing.get(problem)!;
          graded.get(hash)!.push(known);
          tokens += known.tokens;
          cache.put(this.#key, hash, known);
        },
        onProgress: (done) => {
          this.#rollouts = before + done;
          onProgress?.(this.#rollouts, Math.max(this.#planned, this.#rollouts));
        },
      });
    } finally {
      const seconds = (performance.now() - started) / 1000;
      this.#tokens += tokens;
      this.#seconds += seconds;
      cache.addPace(this.#key, { rollouts: this.#rollouts - before, tokens, seconds });
    }
  }

  #graded(hash: string): KnownRollout[] {
    return this.options.cache.rollouts(this.#key, hash, this.options.samples);
  }

  #fits(problem: Problem): boolean {
    const { promptLimit } = this.policy;
    if (promptLimit === undefined) return true;
    const tokens = this.policy.promptTokens(problem);
    return tokens === undefined || tokens <= promptLimit;
  }
}

function tallyOf(rollouts: readonly KnownRollout[], n: number): Tally {
  const correct = rollouts.filter((rollout) => rollout.correct).length;
  return { n, valid: rollouts.length, correct, tokens: rollouts.reduce((sum, { tokens }) => sum + tokens, 0) };
}
