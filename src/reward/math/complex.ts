/** Complex numbers of two certain reals, on principal branches. An imaginary part that is exactly 0 makes a real number. */
import type { Rational } from './rational.js';
import { EXACT_ZERO, type Real, type RealArithmetic, signOf, Uncertain, upper } from './real.js';

export interface Complex {
  readonly re: Real;
  readonly im: Real;
}

/** What has no value at all: a division by exactly 0, a logarithm of 0. */
export class NoValue extends Error {}

export const isReal = (z: Complex): boolean => z.im.m === 0n && z.im.r === -Infinity;
export const real = (re: Real): Complex => ({ re, im: EXACT_ZERO });
const isZero = (z: Complex): boolean => signOf(z.re) === 0 && signOf(z.im) === 0;

const EXACT_ONE: Real = { m: 1n, e: 0, r: -Infinity };
export const IMAGINARY_UNIT: Complex = { re: EXACT_ZERO, im: EXACT_ONE };
const UNIT: Complex = real(EXACT_ONE);
const MAX_WHOLE_EXPONENT = 1n << 40n;

export class ComplexArithmetic {
  constructor(readonly real: RealArithmetic) {}

  fromRational(value: Rational): Complex {
    return real(this.real.fromRational(value));
  }

  negate(z: Complex): Complex {
    return { re: this.real.negate(z.re), im: this.real.negate(z.im) };
  }

  add(a: Complex, b: Complex): Complex {
    return { re: this.real.add(a.re, b.re), im: this.real.add(a.im, b.im) };
  }

  subtract(a: Complex, b: Complex): Complex {
    return this.add(a, this.negate(b));
  }

  multiply(a: Complex, b: Complex): Complex {
    const R = this.real;
    return {
      re: R.subtract(R.multiply(a.re, b.re), R.multiply(a.im, b.im)),
      im: R.add(R.multiply(a.re, b.im), R.multiply(a.im, b.re)),
    };
  }

  divide(a: Complex, b: Complex): Complex {
    const R = this.real;
    if (isZero(b)) throw new NoValue();
    if (isReal(b)) return { re: R.divide(a.re, b.re), im: R.divide(a.im, b.re) };
    const norm = R.add(R.multiply(b.re, b.re), R.multiply(b.im, b.im));
    const top = this.multiply(a, { re: b.re, im: R.negate(b.im) });
    return { re: R.divide(top.re, norm), im: R.divide(top.im, norm) };
  }

  abs(z: Complex): Real {
    const R = this.real;
    if (isReal(z)) {
      const sign = signOf(z.re);
      if (sign === undefined) throw new Uncertain();
      return sign < 0 ? R.negate(z.re) : z.re;
    }
    return R.root(R.add(R.multiply(z.re, z.re), R.multiply(z.im, z.im)), 2);
  }

  exp(z: Complex): Complex {
    const size = this.real.exp(z.re);
    if (isReal(z)) return real(size);
    const { sin, cos } = this.real.sinCos(z.im);
    return { re: this.real.multiply(size, cos), im: this.real.multiply(size, sin) };
  }

  ln(z: Complex): Complex {
    if (isZero(z)) throw new NoValue();
    const R = this.real;
    if (isReal(z)) {
      const sign = signOf(z.re);
      if (sign === undefined) throw new Uncertain();
      return sign > 0 ? real(R.ln(z.re)) : { re: R.ln(R.negate(z.re)), im: R.pi() };
    }
    return { re: R.ln(this.abs(z)), im: this.#argument(z) };
  }

  #argument(z: Complex): Real {
    const R = this.real;
    const [x, y] = [signOf(z.re), signOf(z.im)];
    if (y === undefined || (x === undefined && y === undefined)) throw new Uncertain();
    const half = this.#halfPi();
    if (x === 0) return y > 0 ? half : R.negate(half);
    if (x === undefined || upper(z.im) > upper(z.re)) {
      const rest = R.arctan(R.divide(z.re, z.im));
      return R.subtract(y > 0 ? half : R.negate(half), rest);
    }
    const angle = R.arctan(R.divide(z.im, z.re));
    if (x > 0) return angle;
    return y >= 0 ? R.add(angle, R.pi()) : R.subtract(angle, R.pi());
  }

