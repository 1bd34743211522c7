/** Exact fractions of whole numbers of any size, always in lowest terms. Knows no notation, and caps nothing: callers do. */
export interface Rational {
  readonly numerator: bigint;
  /** Above 0. */
  readonly denominator: bigint;
}

export const ZERO: Rational = { numerator: 0n, denominator: 1n };
export const ONE: Rational = { numerator: 1n, denominator: 1n };

export const whole = (value: bigint | number): Rational => ({ numerator: BigInt(value), denominator: 1n });

/** In lowest terms. The denominator must not be 0. */
export function rational(numerator: bigint, denominator: bigint): Rational {
  if (denominator === 1n) return { numerator, denominator };
  const divisor = gcd(numerator, denominator);
  const sign = denominator < 0n ? -1n : 1n;
  return divisor === 1n
    ? { numerator: sign * numerator, denominator: sign * denominator }
    : { numerator: (sign * numerator) / divisor, denominator: (sign * denominator) / divisor };
}

export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y > 0n) [x, y] = [y, x % y];
  return x;
}

export const equalRationals = (a: Rational, b: Rational): boolean => a.numerator === b.numerator && a.denominator === b.denominator;
export const isWhole = (a: Rational): boolean => a.denominator === 1n;

export const add = (a: Rational, b: Rational): Rational =>
  a.denominator === 1n && b.denominator === 1n
    ? { numerator: a.numerator + b.numerator, denominator: 1n }
    : rational(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);

export const multiply = (a: Rational, b: Rational): Rational =>
  a.denominator === 1n && b.denominator === 1n
    ? { numerator: a.numerator * b.numerator, denominator: 1n }
    : rational(a.numerator * b.numerator, a.denominator * b.denominator);

/** Undefined for 0. */
export function inverse(a: Rational): Rational | undefined {
  if (a.numerator === 0n) return undefined;
  return a.numerator < 0n
    ? { numerator: -a.denominator, denominator: -a.numerator }
    : { numerator: a.denominator, denominator: a.numerator };
}

export const negate = (a: Rational): Rational => ({ numerator: -a.numerator, denominator: a.denominator });

/** a^exponent for an exponent of at least 0. */
export const raise = (a: Rational, exponent: number): Rational => ({
  numerator: a.numerator ** BigInt(exponent),
  denominator: a.denominator ** BigInt(exponent),
});

/** Rounded down. */
export function floor(a: Rational): bigint {
  const quotient = a.numerator / a.denominator;
  return a.numerator < 0n && quotient * a.denominator !== a.numerator ? quotient - 1n : quotient;
}

export const compare = (a: Rational, b: Rational): number => {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
};

/** About the number of bits of the larger part. */
export const sizeInBits = (a: Rational): number => Math.max(bitLength(a.numerator), bitLength(a.denominator));

/** Number of bits of |a|, exact to one bit. */
export function bitLength(a: bigint): number {
  if (a === 0n) return 0;
  const approximate = Math.abs(Number(a));
  if (approximate < 2 ** 1000) return Math.floor(Math.log2(approximate)) + 1;
  return (a < 0n ? a.toString(16).length - 1 : a.toString(16).length) * 4;
}

/** The digits before the point, after it, and repeated without end, as one exact value. */
export function fromDigits(before: string, after: string, repeated = ''): Rational {
  const scale = 10n ** BigInt(after.length);
  const start = rational(BigInt(before + after || '0'), scale);
  if (repeated === '') return start;
  return add(start, rational(BigInt(repeated), scale * (10n ** BigInt(repeated.length) - 1n)));
}
