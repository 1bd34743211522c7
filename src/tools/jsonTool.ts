/** A tool whose parameters are a JSON Schema, as other programs give them. Everything else is as with `tool`. */
import type { z } from 'zod';
import { UserError } from '../userError.js';
import { fromJsonSchema, type JsonSchema } from './jsonSchema.js';
import { type Tool, tool } from './tool.js';

export interface JsonTool<Args, State = undefined> extends Omit<Tool<z.ZodType<Args>, State>, 'parameters'> {
  /** JSON Schema of an object; draft 7, 2019-09 or 2020-12 (where `$schema` is absent). */
  readonly parameters: JsonSchema;
}

/**
 * Arguments that do not fit are mended where that loses nothing, else refused in words for the model; `execute` sees only what the schema
 * allows. `Args` is what you say it is: nothing derives it from the schema.
 * @throws UserError by the tool's name where the schema cannot be compiled; RangeError for a name that cannot be
 */
export function jsonTool<Args = Record<string, unknown>, State = undefined>(
  definition: JsonTool<Args, State>,
): Tool<z.ZodType<Args>, State> {
  return tool({ ...definition, parameters: parametersOf<Args>(definition.name, definition.parameters) });
}

/** @throws UserError by the tool's name */
export function parametersOf<Args>(name: string, schema: JsonSchema): z.ZodType<Args> {
  try {
    return fromJsonSchema<Args>(schema);
  } catch (error) {
    throw new UserError(
      `tool "${name}": its parameters are no JSON Schema that can be used: ${(error as Error).message}`,
      'Give a JSON Schema of an object (draft 7 or 2020-12); references must lead into the schema itself.',
    );
  }
}
