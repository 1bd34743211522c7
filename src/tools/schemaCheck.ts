/**
 * Arguments against a JSON Schema that somebody else wrote: draft 7 (and what draft 4 and 6 share with it), 2019-09, 2020-12. Compiled once,
 * before the run; what is wrong with arguments is worded for a model. Does not mend arguments (`coerce.ts`). A pattern of a stranger's may
 * need exponential time on a text that a model chooses: each match has a time limit.
 */
import { createRequire } from 'node:module';
import { createContext, Script } from 'node:vm';
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import type { JsonSchema } from './jsonSchema.js';

export interface ArgumentIssue {
  readonly path: readonly string[];
  /** Reads on from the field's name: `must be integer, not "x"`. */
  readonly message: string;
}

/** Empty where the value fits. Never throws. */
export type SchemaCheck = (value: unknown) => readonly ArgumentIssue[];

/** Characters of a schema as JSON: more is no description of arguments. */
const LONGEST_SCHEMA = 500_000;

/** @throws Error with the reason, in a few words, where the schema cannot be compiled */
export function compileSchema(schema: JsonSchema): { readonly schema: JsonSchema; readonly check: SchemaCheck } {
  const object = objectSchema(schema);
  const validate = engineFor(object).compile(object);
  if ('$async' in validate) throw new Error('it is asynchronous');
  return { schema: object, check: (value) => issuesOf(validate, value) };
}

/** A copy that is plain JSON and says that it takes an object. @throws Error with the reason where it takes none */
export function objectSchema(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema) as string | undefined;
  if (text === undefined || !text.startsWith('{')) throw new Error('it is no object');
  if (text.length > LONGEST_SCHEMA) throw new Error(`it has ${text.length} characters`);
  const plain = JSON.parse(text) as Record<string, unknown>;
  // Some schemas leave out what every tool has.
  const object: JsonSchema = 'type' in plain ? plain : { type: 'object', ...plain };
  if (object.type !== 'object') throw new Error(`its type is ${JSON.stringify(object.type)}, not "object"`);
  return object;
}

const OPTIONS: Options = {
  strict: false,
  // Another dialect's words are no mistake: what cannot be compiled throws all the same.
  validateSchema: false,
  meta: false,
  allErrors: true,
  verbose: true,
  ownProperties: true,
  multipleOfPrecision: 9,
  logger: false,
  code: { regExp: Object.assign(timedPattern, { code: 'timedPattern' }) },
};

/** Loaded with the first schema: most programs have none. */
const require = createRequire(import.meta.url);

/** One for each schema: two schemas may have the same `$id`. */
function engineFor({ $schema }: JsonSchema): Ajv {
  const declared = typeof $schema === 'string' ? $schema : '';
  const draft7 = /draft-0?[3467]\b/.test(declared);
  const module = draft7 ? 'ajv' : declared.includes('2019-09') ? 'ajv/dist/2019.js' : 'ajv/dist/2020.js';
  const { default: Engine } = require(module) as { default: typeof Ajv };
  const { default: addFormats } = require('ajv-formats') as { default: (engine: Ajv) => Ajv };
  return addFormats(new Engine(OPTIONS));
}

const match = new Script('pattern.test(text)');
const matching = createContext({ pattern: /x/, text: '' }) as { pattern: RegExp; text: string };

/** Steps that a match may need at most without a watch beside it: a second at the very worst. */
const MOST_STEPS = 1e8;
const FIRST_MS = 2000;
/** Once a pattern was found to be slow. */
const THEN_MS = 50;

/** A watch costs a thread and hears of a busy machine too: it stands beside those matches alone that could take long. */
function timedPattern(source: string, flags: string): { test(text: string): boolean; toString(): string } {
  let pattern: RegExp;
  try {
    pattern = new RegExp(source, flags);
  } catch {
    // Written for engines that are less strict about escapes.
    pattern = new RegExp(source);
  }
  const quantifiers = quantifiersOf(source);
  let timeout = FIRST_MS;
  return {
    // Patterns of one text are taken for one.
    toString: () => String(pattern),
    test: (text) => {
      if (quantifiers !== undefined && (text.length + 1) ** (quantifiers + 1) <= MOST_STEPS) return pattern.test(text);
      matching.pattern = pattern;
      matching.text = text;
      try {
        return match.runInContext(matching, { timeout }) as boolean;
      } catch (error) {
        timeout = THEN_MS;
        throw error;
      }
    },
  };
}

