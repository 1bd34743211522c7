/** What a model is told about a tool: its zod schema as compact JSON Schema. Does not validate: see `callTool.ts`. */
import { z } from 'zod';
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

/** Without what tells a model nothing: `$schema`, `additionalProperties: false`, bounds of safe integers. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  const compact = strip(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  return compact as JsonSchema;
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
  return Object.fromEntries(Object.entries(properties as object).map(([name, schema]) => [name, strip(schema)]));
}

const isSafeIntegerBound = (key: string, value: unknown): boolean =>
  (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) || (key === 'maximum' && value === Number.MAX_SAFE_INTEGER);
