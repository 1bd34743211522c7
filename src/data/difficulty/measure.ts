/**
 * Measures how often a policy solves each problem of a pool: n rollouts a problem, those that were measured before taken from the cache.
 * Reads the pool twice, first for the estimate, and holds one portion of it at a time. Draws no conclusions: see `select/`.
 */
import type { Problem } from '../../domain/problem.js';
import type { Policy } from '../../session/policy.js';
import type { DifficultyCache, MeasurementKey, Pace } from './cache.js';
import { type Histogram, histogramOf } from './histogram.js';
import type { Pool } from './pool.js';
import { hashOf, problemHash } from './problemHash.js';
import { enoughOf, type ProfileRow, profileRow, type Tally, tally } from './profile.js';

export interface MeasureOptions {
  /** Rollouts a problem; the paper takes 8. */
  readonly samples: number;
  readonly temperature: number;
  readonly topP: number;
  readonly seed: number;
  /** Valid rollouts below which a problem stays without a label, and is measured again the next time. Default: half, rounded up. */
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
  /** Of these, in the cache. */
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

/** @throws what sampling throws; every problem that was measured whole until then is in the cache */
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
  readonly #enough: number;
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
    const { samples, temperature, topP, seed, enough = enoughOf(samples) } = options;
    const { fingerprint, settings } = policy;
    this.#key = { fingerprint, settings, samples, temperature, topP, seed };
    this.#settings = hashOf({ settings, samples, temperature, topP });
    this.#enough = enough;
  }

  async estimate(pool: Pool): Promise<void> {
    const { policy, options } = this;
    const missing = new Set<string>();
    let problems = 0;
    let counted = 0;
    let countedTokens: number | undefined = 0;
    for await (const { problem } of pool.rows()) {
      problems++;
      const hash = problemHash(problem);
      if (missing.has(hash) || this.#cached(hash)) continue;
      missing.add(hash);
      if (counted === COUNTED_PROMPTS || countedTokens === undefined) continue;
      const tokens = policy.promptTokens(problem);
      counted++;
      countedTokens = tokens === undefined ? undefined : countedTokens + tokens;
    }
    this.#planned = missing.size * options.samples;
    const pace = options.cache.pace(this.#key);
    options.onEstimate?.({
      problems,
      known: problems - missing.size,
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
    const hashes = problems.map(problemHash);
    const tallies = new Map<string, Tally>();
    const missing = new Map<string, Problem>();
    for (const [i, hash] of hashes.entries()) {
      if (tallies.has(hash) || missing.has(hash)) continue;
      const known = this.#cached(hash);
      if (known) tallies.set(hash, known);
      else if (this.#fits(problems[i]!)) missing.set(hash, problems[i]!);
    }
    await this.#sample(missing, tallies);
    for (const [i, problem] of problems.entries()) {
      const counts = tallies.get(hashes[i]!);
      if (counts === undefined) {
        this.#tooLong++;
        continue;
      }
      if (!missing.has(hashes[i]!)) this.#known++;
      this.#lost += counts.n - counts.valid;
      const row = profileRow(problem, counts, { fingerprint: this.policy.fingerprint, settings: this.#settings, enough: this.#enough });
      this.#accuracies.push({ accuracy: row.accuracy, n: row.n });
      await this.options.onRow(row);
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

  async #sample(missing: ReadonlyMap<string, Problem>, tallies: Map<string, Tally>): Promise<void> {
    if (missing.size === 0) return;
    const { samples, temperature, topP, seed, concurrency, cache, signal, onProgress } = this.options;
    const before = this.#rollouts;
    const started = performance.now();
    const elapsed = (): number => (performance.now() - started) / 1000;
    let tokens = 0;
    try {
      await this.policy.sample([...missing.values()], {
        samples,
        temperature,
        topP,
        seed,
        ...(concurrency !== undefined && { concurrency }),
        signal,
        onGroup: (graded, problem) => {
          const hash = problemHash(problem);
          const counts = tally(graded);
          tallies.set(hash, counts);
          tokens += counts.tokens;
          if (counts.valid >= this.#enough) cache.put(this.#key, hash, counts);
        },
        onProgress: (done) => {
          this.#rollouts = before + done;
          onProgress?.(this.#rollouts, Math.max(this.#planned, this.#rollouts));
        },
      });
    } finally {
      this.#tokens += tokens;
      this.#seconds += elapsed();
      cache.addPace(this.#key, { rollouts: this.#rollouts - before, tokens, seconds: elapsed() });
    }
  }

  #cached(hash: string): Tally | undefined {
    const found = this.options.cache.get(this.#key, hash);
    return found !== undefined && found.valid >= this.#enough ? found : undefined;
  }

  #fits(problem: Problem): boolean {
    const { promptLimit } = this.policy;
    if (promptLimit === undefined) return true;
    const tokens = this.policy.promptTokens(problem);
    return tokens === undefined || tokens <= promptLimit;
  }
}
