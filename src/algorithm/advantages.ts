/**
 * Advantages: how much better each rollout of a group did than the group. One number a rollout; spreading it over tokens and weighting it
 * is `aggregate.ts`'s. Rewards that infrastructure failures left without a number never come here.
 */

/** `grpo`: Eq. 3. `grpoWithoutStd`: only centred (as Dr. GRPO does). `leaveOneOut`: the baseline is the mean of the others (RLOO). */
export type AdvantageName = 'grpo' | 'grpoWithoutStd' | 'leaveOneOut';

/** Rewards of one group to its advantages, [group] to [group]. */
export type Advantage = (rewards: ArrayLike<number>) => Float64Array;

/** Rewards whose spread is within this share of their size are equal, and their advantages exactly 0. */
export const EQUAL_REWARDS = 1e-9;

export const ADVANTAGE_EPSILON = 1e-6;

/**
 * A_i = (r_i - mean) / (std + epsilon), std with n - 1. Paper: Eq. 3. Equal rewards and a group of one: exactly 0.
 *
 * @param rewards of one group, [group]; finite
 * @throws RangeError when a reward is not finite
 */
export function grpoAdvantages(rewards: ArrayLike<number>, epsilon = ADVANTAGE_EPSILON): Float64Array {
  const centred = grpoAdvantagesWithoutStd(rewards);
  let squares = 0;
  for (const value of centred) squares += value * value;
  if (squares === 0) return centred;
  const std = Math.sqrt(squares / (centred.length - 1));
  return centred.map((value) => value / (std + epsilon));
}

/** A_i = r_i - mean. Equal rewards and a group of one: exactly 0. @throws RangeError when a reward is not finite */
export function grpoAdvantagesWithoutStd(rewards: ArrayLike<number>): Float64Array {
  const advantages = new Float64Array(rewards.length);
  if (!differ(rewards)) return advantages;
  const mean = sum(rewards) / rewards.length;
  return advantages.map((_, i) => rewards[i]! - mean);
}

/** A_i = r_i - mean of the others = (r_i - mean) n / (n - 1). Equal rewards and a group of one: exactly 0. @throws RangeError when a reward is not finite */
export function leaveOneOutAdvantages(rewards: ArrayLike<number>): Float64Array {
  const advantages = new Float64Array(rewards.length);
  if (!differ(rewards)) return advantages;
  const total = sum(rewards);
  return advantages.map((_, i) => rewards[i]! - (total - rewards[i]!) / (rewards.length - 1));
}

export function advantage(name: AdvantageName): Advantage {
  switch (name) {
    case 'grpo':
      return (rewards) => grpoAdvantages(rewards);
    case 'grpoWithoutStd':
      return grpoAdvantagesWithoutStd;
    case 'leaveOneOut':
      return leaveOneOutAdvantages;
    default:
      throw new RangeError(`unknown advantage ${JSON.stringify(name satisfies never)}`);
  }
}

/**
 * Applies `within` group by group, wherever the members stand.
 *
 * @param rewards [rollouts]
 * @param groups  the group of each rollout, [rollouts]
 */
export function groupAdvantages(rewards: ArrayLike<number>, groups: readonly (string | number)[], within: Advantage): Float64Array {
  if (rewards.length !== groups.length) throw new RangeError(`${rewards.length} rewards for ${groups.length} group names`);
  const members = new Map<string | number, number[]>();
  groups.forEach((group, i) => {
    const list = members.get(group);
    if (list === undefined) members.set(group, [i]);
    else list.push(i);
  });
  const result = new Float64Array(rewards.length);
  for (const indices of members.values()) {
    const own = within(Float64Array.from(indices, (i) => rewards[i]!));
    indices.forEach((i, k) => {
      result[i] = own[k]!;
    });
  }
  return result;
}

/** Whether the rewards of a group differ, so that it teaches anything. @throws RangeError when a reward is not finite */
export function differ(rewards: ArrayLike<number>): boolean {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < rewards.length; i++) {
    const reward = rewards[i]!;
    if (!Number.isFinite(reward)) throw new RangeError(`reward ${i} of the group is ${reward}; rewards must be finite`);
    low = Math.min(low, reward);
    high = Math.max(high, reward);
  }
  return rewards.length > 1 && high - low > EQUAL_REWARDS * Math.max(Math.abs(low), Math.abs(high));
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
}
