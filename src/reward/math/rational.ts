/** Exact numbers: fractions of whole numbers of any size. Knows no notation: see `readNumber.ts`. */
export interface Rational {
  readonly numerator: bigint;
  /** Above 0. The fraction need not be in lowest terms. */
  readonly denominator: bigint;
}

export const equalRationals = (a: Rational, b: Rational): boolean => a.numerator * b.denominator === b.numerator * a.denominator;

/** Undefined where the divisor is 0. */
export function divide(a: Rational, b: Rational): Rational | undefined {
  if (b.numerator === 0n) return undefined;
  const sign = b.numerator < 0n ? -1n : 1n;
  return { numerator: sign * a.numerator * b.denominator, denominator: sign * a.denominator * b.numerator };
}

export const add = (a: Rational, b: Rational): Rational => ({
  numerator: a.numerator * b.denominator + b.numerator * a.denominator,
  denominator: a.denominator * b.denominator,
});

export const negate = (a: Rational): Rational => ({ numerator: -a.numerator, denominator: a.denominator });

/** a * 10^exponent. */
export const scale = (a: Rational, exponent: number): Rational =>
  exponent >= 0
    ? { numerator: a.numerator * 10n ** BigInt(exponent), denominator: a.denominator }
    : { numerator: a.numerator, denominator: a.denominator * 10n ** BigInt(-exponent) };

export function lowestTerms(a: Rational): Rational {
  let [x, y] = [a.numerator < 0n ? -a.numerator : a.numerator, a.denominator];
  while (y > 0n) [x, y] = [y, x % y];
  return { numerator: a.numerator / x, denominator: a.denominator / x };
}
