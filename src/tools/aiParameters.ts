/** The input schema of an AI SDK tool as the parameters of ours: what it takes is checked by the schema's own validator where it has one. */
import { z } from 'zod';
import { UserError } from '../userError.js';
import { type AiSchema, isAiSchema } from './aiTool.js';
import { described, type JsonSchema } from './jsonSchema.js';
import { parametersOf } from './jsonTool.js';
import { objectSchema } from './schemaCheck.js';

/** @throws UserError by the tool's name where its schema has no form as JSON Schema */
export async function aiParameters(name: string, input: unknown, asSchema?: (schema: never) => unknown): Promise<z.ZodType> {
  if (input === undefined || input === null) return parametersOf(name, { type: 'object', properties: {} });
  if (isAiSchema(input)) return fromAiSchema(name, input);
  if (isZod4(input)) return input;
  if (isStandard(input)) {
    const { jsonSchema, validate, vendor } = input['~standard'];
    if (jsonSchema)
      return checkedBy(name, jsonSchema.input({ target: 'draft-07' }), async (value) => standardResult(await validate(value)));
    if (asSchema) return fromAiSchema(name, asSchema(input as never) as AiSchema);
    throw new UserError(
      `tool "${name}": its input schema (${vendor}) has no form as JSON Schema`,
      'Use zod 4 or jsonSchema(...), or pass { asSchema } from the package "ai" to aiTools.',
    );
  }
  if (typeof input === 'function') return aiParameters(name, (input as () => unknown)(), asSchema);
  throw new UserError(`tool "${name}" has no input schema that is known`, 'Give inputSchema: zod, jsonSchema(...) or a standard schema.');
}

async function fromAiSchema(name: string, { jsonSchema, validate }: AiSchema): Promise<z.ZodType> {
  const schema = (await jsonSchema) as JsonSchema;
  if (validate === undefined) return parametersOf(name, schema);
  return checkedBy(name, schema, async (value) => {
    const result = (await validate(value)) as { success: true; value: unknown } | { success: false; error: unknown };
    return result.success ? { value: result.value } : { issues: issuesIn(result.error) };
  });
}

interface Issue {
  readonly message: string;
  readonly path?: readonly unknown[] | undefined;
}

type Checked = { readonly value: unknown } | { readonly issues: readonly Issue[] };

function checkedBy(name: string, schema: JsonSchema, check: (value: unknown) => Promise<Checked>): z.ZodType {
  const type = z.unknown().transform(async (value, context) => {
    const checked = await check(value);
    if ('value' in checked) return checked.value;
    for (const { message, path = [] } of checked.issues)
      context.addIssue({ code: 'custom', message, path: path.map(stepOf), input: value });
    return z.NEVER;
  });
  try {
    return described(type, objectSchema(schema));
  } catch (error) {
    throw new UserError(`tool "${name}": its parameters cannot be used: ${(error as Error).message}`, 'Its input must be an object.');
  }
}

const stepOf = (step: unknown): PropertyKey =>
  typeof step === 'object' && step !== null && 'key' in step ? (step.key as PropertyKey) : (step as PropertyKey);

/** Of an error that wraps another, the issues that are deepest inside; else its message. */
function issuesIn(error: unknown): readonly Issue[] {
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 8; depth++) {
    if (Array.isArray(at)) return at as Issue[];
    const { issues, cause } = at as { issues?: unknown; cause?: unknown };
    if (Array.isArray(issues)) return issues as Issue[];
    at = cause;
  }
  return [{ message: error instanceof Error ? error.message : String(error) }];
}

interface Standard {
  readonly '~standard': {
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly jsonSchema?: { readonly input: (options: { target: string }) => JsonSchema };
  };
}

function standardResult(result: unknown): Checked {
  const { issues, value } = result as { issues?: readonly Issue[]; value?: unknown };
  return issues ? { issues } : { value };
}

const isStandard = (input: unknown): input is Standard =>
  (typeof input === 'object' || typeof input === 'function') && input !== null && '~standard' in input;

/** Of any copy of the library. */
const isZod4 = (input: unknown): input is z.ZodType =>
  typeof input === 'object' && input !== null && '_zod' in input && 'safeParseAsync' in input;
