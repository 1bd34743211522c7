/** What a model is told about a tool: its parameters as compact JSON Schema. Does not validate: see `callTool.ts`. */
import { z } from 'zod';
import { compileSchema } from './schemaCheck.js';
import type { Tool } from './tool.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool as plain JSON, for templates and system messages. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: JsonSchema;
}

/** @throws RangeError when the tool's parameters are no object. */
export function describeTool(tool: Pick<Tool, 'name' | 'description' | 'parameters'>): ToolDescription {
  const parameters = toJsonSchema(tool.parameters);
  if (parameters.type !== 'object') throw new RangeError(`tool "${tool.name}": its parameters must be a z.object`);
  return { name: tool.name, description: tool.description, parameters };
}

/** Of types that were made from a JSON Schema: zod cannot say which. */
const given = new WeakMap<z.ZodType, JsonSchema>();

/**
 * A zod type that takes what the schema allows. It goes in a tool's `parameters` as it is: what is made from it (`.optional()`) has lost
 * the schema.
 * @throws Error with the reason where the schema cannot be compiled
 */
export function fromJsonSchema<T = Record<string, unknown>>(schema: JsonSchema): z.ZodType<T> {
  const compiled = compileSchema(schema);
  const type = z.unknown().superRefine((value, context) => {
    for (const { path, message } of compiled.check(value)) context.addIssue({ code: 'custom', path: [...path], message, input: value });
  });
  return described(type as unknown as z.ZodType<T>, compiled.schema);
}

/** Makes `schema` what a model is told of a type, in place of what zod would say. */
export function described<T extends z.ZodType>(type: T, schema: JsonSchema): T {
  given.set(type, compactSchema(schema));
  return type;
}

/** Without what tells a model nothing: `$schema`, `additionalProperties: false`, bounds of safe integers. */
export const compactSchema = (schema: JsonSchema): JsonSchema => strip(schema) as JsonSchema;

/** Compact. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  return given.get(schema) ?? compactSchema(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema);
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key, inner]) => key !== '$schema' && !(key === 'additionalProperties' && inner === false) && !isSafeIntegerBound(key, inner),
  );
  return Object.fromEntries(entries.map(([key, inner]) => [key, key === 'properties' ? stripProperties(inner) : strip(inner)]));
}

/** A field may be called like a keyword. */
function stripProperties(properties: unknown): unknown {
  if (typeof properties !== 'object' || properties === null) return properties;
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, strip(schema)]));
}

const isSafeIntegerBound = (key: string, value: unknown): boolean =>
  (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) || (key === 'maximum' && value === Number.MAX_SAFE_INTEGER);
