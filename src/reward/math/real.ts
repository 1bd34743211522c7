/**
 * Real numbers with a certain error: a midpoint m * 2^e and a radius 2^r, so that "different" is proven and never guessed. The exponent has
 * no bounds that matter, so tiny and huge values keep all their digits. Knows no notation and no complex numbers: see `complex.ts`.
 */
import type { Budget } from './budget.js';
import { wholeRoot } from './exact.js';
import { bitLength, type Rational } from './rational.js';

/** The value lies within 2^r of m * 2^e; r is -Infinity for an exact one. */
export interface Real {
  readonly m: bigint;
  readonly e: number;
  readonly r: number;
}

/** An operation that has no certain result at this precision: a divisor or a sign that may be 0, or a size beyond all bounds. */
export class Uncertain extends Error {}

export const EXACT_ZERO: Real = { m: 0n, e: 0, r: -Infinity };
const MAX_EXP_BITS = 40;

/** log2(2^a + 2^b), rounded up a little. */
export function logAdd(a: number, b: number): number {
  if (a === -Infinity) return b;
  if (b === -Infinity) return a;
  const [high, low] = a > b ? [a, b] : [b, a];
  return high + Math.log2(1 + 2 ** (low - high)) + 1e-9;
}

/** log2 of the largest absolute value it can have. */
export const upper = (x: Real): number => logAdd(x.m === 0n ? -Infinity : bitLength(x.m) + x.e, x.r);
/** log2 of a value below the midpoint's size. */
const midpointBelow = (x: Real): number => (x.m === 0n ? -Infinity : bitLength(x.m) - 2 + x.e);

/** 1, -1, 0 for an exact zero, or undefined where the sign is uncertain. */
export function signOf(x: Real): -1 | 0 | 1 | undefined {
  if (x.m === 0n) return x.r === -Infinity ? 0 : undefined;
  if (midpointBelow(x) < x.r) return undefined;
  return x.m > 0n ? 1 : -1;
}

/** Arithmetic with `bits` of precision, paid for from a budget. */
export class RealArithmetic {
  /** The largest |log2| of any value met: what precision has to exceed before two values may be called equal. */
  range = 0;
  readonly #constants = new Map<string, bigint>();

  constructor(
    readonly bits: number,
    readonly budget: Budget,
  ) {}