  #halfPi(): Real {
    const { m, e, r } = this.real.pi();
    return { m, e: e - 1, r: r - 1 };
  }

  /** The real root of a real number where there is one, else the principal one. */
  root(z: Complex, degree: number): Complex {
    const R = this.real;
    if (isZero(z)) return z;
    if (isReal(z)) {
      const sign = signOf(z.re);
      if (sign === undefined) throw new Uncertain();
      if (sign > 0) return real(R.root(z.re, degree));
      const size = R.root(R.negate(z.re), degree);
      if (degree % 2 === 1) return real(R.negate(size));
      if (degree === 2) return { re: EXACT_ZERO, im: size };
    }
    return this.exp(this.divide(this.ln(z), this.fromRational({ numerator: BigInt(degree), denominator: 1n })));
  }

  /** With the real root of a real base. */
  rationalPower(z: Complex, exponent: Rational): Complex {
    return this.#whole(exponent.denominator === 1n ? z : this.root(z, Number(exponent.denominator)), exponent.numerator);
  }

  power(z: Complex, w: Complex): Complex {
    if (isZero(z)) {
      if (signOf(w.re) === 1) return z;
      throw new NoValue();
    }
    return this.exp(this.multiply(w, this.ln(z)));
  }

  #whole(z: Complex, exponent: bigint): Complex {
    if (exponent === 0n) {
      if (isZero(z)) throw new NoValue();
      return UNIT;
    }
    const size = exponent < 0n ? -exponent : exponent;
    if (size > MAX_WHOLE_EXPONENT) throw new Uncertain();
    let result: Complex | undefined;
    let square = z;
    for (let rest = size; rest > 0n; rest >>= 1n) {
      if (rest & 1n) result = result === undefined ? square : this.multiply(result, square);
      if (rest > 1n) square = this.multiply(square, square);
    }
    return exponent < 0n ? this.divide(UNIT, result!) : result!;
  }

  sin(z: Complex): Complex {
    if (isReal(z)) return real(this.real.sinCos(z.re).sin);
    const [up, down] = this.#turns(z);
    return this.divide(this.subtract(up, down), { re: EXACT_ZERO, im: { m: 2n, e: 0, r: -Infinity } });
  }

  cos(z: Complex): Complex {
    if (isReal(z)) return real(this.real.sinCos(z.re).cos);
    const [up, down] = this.#turns(z);
    return this.#half(this.add(up, down));
  }

  /** e^(iz) and e^(-iz). */
  #turns(z: Complex): readonly [Complex, Complex] {
    const turned = this.multiply(IMAGINARY_UNIT, z);
    return [this.exp(turned), this.exp(this.negate(turned))];
  }

  #half(z: Complex): Complex {
    return { re: { ...z.re, e: z.re.e - 1, r: z.re.r - 1 }, im: { ...z.im, e: z.im.e - 1, r: z.im.r - 1 } };
  }

  sinh(z: Complex): Complex {
    return this.#half(this.subtract(this.exp(z), this.exp(this.negate(z))));
  }

  cosh(z: Complex): Complex {
    return this.#half(this.add(this.exp(z), this.exp(this.negate(z))));
  }

  arctan(z: Complex): Complex {
    if (isReal(z)) return real(this.real.arctan(z.re));
    const iz = this.multiply(IMAGINARY_UNIT, z);
    const difference = this.subtract(this.ln(this.subtract(UNIT, iz)), this.ln(this.add(UNIT, iz)));
    return this.#half(this.multiply(IMAGINARY_UNIT, difference));
  }

  arcsin(z: Complex): Complex {
    const rest = this.subtract(UNIT, this.multiply(z, z));
    if (isReal(z)) {
      const sign = signOf(rest.re);
      if (sign === undefined) throw new Uncertain();
      if (sign === 0) return real(signOf(z.re) === 1 ? this.#halfPi() : this.real.negate(this.#halfPi()));
      if (sign > 0) return real(this.real.arctan(this.real.divide(z.re, this.real.root(rest.re, 2))));
    }
    const inner = this.add(this.multiply(IMAGINARY_UNIT, z), this.root(rest, 2));
    return this.negate(this.multiply(IMAGINARY_UNIT, this.ln(inner)));
  }

  arccos(z: Complex): Complex {
    return this.subtract(real(this.#halfPi()), this.arcsin(z));
  }
}
