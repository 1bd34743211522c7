/** What a rollout is trained on: a sum of parts, each by name. */
export interface Reward {
  readonly total: number;
  /** For example `{ outcome: 1, tool: 0.1, overlong: 0 }`; they add up to `total`. */
  readonly parts: Readonly<Record<string, number>>;
}

/** @throws RangeError when a part is not a finite number, by name. */
export function sumReward(parts: Readonly<Record<string, number>>): Reward {
  let total = 0;
  for (const [name, value] of Object.entries(parts)) {
    if (!Number.isFinite(value)) throw new RangeError(`reward part "${name}" is ${value}; a reward must be a finite number`);
    total += value;
  }
  return { total, parts };
}
