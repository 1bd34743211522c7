/** Whether an actual value is the expected one: numbers within a tolerance, of objects only the expected keys. */
import { asNumber, isRecord, type Vector } from './vector.js';

export interface Tolerance {
  readonly relative: number;
  readonly absolute: number;
  /** Allowed where we give exactly 0; default `absolute`. */
  readonly besideZero?: number;
}

/** Keys that are another spelling of a value compared elsewhere, or not ours to give. */
const NOT_COMPARED: ReadonlySet<string> = new Set(['content', 'arguments']);

export function toleranceOf(fn: string): Tolerance {
  if (fn.endsWith('_float32')) return { relative: 1e-5, absolute: 1e-5 };
  if (fn.startsWith('reward_manager_')) return { relative: 1e-6, absolute: 1e-6 };
  // Means there divide by (tokens + 1e-8).
  if (/loss/.test(fn)) return { relative: 1e-7, absolute: 1e-12 };
  // Equal rewards leave a residue there, and give exactly 0 here.
  if (fn.endsWith('_advantage')) return { relative: 1e-9, absolute: 1e-12, besideZero: 1e-5 };
  return { relative: 1e-9, absolute: 1e-12 };
}

/**
 * What is asked of us: `correct` where it is given; nothing for a quirk without it, nor where the reference gave NaN; else `expected`.
 */
export function asked(vector: Vector): { readonly value: unknown } | undefined {
  if (vector.correct !== undefined) return { value: vector.correct };
  if (vector.reference_quirk !== undefined || holdsNaN(vector.expected)) return undefined;
  return { value: vector.expected };
}

export function holdsNaN(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsNaN);
  if (isRecord(value))
    return Object.entries(value).some(([key, inner]) => !NOT_COMPARED.has(key) && key !== 'argumentsValue' && holdsNaN(inner));
  return value === 'NaN';
}

/** Values that a model wrote: no further keys are allowed in them. */
const WHOLE: ReadonlySet<string> = new Set(['argumentsValue', 'executedArguments']);

export function agrees(actual: unknown, expected: unknown, tolerance: Tolerance, whole = false): boolean {
  const wanted = whole && typeof expected === 'string' ? undefined : asNumber(expected);
  const given = asNumber(actual);
  if (wanted !== undefined && given !== undefined) return near(given, wanted, tolerance);
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) && actual.length === expected.length && expected.every((item, i) => agrees(actual[i], item, tolerance, whole))
    );
  }
  if (isRecord(expected)) {
    if (!isRecord(actual)) return false;
    if (whole) {
      const keys = Object.keys(expected);
      return (
        keys.length === Object.keys(actual).length &&
        keys.every((key) => Object.hasOwn(actual, key) && agrees(actual[key], expected[key], tolerance, true))
      );
    }
    if ('throws' in expected) return typeof actual.throws === 'string';
    return Object.entries(expected).every(([key, item]) => NOT_COMPARED.has(key) || agrees(actual[key], item, tolerance, WHOLE.has(key)));
  }
  return actual === expected;
}

function near(actual: number, expected: number, { relative, absolute, besideZero = absolute }: Tolerance): boolean {
  if (Object.is(actual, expected) || actual === expected) return true;
  return Math.abs(actual - expected) <= Math.max(actual === 0 ? besideZero : absolute, relative * Math.abs(expected));
}
