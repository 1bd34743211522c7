/**
 * Mends the usual slips in a call's arguments: a number written as a string, a boolean as "True", a list as JSON text. Led by the JSON
 * Schema, unions included. A value that fits already, or that cannot be mended without loss, is left as it is; validation is zod's.
 */
import type { JsonSchema } from './jsonSchema.js';

export function coerce(value: unknown, schema: JsonSchema, root: JsonSchema = schema): unknown {
  const options = alternatives(schema, root);
  if (typeof value === 'string') return options.some((option) => takesString(option, value)) ? value : fromString(value, options, root);
  if (typeof value === 'number' || typeof value === 'boolean') {
    const kinds = options.flatMap(typesOf);
    const fits = kinds.length === 0 || kinds.includes(typeof value) || (kinds.includes('integer') && Number.isInteger(value));
    return !fits && kinds.includes('string') ? String(value) : value;
  }
  if (Array.isArray(value)) {
    const items = options.map((option) => option.items).find(isSchema);
    return items === undefined ? value : value.map((item) => coerce(item, items, root));
  }
  if (isSchema(value)) {
    const properties = options.map((option) => option.properties).filter(isSchema);
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const field = properties.map((fields) => (Object.hasOwn(fields, name) ? fields[name] : undefined)).find(isSchema);
        return [name, field === undefined ? inner : coerce(inner, field, root)];
      }),
    );
  }
  return value;
}

/** The schema's members where it is a union, itself otherwise; references into the same document are followed. */
function alternatives(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema[] {
  if (depth > 16) return [];
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union)) return union.filter(isSchema).flatMap((member) => alternatives(member, root, depth + 1));
  if (Array.isArray(schema.allOf) && schema.allOf.length === 1 && isSchema(schema.allOf[0])) {
    return alternatives(schema.allOf[0], root, depth + 1);
  }
  if (typeof schema.$ref === 'string') {
    const target = resolve(schema.$ref, root);
    return target === undefined ? [] : alternatives(target, root, depth + 1);
  }
  return [schema];
}

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

function fromString(text: string, options: readonly JsonSchema[], root: JsonSchema): unknown {
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
      return coerce(JSON.parse(trimmed), { anyOf: options }, root);
    } catch {
      return text;
    }
  }
  return text;
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);
