/**
 * maj@k: how often the majority of k samples is right, exactly, from how many samples gave each answer. Pure. Which answers are one class is
 * the caller's to say.
 */

export interface Votes {
  /** Votes for the right answer. */
  readonly right: number;
  /** Votes for each wrong one. */
  readonly wrong: readonly number[];
  /** Samples without a vote. */
  readonly silent: number;
}

/**
 * The chance that the answer with most votes is right when k of the samples are drawn without putting back. Leaders share a tie equally:
 * with the right one among m it counts 1/m. A sample without a vote takes its place among the k and votes for nobody; without any vote the
 * majority is not right.
 *
 * Draws without putting back are independent binomial counts under the condition that they add up to k, so the classes are put together one
 * after the other; the chance of the condition is divided out at the end.
 *
 * @param k from 1 to the number of samples
 * @throws RangeError for any other k
 */
export function majorityAtK(votes: Votes, k: number): number {
  const wrong = votes.wrong.filter((size) => size > 0);
  const n = votes.right + votes.silent + wrong.reduce((sum, size) => sum + size, 0);
  if (!Number.isInteger(k) || k < 1 || k > n) throw new RangeError(`maj@${k} cannot be told from ${n} samples: k must be from 1 to ${n}`);
  if (votes.right === 0) return 0;
  if (k === n) return whole(votes.right, wrong);
  const share = k / n;
  const right = binomial(votes.right, share);
  const silent = binomial(votes.silent, share);
  const sizes = new Map<number, number>();
  for (const size of wrong) sizes.set(size, (sizes.get(size) ?? 0) + 1);
  let chance = 0;
  for (let lead = 1; lead <= Math.min(votes.right, k); lead++) {
    const room = k - lead;
    // ties[t][x]: t wrong classes have `lead` votes too, and the wrong classes and silent samples make x of the k
    let ties: Float64Array[] = [Float64Array.from({ length: room + 1 }, (_, x) => silent[x] ?? 0)];
    for (const [size, classes] of sizes) {
      const counts = binomial(size, share);
      for (let i = 0; i < classes; i++) ties = withClass(ties, counts, lead, room);
    }
    for (const [t, row] of ties.entries()) chance += (right[lead]! * row[room]!) / (t + 1);
  }
  return Math.min(1, chance / binomial(n, share)[k]!);
}

/** One more wrong class, with at most `lead` votes. */
function withClass(ties: readonly Float64Array[], counts: Float64Array, lead: number, room: number): Float64Array[] {
  const most = Math.min(counts.length - 1, lead, room);
  const canTie = counts.length > lead && lead <= room;
  const next = Array.from({ length: ties.length + (canTie ? 1 : 0) }, () => new Float64Array(room + 1));
  let used = ties.length;
  for (const [t, row] of ties.entries()) {
    for (let x = 0; x <= room; x++) {
      const mass = row[x]!;
      if (mass === 0) continue;
      for (let votes = 0; votes <= Math.min(most, room - x); votes++) {
        const tied = votes === lead;
        next[tied ? t + 1 : t]![x + votes]! += mass * counts[votes]!;
        if (tied) used = Math.max(used, t + 2);
      }
    }
  }
  return next.slice(0, used);
}

/** Of all samples: no chance is in it but the tie. */
function whole(right: number, wrong: readonly number[]): number {
  const most = wrong.reduce((a, b) => Math.max(a, b), 0);
  return right < most ? 0 : 1 / (1 + wrong.filter((size) => size === right).length);
}

/** Chances of 0, 1, ... successes in so many trials, [trials + 1]; built up from the likeliest, so that none of weight is lost. */
function binomial(trials: number, share: number): Float64Array {
  const chances = new Float64Array(trials + 1);
  const peak = Math.min(trials, Math.floor((trials + 1) * share));
  chances[peak] = 1;
  const odds = share / (1 - share);
  for (let i = peak; i < trials; i++) chances[i + 1] = (chances[i]! * (trials - i) * odds) / (i + 1);
  for (let i = peak; i > 0; i--) chances[i - 1] = (chances[i]! * i) / ((trials - i + 1) * odds);
  const sum = chances.reduce((a, b) => a + b, 0);
  return chances.map((chance) => chance / sum);
}
