/** A difficulty profile: how often one model is right on each problem of a set. Makes rows of counts; does not sample and reads no files. */
import type { Problem } from '../../domain/problem.js';
import { modelTokens, type Rollout } from '../../domain/trajectory.js';
import type { Verdict } from '../../domain/verdict.js';
import { type Certainty, certaintyOf, type Difficulty, difficultyOf } from './labels.js';
import { problemHash } from './problemHash.js';

/** What the rollouts of one problem came to. */
export interface Tally {
  /** Rollouts that were asked for. */
  readonly n: number;
  /** Rollouts with a verdict; the others were lost to infrastructure, which says nothing of the model. */
  readonly valid: number;
  readonly correct: number;
  /** Tokens that the model wrote in all of its valid rollouts. */
  readonly tokens: number;
}

/** One row of a profile's file; null where it is not known. */
export interface ProfileRow {
  readonly id: string;
  readonly source: string | null;
  /** Hash of the problem's text, by which a selection finds it again. */
  readonly problem: string;
  /** correct / valid; null where too few rollouts were valid. */
  readonly accuracy: number | null;
  readonly correct: number;
  readonly valid: number;
  readonly n: number;
  readonly label: Difficulty | null;
  /** Why a selection leaves it out; null where it does not. */
  readonly drop: Certainty | null;
  /** Mean tokens that the model wrote in a valid rollout. */
  readonly tokens: number | null;
  /** Of the model's weights. */
  readonly fingerprint: string;
  /** Hash of prompt, tools, limits and sampling. */
  readonly settings: string;
}

/** @param graded the rollouts of one problem with their verdicts */
export function tally(graded: readonly { readonly rollout: Rollout; readonly verdict: Verdict }[]): Tally {
  let valid = 0;
  let correct = 0;
  let tokens = 0;
  for (const { rollout, verdict } of graded) {
    if (rollout.kind === 'infra' || verdict.kind === 'infra') continue;
    valid++;
    if (verdict.correct) correct++;
    tokens += modelTokens(rollout.trajectory);
  }
  return { n: graded.length, valid, correct, tokens };
}

/** Half of the rollouts, rounded up. */
export const enoughOf = (n: number): number => Math.ceil(n / 2);

/** @param enough valid rollouts below which a problem stays without accuracy and label */
export function profileRow(
  problem: Problem,
  counts: Tally,
  about: { readonly fingerprint: string; readonly settings: string; readonly enough: number },
): ProfileRow {
  const { n, valid, correct, tokens } = counts;
  const accuracy = valid > 0 && valid >= about.enough ? correct / valid : null;
  return {
    id: problem.id,
    source: problem.source ?? null,
    problem: problemHash(problem),
    accuracy,
    correct,
    valid,
    n,
    label: accuracy === null ? null : difficultyOf(accuracy),
    drop: accuracy === null ? null : (certaintyOf(accuracy) ?? null),
    tokens: valid === 0 ? null : tokens / valid,
    fingerprint: about.fingerprint,
    settings: about.settings,
  };
}
