/** What is to be mixed: sources, how many of each, and what is left out. From a YAML file, or from `--source` options. Reads no rows. */
import { z } from 'zod';
import { readLayer } from '../../recipe/layer.js';
import { UserError } from '../../userError.js';

const positive = z.int().positive();
const texts = z.union([
  z
    .string()
    .min(1)
    .transform((one) => [one]),
  z.array(z.string().min(1)).min(1),
]);

const filterSchema = z.strictObject({
  /** Kinds of problem that are taken. */
  kind: z
    .union([z.enum(['math', 'choice', 'code']).transform((one) => [one]), z.array(z.enum(['math', 'choice', 'code'])).min(1)])
    .optional(),
  /** Names of the problems' own sources, `*` for any text: `train-math-*`. */
  source: texts.optional(),
  /** Values of tags, for example `{ level: [1, 2] }`. */
  tags: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.union([z.string(), z.number()]))])).optional(),
  minCharacters: positive.optional(),
  maxCharacters: positive.optional(),
});

const sourceSchema = z.strictObject({
  /** A path, or `hf:owner/name/path@revision`. */
  file: z.string().min(1),
  /** For the report and the card; absent: the file's name. */
  name: z.string().min(1).optional(),
  /** Rows to draw; absent: all that are left. */
  count: positive.optional(),
  /** Of this source's draw; absent: that of the mix. */
  seed: z.int().nonnegative().optional(),
  /** The file's schema where it is not found by itself. */
  schema: z.string().min(1).optional(),
  where: filterSchema.optional(),
  licence: z.string().min(1).optional(),
});

const planSchema = z.strictObject({
  title: z.string().min(1).default('Mixed set'),
  sources: z.array(sourceSchema).min(1),
  seed: z.int().nonnegative().default(1),
  /** Evaluation sets whose problems must not be in the set: files, benchmarks (`aime24`), or `aime24=FILE`. */
  against: z.array(z.string().min(1)).default([]),
  /** Which later copies are left out. */
  duplicates: z.enum(['near', 'exact', 'keep']).default('near'),
  contamination: z
    .strictObject({
      /** Words of a run. */
      run: z.int().min(4).max(50).default(8),
      /** Share of an evaluation problem's words in runs that a text has. */
      share: z.number().min(0.3).max(1).default(0.7),
      /** Problems from an evaluation problem's template, with other numbers. */
      templates: z.enum(['keep', 'remove']).default('keep'),
    })
    .prefault({}),
  /** Longest prompt, in tokens of this model, with system text and tools as the recipe has them. */
  prompt: z.strictObject({ tokenizer: z.string().min(1), maxTokens: positive, recipe: z.string().min(1).default('grpo-tcr') }).optional(),
  /** Mixed by seed, or in the order of the sources. */
  shuffle: z.boolean().default(true),
});

export type MixPlan = z.output<typeof planSchema>;
export type MixPlanInput = z.input<typeof planSchema>;
export type MixSource = z.output<typeof sourceSchema>;
export type RowFilter = z.output<typeof filterSchema>;

/** @throws UserError naming every mistake */
export function resolvePlan(input: MixPlanInput): MixPlan {
  return checked(input, 'the plan', () => undefined);
}

/** @throws UserError with file and line */
export function readPlan(file: string): MixPlan {
  const { name, values, locate } = readLayer(file);
  return checked(values, name, locate);
}

function checked(input: unknown, name: string, locate: (path: readonly (string | number)[]) => string | undefined): MixPlan {
  const parsed = planSchema.safeParse(input);
  if (parsed.success) {
    requireNames(parsed.data, name);
    return parsed.data;
  }
  const mistakes = parsed.error.issues.map(({ path, message }) => {
    const place = path as (string | number)[];
    return `${locate(place) ?? name}: ${place.length === 0 ? '' : `${place.join('.')}: `}${message}`;
  });
  throw new UserError(mistakes.join('\n'), 'docs/data.md lists the keys of a plan; recipes/data/paper-rl.yaml is an example.');
}

/** Two sources of one name could not be told apart in a report. */
function requireNames({ sources }: MixPlan, name: string): void {
  const names = sources.map(nameOf);
  const twice = names.find((one, index) => names.indexOf(one) !== index);
  if (twice !== undefined)
    throw new UserError(`${name}: two sources are called ${JSON.stringify(twice)}`, 'Give one of them another `name`.');
}

export const nameOf = ({ name, file }: Pick<MixSource, 'name' | 'file'>): string => name ?? file;

/** `FILE` or `FILE:count`. @throws UserError for a count that is none */
export function parseSource(text: string): { readonly file: string; readonly count?: number } {
  const [, file, count] = /^(.+?)(?::(\d+))?$/.exec(text) ?? [];
  if (file === undefined) throw new UserError('--source needs a file', 'For example --source set.parquet:1000');
  if (count === undefined) return { file };
  if (Number(count) < 1) throw new UserError(`--source ${JSON.stringify(text)}: a count must be at least 1`);
  return { file, count: Number(count) };
}