  #round(m: bigint, e: number, r: number): Real {
    this.budget.spend(8 + this.bits / 64);
    if (m === 0n) return { m, e: 0, r };
    const length = bitLength(m);
    const size = Math.abs(length + e);
    if (size > this.range && (m > 0n ? m : -m) > 0n && midOutweighs(length + e, r)) this.range = size;
    if (size > Number.MAX_SAFE_INTEGER / 4) throw new Uncertain();
    const extra = length - this.bits;
    return extra <= 2 ? { m, e, r } : { m: m >> BigInt(extra), e: e + extra, r: logAdd(r, e + extra) };
  }

  fromRational(value: Rational): Real {
    if (value.denominator === 1n) return this.#round(value.numerator, 0, -Infinity);
    return this.divide(this.#round(value.numerator, 0, -Infinity), this.#round(value.denominator, 0, -Infinity));
  }

  negate(x: Real): Real {
    return { m: -x.m, e: x.e, r: x.r };
  }

  add(x: Real, y: Real): Real {
    const r = logAdd(x.r, y.r);
    if (x.m === 0n) return { m: y.m, e: y.e, r };
    if (y.m === 0n) return { m: x.m, e: x.e, r };
    const [high, low] = x.e >= y.e ? [x, y] : [y, x];
    const gap = high.e - low.e;
    if (gap > this.bits * 2 + 64 + bitLength(low.m)) {
      return this.#round(high.m, high.e, logAdd(r, upper({ ...low, r: -Infinity })));
    }
    return this.#round((high.m << BigInt(gap)) + low.m, low.e, r);
  }

  subtract(x: Real, y: Real): Real {
    return this.add(x, this.negate(y));
  }

  multiply(x: Real, y: Real): Real {
    if (signOf(x) === 0 || signOf(y) === 0) return EXACT_ZERO;
    this.budget.spend((this.bits / 64) ** 2 / 8);
    const r = x.r === -Infinity && y.r === -Infinity ? -Infinity : logAdd(upper(x) + y.r, upper(y) + x.r);
    return this.#round(x.m * y.m, x.e + y.e, r);
  }

  divide(x: Real, y: Real): Real {
    const sign = signOf(y);
    if (sign === undefined || sign === 0) throw new Uncertain();
    if (signOf(x) === 0) return EXACT_ZERO;
    this.budget.spend((this.bits / 64) ** 2 / 4);
    const below = midpointBelow(y);
    const floorOfY = y.r === -Infinity ? below : y.r > below - 1 ? undefined : below - 1;
    if (floorOfY === undefined) throw new Uncertain();
    const shift = Math.max(0, this.bits + 4 + bitLength(y.m) - bitLength(x.m));
    const q = (x.m << BigInt(shift)) / y.m;
    const e = x.e - y.e - shift;
    const fromX = x.r - floorOfY;
    const fromY = y.r === -Infinity ? -Infinity : upper(x) + y.r - 2 * floorOfY;
    return this.#round(q, e, logAdd(logAdd(fromX, fromY), e));
  }

  /** The root of what is not negative. */
  root(x: Real, degree: number): Real {
    const sign = signOf(x);
    if (sign === 0) return EXACT_ZERO;
    if (sign === undefined || sign < 0) throw new Uncertain();
    this.budget.spend(((this.bits / 64) * degree) ** 2 * (1 + degree / 4) + 200);
    let shift = Math.max(0, (this.bits + 4) * degree - bitLength(x.m));
    shift += (((x.e - shift) % degree) + degree) % degree;
    const q = wholeRoot(x.m << BigInt(shift), degree);
    const e = (x.e - shift) / degree;
    const error = x.r === -Infinity ? -Infinity : bitLength(q) + e + 1 + x.r - midpointBelow(x);
    return this.#round(q, e, logAdd(error, e));
  }

  exp(x: Real): Real {
    if (signOf(x) === 0) return { m: 1n, e: 0, r: -Infinity };
    if (upper(x) > MAX_EXP_BITS || x.r > -2) throw new Uncertain();
    const w = this.bits + 40 + Math.max(0, Math.ceil(upper(x)));
    const t = fixed(x, w);
    const ln2 = this.#ln2(w);
    const k = (t + (ln2 >> 1n)) / ln2 - (t < 0n ? 1n : 0n);
    const value = this.#expFixed(t - k * ln2, w);
    const e = Number(k) - w;
    const size = bitLength(value) + e;
    return this.#round(value, e, logAdd(size + x.r + 1, size - this.bits - 8));
  }

  /** The natural logarithm of what is positive. */
  ln(x: Real): Real {
    const sign = signOf(x);
    if (sign !== 1 || x.r > midpointBelow(x) - 2) throw new Uncertain();
    if (x.m === 1n && x.e === 0 && x.r === -Infinity) return EXACT_ZERO;
    const length = bitLength(x.m);
    const exponent = length + x.e;
    const w = this.bits + 40 + Math.ceil(Math.log2(Math.abs(exponent) + 2));
    const f = length >= w ? x.m >> BigInt(length - w) : x.m << BigInt(w - length);
    let y = BigInt(Math.round(Math.log(Number(f >> BigInt(w - 60)) / 2 ** 60) * 2 ** 52)) << BigInt(w - 52);
    for (let correct = 50; correct < w; correct *= 3) {
      const power = this.#expFixed(y, w);
      y += (((f - power) << BigInt(w)) / (f + power)) * 2n;
    }
    const value = y + BigInt(exponent) * this.#ln2(w);
    const error = x.r === -Infinity ? -Infinity : x.r - midpointBelow(x) + 1;
    return this.#round(value, -w, logAdd(error, -w + 12));
  }

  sinCos(x: Real): { readonly sin: Real; readonly cos: Real } {
    if (signOf(x) === 0) return { sin: EXACT_ZERO, cos: { m: 1n, e: 0, r: -Infinity } };
    if (upper(x) > this.bits * 4 + 200 || x.r > -1) throw new Uncertain();
    const w = this.bits + 40 + Math.max(0, Math.ceil(upper(x)));
    const half = this.#pi(w) >> 1n;
    const t = fixed(x, w);
    const shifted = t + (half >> 1n);
    const quarter = shifted / half - (shifted < 0n ? 1n : 0n);
    const rest = t - quarter * half;
    const { sin, cos } = this.#sinCosFixed(rest, w);
    const r = logAdd(x.r, -this.bits - 8);
    const turn = Number(((quarter % 4n) + 4n) % 4n);
    const [s, c] = turn === 0 ? [sin, cos] : turn === 1 ? [cos, -sin] : turn === 2 ? [-sin, -cos] : [-cos, sin];
    return { sin: this.#round(s, -w, r), cos: this.#round(c, -w, r) };
  }

  arctan(x: Real): Real {
    if (signOf(x) === 0) return EXACT_ZERO;
    if (upper(x) > 1) {
      const sign = signOf(x);
      if (sign === undefined) throw new Uncertain();
      const half = { m: this.#pi(this.bits + 20), e: -this.bits - 21, r: -this.bits - 10 };
      const inner = this.arctan(this.divide({ m: 1n, e: 0, r: -Infinity }, x));
      return this.subtract(sign > 0 ? half : this.negate(half), inner);
    }
    const w = this.bits + 40;
    let t = fixed(x, w);
    const one = 1n << BigInt(w);
    for (let i = 0; i < 4; i++) {
      this.budget.spend((w / 64) ** 2 * 2 + 100);
      t = (t << BigInt(w)) / (one + wholeRoot((one + ((t * t) >> BigInt(w))) << BigInt(w), 2));
    }
    const square = (t * t) >> BigInt(w);
    let [term, sum] = [t, t];
    for (let k = 3n; term !== 0n; k += 2n) {
      this.#pay(w);
      term = -((term * square) >> BigInt(w));
      sum += term / k;
      if (term === -1n) break;
    }
    return this.#round(sum << 4n, -w, logAdd(x.r, -this.bits - 12));
  }

  pi(): Real {
    return { m: this.#pi(this.bits + 20), e: -this.bits - 20, r: -this.bits - 10 };
  }

  #pay(w: number): void {
    this.budget.spend(6 + w / 64 + (w / 64) ** 2 / 8);
  }

  #expFixed(x: bigint, w: number): bigint {
    const halvings = Math.ceil(Math.sqrt(w) / 2);
    const extra = halvings + 10;
    const p = w + extra;
    const one = 1n << BigInt(p);
    const t = (x << BigInt(extra)) >> BigInt(halvings);
    let [term, sum] = [one, one];
    for (let k = 1n; term !== 0n && term !== -1n; k++) {
      this.#pay(p);
      term = ((term * t) >> BigInt(p)) / k;
      sum += term;
    }
    for (let i = 0; i < halvings; i++) {
      this.#pay(p);
      sum = (sum * sum) >> BigInt(p);
    }
    return sum >> BigInt(extra);
  }

  #sinCosFixed(x: bigint, w: number): { readonly sin: bigint; readonly cos: bigint } {
    const square = (x * x) >> BigInt(w);
    const one = 1n << BigInt(w);
    let [cosTerm, sinTerm] = [one, x];
    let [cos, sin] = [one, x];
    for (let k = 1n; cosTerm !== 0n && k < 20_000n; k++) {
      this.#pay(w);
      this.#pay(w);
      cosTerm = -((cosTerm * square) >> BigInt(w)) / ((2n * k - 1n) * (2n * k));
      sinTerm = -((sinTerm * square) >> BigInt(w)) / (2n * k * (2n * k + 1n));
      cos += cosTerm;
      sin += sinTerm;
    }
    return { sin, cos };
  }

  #ln2(w: number): bigint {
    return this.#constant(`ln2 ${w}`, () => 2n * this.#inverseSeries(3n, w, true));
  }

  #pi(w: number): bigint {
    return this.#constant(`pi ${w}`, () => 4n * (4n * this.#inverseSeries(5n, w, false) - this.#inverseSeries(239n, w, false)));
  }

  #constant(name: string, make: () => bigint): bigint {
    const shared = SHARED.get(name);
    if (shared !== undefined) return shared;
    let value = this.#constants.get(name);
    if (value === undefined) {
      value = make();
      this.#constants.set(name, value);
      if (SHARED.size < 64) SHARED.set(name, value);
    }
    return value;
  }

  /** atanh(1/n) or atan(1/n), with 10 bits more inside. */
  #inverseSeries(n: bigint, w: number, hyperbolic: boolean): bigint {
    const square = n * n;
    let term = (1n << BigInt(w + 10)) / n;
    let sum = term;
    for (let k = 3n; term !== 0n; k += 2n) {
      this.#pay(w);
      term /= square;
      sum += hyperbolic || k % 4n === 1n ? term / k : -(term / k);
    }
    return sum >> 10n;
  }
}

/** Constants that were computed before, by name and precision: the same for all. */
const SHARED = new Map<string, bigint>();

const midOutweighs = (size: number, r: number): boolean => size > r;

/** The midpoint as a fixed-point number with w bits after the point. */
function fixed(x: Real, w: number): bigint {
  const shift = x.e + w;
  return shift >= 0 ? x.m << BigInt(shift) : x.m >> BigInt(-shift);
}
