/** What a family of calc problems is, and the exact arithmetic that the families share. Draws nothing itself. */
import type { Random } from '../../random.js';

/**
 * `standard`: for a pretrained language model. `small`: smaller numbers and fewer wordings, for `nano`. `tiny`: as `small`, with numbers in
 * level 1 that can be worked out digit by digit.
 */
export type CalcSize = 'standard' | 'small' | 'tiny';
export type CalcLevel = 1 | 2 | 3;

export interface Family {
  readonly name: string;
  readonly level: CalcLevel;
  draw(random: Random, size: CalcSize): Draft;
}

/** One problem as a family draws it. */
export interface Draft {
  /** The numbers that make the problem: two questions with equal keys ask for the same, whatever the wording. */
  readonly key: string;
  readonly question: string;
  readonly answer: bigint;
  /** Right Python programs, the plainest first; the last line is an expression with the answer. */
  readonly programs: readonly string[];
  /** Plausible mistakes in the same form; now and then one is right by luck. */
  readonly wrongPrograms: readonly string[];
  /** One-sentence analyses of what has to be computed, alternatives of each other. */
  readonly explanation: readonly string[];
  /** A worked solution in plain text: every `expression = value` in it is true, and its last number is the answer. */
  readonly solution: string;
}

/** The items of a product or a sum in one order, whichever came first. */
export const unordered = (...numbers: readonly number[]): string => [...numbers].sort((a, b) => a - b).join(',');

export const withMath = (expression: string): string => `import math\n${expression}`;

export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

export const lcm = (a: bigint, b: bigint): bigint => (a / gcd(a, b)) * b;

export function digitSum(value: bigint): bigint {
  let sum = 0;
  for (const digit of value.toString()) sum += Number(digit);
  return BigInt(sum);
}

export function factorial(n: number): bigint {
  let product = 1n;
  for (let i = 2; i <= n; i++) product *= BigInt(i);
  return product;
}

export function modPow(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n % modulus;
  let power = base % modulus;
  for (let bits = exponent; bits > 0n; bits >>= 1n) {
    if (bits & 1n) result = (result * power) % modulus;
    power = (power * power) % modulus;
  }
  return result;
}

export function countPrimesBelow(n: number): bigint {
  let count = 0n;
  for (let candidate = 2; candidate < n; candidate++) {
    let prime = true;
    for (let d = 2; d * d <= candidate && prime; d++) prime = candidate % d !== 0;
    if (prime) count++;
  }
  return count;
}

export function countDivisors(n: number): bigint {
  let count = 0n;
  for (let d = 1; d <= n; d++) if (n % d === 0) count++;
  return count;
}
