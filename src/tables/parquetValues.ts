/**
 * From plain values to those that Parquet's encoder takes: digits become 64-bit integers again, ISO times numbers, JSON its text. What does
 * not fit its column is an error that names the column; nothing is rounded, cut or left out.
 */
import type { SchemaTree } from 'hyparquet';
import { isListLike, isMapLike } from 'hyparquet/src/schema.js';

/** Why a value cannot stand in its column. Worded to follow the row's name and a colon. */
export class MisfitValue extends Error {
  override readonly name = 'MisfitValue';
}

/** @throws MisfitValue */
export function storedValue(value: unknown, tree: SchemaTree): unknown {
  if (value === null || value === undefined) {
    if (tree.element.repetition_type === 'REQUIRED') throw misfit(tree, 'is missing, and the column allows no null');
    return null;
  }
  if (isListLike(tree)) {
    if (!Array.isArray(value)) throw misfit(tree, `is ${kindOf(value)}, not a list`);
    const item = tree.children[0]!.children[0]!;
    return value.map((inner) => storedValue(inner, item));
  }
  if (isMapLike(tree)) {
    if (!isRecord(value)) throw misfit(tree, `is ${kindOf(value)}, not a map`);
    const [key, inner] = tree.children[0]!.children as [SchemaTree, SchemaTree];
    return Object.entries(value).map(([name, of]) => ({ key: storedKey(name, key), value: storedValue(of, inner) }));
  }
  if (tree.children.length > 0) return storedStruct(value, tree);
  return storedLeaf(value, tree);
}

/** The row itself, or a struct in it. @throws MisfitValue */
export function storedStruct(value: unknown, tree: SchemaTree): Record<string, unknown> {
  if (!isRecord(value)) throw misfit(tree, `is ${kindOf(value)}, not a struct`);
  const stored: Record<string, unknown> = {};
  for (const child of tree.children) stored[child.element.name] = storedValue(value[child.element.name], child);
  for (const name in value) {
    if (value[name] !== undefined && !Object.hasOwn(stored, name))
      throw misfit(tree, `has ${JSON.stringify(name)}, for which there is no column`);
  }
  return stored;
}

function storedKey(name: string, tree: SchemaTree): unknown {
  const { type } = tree.element;
  return storedLeaf(type === 'INT32' || type === 'DOUBLE' || type === 'FLOAT' ? Number(name) : name, tree);
}

function storedLeaf(value: unknown, tree: SchemaTree): unknown {
  const { type, converted_type: converted, logical_type: logical } = tree.element;
  const unfit = (wanted: string): MisfitValue => misfit(tree, `is ${kindOf(value)}, not ${wanted}`);
  if (converted === 'JSON' || logical?.type === 'JSON')
    return Buffer.from(wellFormed(typeof value === 'string' ? value : jsonText(value), tree));
  if (logical?.type === 'UUID') return value;
  switch (type) {
    case 'BOOLEAN':
      if (typeof value !== 'boolean') throw unfit('true or false');
      return value;
    case 'INT64': {
      const unit =
        logical?.type === 'TIMESTAMP' ? logical.unit : converted?.startsWith('TIMESTAMP_') === true ? converted.slice(10) : undefined;
      if (unit !== undefined && typeof value === 'string') return timeOf(value, unit, tree);
      if (converted === 'DECIMAL') return numberOf(value, unfit);
      return integerOf(value, unfit);
    }
    case 'INT32':
      if (converted === 'DATE' && typeof value === 'string') return Number(timeOf(value, 'MILLIS', tree) / 86_400_000n);
      if (converted === 'DECIMAL') return numberOf(value, unfit);
      if (typeof value !== 'number' || !Number.isInteger(value)) throw unfit('an integer');
      return value;
    case 'FLOAT':
      if (typeof value === 'number' && !Number.isNaN(value) && Math.fround(value) !== value)
        throw misfit(tree, `is ${value}, which has more digits than the column keeps`);
      return numberOf(value, unfit);
    case 'DOUBLE':
      return numberOf(value, unfit);
    case 'BYTE_ARRAY':
      if (typeof value === 'string') return wellFormed(value, tree);
      if (value instanceof Uint8Array) return value;
      throw unfit(converted === 'DECIMAL' ? 'a number' : 'a text');
    default:
      if (converted === 'DECIMAL' || logical?.type === 'FLOAT16') return numberOf(value, unfit);
      if (value instanceof Uint8Array) return value;
      throw unfit('bytes');
  }
}

const DIGITS = /^-?\d+$/;

function integerOf(value: unknown, unfit: (wanted: string) => Error): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && DIGITS.test(value)) return BigInt(value);
  throw unfit('an integer of 64 bits');
}

function numberOf(value: unknown, unfit: (wanted: string) => Error): number {
  if (typeof value === 'number') return value;
  throw unfit('a number');
}

const ISO = /^(.*T\d\d:\d\d:\d\d)(?:\.(\d+))?Z$/;
const DECIMALS: Readonly<Record<string, number>> = { MILLIS: 3, MICROS: 6, NANOS: 9 };

/** Units since 1970. */
function timeOf(text: string, unit: string, tree: SchemaTree): bigint {
  const found = ISO.exec(text);
  const seconds = found === null ? Number.NaN : Date.parse(`${found[1]}Z`) / 1000;
  if (found === null || Number.isNaN(seconds))
    throw misfit(tree, `is ${JSON.stringify(text.slice(0, 40))}, not a time such as 2025-02-01T00:00:00.000Z`);
  const decimals = DECIMALS[unit] ?? 3;
  const fraction = (found[2] ?? '').padEnd(decimals, '0');
  if (/[1-9]/.test(fraction.slice(decimals))) throw misfit(tree, `is ${text}, finer than the column keeps`);
  return BigInt(seconds) * 10n ** BigInt(decimals) + BigInt(fraction.slice(0, decimals));
}

/** Half a surrogate pair has no form in UTF-8: it would be written as something else. */
function wellFormed(text: string, tree: SchemaTree): string {
  if ((text as string & { isWellFormed(): boolean }).isWellFormed()) return text;
  throw misfit(tree, 'holds half of a surrogate pair, which no text file can keep');
}

/** Integers beyond what a number holds are written out. */
export function jsonText(value: unknown): string {
  let whole = true;
  const text = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'bigint') {
      whole = false;
      return null;
    }
    return inner instanceof Uint8Array ? Array.from(inner) : inner;
  });
  return whole ? text : exactJson(value);
}

function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map((inner) => exactJson(inner ?? null)).join(',')}]`;
  if (!isRecord(value)) return jsonText(value);
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${exactJson(inner)}`).join(',')}}`;
}

const misfit = (tree: SchemaTree, what: string): MisfitValue =>
  new MisfitValue(tree.path.length === 0 ? `it ${what}` : `its ${tree.path.join('.')} ${what}`);

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Uint8Array) return 'bytes';
  if (typeof value === 'object') return 'a struct';
  if (typeof value === 'string') return `the text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  return typeof value === 'boolean' ? String(value) : `the number ${String(value)}`;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
