/**
 * Mends the usual slips in a call's arguments: a number written as a string, a boolean as "True", a list as JSON text. Led by the JSON
 * Schema, unions included. A value that fits already, or that cannot be mended without loss, is left as it is; validation comes after. Never
 * throws, whatever the schema.
 */
import type { JsonSchema } from './jsonSchema.js';

/** Levels of a value that are looked at. */
const DEEPEST = 100;
/** Alternatives that are looked at: unions of references to unions multiply. */
const MOST_ALTERNATIVES = 100;

export function coerce(value: unknown, schema: JsonSchema, root: JsonSchema = schema, depth = 0): unknown {
  if (depth > DEEPEST) return value;
  const options = alternatives(schema, root);
  const inside = (inner: unknown, its: JsonSchema | undefined): unknown =>
    its === undefined ? inner : coerce(inner, its, root, depth + 1);
  if (typeof value === 'string') {
    return options.some((option) => takesString(option, value)) ? value : fromString(value, options, root, depth);
  }
  if (typeof value === 'number' || typeof value === 'boolean') {
    const kinds = options.flatMap(typesOf);
    const fits = kinds.length === 0 || kinds.includes(typeof value) || (kinds.includes('integer') && Number.isInteger(value));
    return !fits && kinds.includes('string') ? String(value) : value;
  }
  if (Array.isArray(value)) {
    const items = options.map((option) => option.items).find(isSchema) ?? options.map((option) => option.additionalItems).find(isSchema);
    const first = options.map((option) => option.prefixItems ?? option.items).find(Array.isArray) ?? [];
    return value.map((item, i) => inside(item, i < first.length ? (isSchema(first[i]) ? first[i] : undefined) : items));
  }
  if (isSchema(value)) {
    const properties = options.map((option) => option.properties).filter(isSchema);
    const others = options.map((option) => option.additionalProperties).find(isSchema);
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const field = properties.map((fields) => (Object.hasOwn(fields, name) ? fields[name] : undefined)).find(isSchema);
        return [name, inside(inner, field ?? others)];
      }),
    );
  }
  return value;
}

/** What the schema says of a value, part by part: its own words, the members of unions and sums, what references lead to. */
function alternatives(schema: JsonSchema, root: JsonSchema): JsonSchema[] {
  const found: JsonSchema[] = [];
  const seen = new Set<JsonSchema>();
  const look = (at: JsonSchema, mayBeSilent: boolean): void => {
    if (seen.has(at) || seen.size >= MOST_ALTERNATIVES) return;
    seen.add(at);
    const union = [at.anyOf, at.oneOf].filter(Array.isArray).flat().filter(isSchema);
    const sum = Array.isArray(at.allOf) ? at.allOf.filter(isSchema) : [];
    const target = typeof at.$ref === 'string' ? resolve(at.$ref, root) : undefined;
    const silent = !SPEAKING.some((word) => word in at);
    const nothingElse = union.length === 0 && sum.length === 0 && typeof at.$ref !== 'string';
    if (!silent || (mayBeSilent && nothingElse)) found.push(at);
    for (const member of union) look(member, true);
    for (const part of target === undefined ? sum : [...sum, target]) look(part, false);
  };
  look(schema, true);
  return found;
}

/** Words by which a schema itself says what it takes; without them, and alone or in a union, it takes anything. */
const SPEAKING = ['type', 'enum', 'const', 'properties', 'additionalProperties', 'items', 'prefixItems'];

function resolve(reference: string, root: JsonSchema): JsonSchema | undefined {
  if (!reference.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    if (!isSchema(at)) return undefined;
    at = at[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return isSchema(at) ? at : undefined;
}

function typesOf(schema: JsonSchema): string[] {
  if (typeof schema.type === 'string') return [schema.type];
  if (Array.isArray(schema.type)) return schema.type.filter((type) => typeof type === 'string');
  const values = 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : [];
  return values.map((value) => (value === null ? 'null' : typeof value));
}

/** A schema without a type takes anything. */
function takesString(schema: JsonSchema, value: string): boolean {
  if ('const' in schema) return schema.const === value;
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  const types = typesOf(schema);
  return types.length === 0 || types.includes('string');
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

function fromString(text: string, options: readonly JsonSchema[], root: JsonSchema, depth: number): unknown {
  const kinds = new Set(options.flatMap(typesOf));
  const trimmed = text.trim();
  if ((kinds.has('integer') || kinds.has('number')) && NUMBER.test(trimmed)) {
    const number = Number(trimmed);
    const exact = !/^[+-]?\d+$/.test(trimmed) || Number.isSafeInteger(number);
    if (Number.isFinite(number) && exact && (kinds.has('number') || Number.isInteger(number))) return number;
  }
  if (kinds.has('boolean') && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true';
  if (kinds.has('null') && /^(null|none)$/i.test(trimmed)) return null;
  if ((kinds.has('array') && trimmed.startsWith('[')) || (kinds.has('object') && trimmed.startsWith('{'))) {
    try {
      return coerce(JSON.parse(trimmed), { anyOf: options }, root, depth + 1);
    } catch {
      return text;
    }
  }
  return text;
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);