/** How often a pattern repeats something; undefined where repetitions or references stand within one another. */
function quantifiersOf(source: string): number | undefined {
  const plain = source.replace(/\\[^1-9k]/g, 'x').replace(/\[[^\]]*\]/g, 'x');
  if (/\\/.test(plain) || /\)(?:[*+{]|\?(?!:|=|!|<))/.test(plain)) return undefined;
  return plain.match(/[*+?{]/g)?.length ?? 0;
}

function issuesOf(validate: ValidateFunction, value: unknown): readonly ArgumentIssue[] {
  try {
    return validate(value) ? [] : worded(validate.errors ?? []);
  } catch (error) {
    const slow = (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    return [{ path: [], message: slow ? 'a text takes too long to match its pattern' : 'they are nested too deeply to be checked' }];
  }
}

/** What a union or a condition adds to the errors of its parts says nothing more. */
const SUMMARIES = new Set(['anyOf', 'if', 'propertyNames']);

function worded(errors: readonly ErrorObject[]): ArgumentIssue[] {
  const told = errors.filter(({ keyword }) => !SUMMARIES.has(keyword));
  const issues = new Map<string, ArgumentIssue>();
  for (const error of told.length === 0 ? errors : told) {
    const path = pathOf(error);
    const message = messageOf(error, allowedTypes(error, errors));
    issues.set(JSON.stringify([path, message]), { path, message });
  }
  return [...issues.values()];
}

/** Of all errors of type at one place: the parts of a union are one sentence. */
function allowedTypes({ instancePath, keyword }: ErrorObject, errors: readonly ErrorObject[]): readonly string[] {
  if (keyword !== 'type') return [];
  const here = errors.filter((error) => error.keyword === 'type' && error.instancePath === instancePath);
  return [...new Set(here.flatMap(({ params }) => (params as { type: string | string[] }).type))];
}

function pathOf({ instancePath, keyword, params, propertyName }: ErrorObject): string[] {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, string | undefined>;
  const inner = { required: missingProperty, additionalProperties: additionalProperty, unevaluatedProperties: unevaluatedProperty }[
    keyword
  ];
  return [...path, ...(inner === undefined ? [] : [inner]), ...(propertyName === undefined ? [] : [propertyName])];
}

function messageOf({ keyword, params, data, parentSchema, message, propertyName }: ErrorObject, types: readonly string[]): string {
  const not = `, not ${shown(data)}`;
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const known = Object.keys((parentSchema?.properties ?? {}) as object);
      return `is not a known field${known.length === 0 ? '' : `; known: ${known.slice(0, 20).join(', ')}`}`;
    }
    case 'type':
      return `must be ${types.join(' or ')}${not}`;
    case 'enum': {
      const { allowedValues } = params as { allowedValues: readonly unknown[] };
      const more = allowedValues.length > 12 ? ', …' : '';
      return `must be one of ${allowedValues.slice(0, 12).map(shown).join(', ')}${more}${not}`;
    }
    case 'const':
      return `must be ${shown((params as { allowedValue: unknown }).allowedValue)}${not}`;
    case 'format':
      return `must be of the form ${(params as { format: string }).format}${not}`;
    case 'pattern':
      return `must match ${(params as { pattern: string }).pattern.slice(0, 100)}${not}`;
    case 'oneOf':
      return (params as { passingSchemas: unknown }).passingSchemas === null ? 'fits no form that is allowed' : 'fits more than one form';
    case 'not':
      return 'is not allowed';
    case 'false schema':
      return 'is not allowed';
    default:
      return `${propertyName === undefined ? '' : 'the name '}${message ?? 'is wrong'}`.replace('NOT', 'not');
  }
}

const SHOWN = 60;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
