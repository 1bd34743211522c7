/**
 * Whether a value is what a JSON Schema allows, by the words that tools' schemas use: types, properties, required and further ones, items,
 * enum and const, unions, bounds, lengths, and references into the same schema. Other words (patterns, formats, conditions) are not looked
 * at, so that no schema of a stranger can cost time without bound.
 */
import type { JsonSchema } from '../../tools/jsonSchema.js';
import { shown } from './fault.js';

/** What is wrong, with the path to it; undefined where the value fits. */
export function mismatch(value: unknown, schema: JsonSchema): string | undefined {
  return new Matcher(schema).check(value, schema, '', 0);
}

/** Schemas may refer to themselves. */
const DEEPEST = 64;
/** Comparisons for one value: unions of unions multiply. */
const MOST_STEPS = 100_000;

class Matcher {
  #steps = 0;

  constructor(private readonly root: JsonSchema) {}

  check(value: unknown, schema: unknown, path: string, depth: number): string | undefined {
    if (depth > DEEPEST || ++this.#steps > MOST_STEPS) return undefined;
    if (schema === false) return `${named(path)} is not allowed`;
    if (!isObject(schema)) return undefined;
    if (typeof schema.$ref === 'string') {
      const target = resolve(schema.$ref, this.root);
      return target === undefined ? undefined : this.check(value, target, path, depth + 1);
    }
    return (
      this.#type(value, schema, path) ??
      this.#fixed(value, schema, path) ??
      this.#union(value, schema, path, depth) ??
      this.#size(value, schema, path) ??
      this.#inner(value, schema, path, depth)
    );
  }

  #type(value: unknown, { type, nullable }: JsonSchema, path: string): string | undefined {
    const types = (Array.isArray(type) ? type : [type]).filter((one): one is string => typeof one === 'string');
    if (types.length === 0 || (nullable === true && value === null)) return undefined;
    if (types.some((one) => isOfType(value, one))) return undefined;
    return `${named(path)} is ${shown(value, 40)}, not ${types.join(' or ')}`;
  }

  #fixed(value: unknown, schema: JsonSchema, path: string): string | undefined {
    const allowed = 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? (schema.enum as unknown[]) : undefined;
    if (allowed === undefined || allowed.some((one) => same(one, value))) return undefined;
    return `${named(path)} is ${shown(value, 40)}, not ${shown(allowed.length === 1 ? allowed[0] : allowed)}`;
  }

  #union(value: unknown, schema: JsonSchema, path: string, depth: number): string | undefined {
    for (const part of listOf(schema.allOf)) {
      const wrong = this.check(value, part, path, depth + 1);
      if (wrong !== undefined) return wrong;
    }
    for (const parts of [listOf(schema.anyOf), listOf(schema.oneOf)]) {
      if (parts.length === 0) continue;
      const wrongs = parts.map((part) => this.check(value, part, path, depth + 1));
      if (wrongs.every((wrong) => wrong !== undefined)) return wrongs[0];
    }
    return undefined;
  }

  #size(value: unknown, schema: JsonSchema, path: string): string | undefined {
    const bound = (name: string): number | undefined => (typeof schema[name] === 'number' ? schema[name] : undefined);
    const tooLow = (size: number, least: number | undefined, what: string) =>
      least !== undefined && size < least ? `${named(path)} ${what} ${size}, less than ${least}` : undefined;
    const tooHigh = (size: number, most: number | undefined, what: string) =>
      most !== undefined && size > most ? `${named(path)} ${what} ${size}, more than ${most}` : undefined;
    if (typeof value === 'number') {
      const [above, below] = [bound('exclusiveMinimum'), bound('exclusiveMaximum')];
      if (above !== undefined && value <= above) return `${named(path)} is ${value}, not above ${above}`;
      if (below !== undefined && value >= below) return `${named(path)} is ${value}, not below ${below}`;
      return tooLow(value, bound('minimum'), 'is') ?? tooHigh(value, bound('maximum'), 'is');
    }
    if (typeof value === 'string') {
      const length = [...value].length;
      return tooLow(length, bound('minLength'), 'has length') ?? tooHigh(length, bound('maxLength'), 'has length');
    }
    if (Array.isArray(value))
      return tooLow(value.length, bound('minItems'), 'has length') ?? tooHigh(value.length, bound('maxItems'), 'has length');
    return undefined;
  }

  #inner(value: unknown, schema: JsonSchema, path: string, depth: number): string | undefined {
    if (Array.isArray(value)) {
      const first = listOf(schema.prefixItems);
      for (const [i, item] of value.entries()) {
        const wrong = this.check(item, first[i] ?? schema.items, `${path}[${i}]`, depth + 1);
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    }
    if (!isObject(value)) return undefined;
    for (const name of listOf(schema.required))
      if (typeof name === 'string' && !Object.hasOwn(value, name)) return `${named(inside(path, name))} is missing`;
    const properties = isObject(schema.properties) ? schema.properties : {};
    for (const [name, inner] of Object.entries(value)) {
      const known = Object.hasOwn(properties, name);
      if (!known && schema.additionalProperties === false && schema.patternProperties === undefined)
        return `${named(inside(path, name))} is not among ${Object.keys(properties).join(', ') || 'its properties'}`;
      const wrong = this.check(inner, known ? properties[name] : schema.additionalProperties, inside(path, name), depth + 1);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }
}

const inside = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const named = (path: string): string => (path === '' ? 'it' : JSON.stringify(path));

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      return true;
  }
}

function same(one: unknown, two: unknown): boolean {
  if (typeof one !== 'object' || one === null) return one === two;
  return typeof two === 'object' && JSON.stringify(one) === JSON.stringify(two);
}

function resolve(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    if (!isObject(at)) return undefined;
    at = at[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return at;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
