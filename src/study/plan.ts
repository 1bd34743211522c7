/**
 * A study as a YAML file: arms (recipe overrides) x blocks (a start, an order of problems, seeds), and claims about arms with the rules that
 * will judge them. Everything is checked before anything runs. Does not run: see `runStudy.ts`.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { tryRecipe } from '../recipe/load.js';
import { merge, type Plain } from '../recipe/merge.js';
import type { Recipe, RecipeInput } from '../recipe/schema.js';
import { UserError } from '../userError.js';
import { armsOf, claimMistakes } from './claimMistakes.js';
import { type Check, checkSchema, type Endpoint, endpointSchema } from './endpoint.js';
import { hashOf } from './hash.js';
import { filesOf, found } from './planFiles.js';
import { LEAST_BLOCKS } from './verdict.js';

const armName = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,40}$/, 'small letters, digits, "-" and "."');

export const claimSchema = z.strictObject({
  id: armName,
  /** What is claimed, in one sentence. */
  says: z.string().min(1),
  /** Where the paper says so, with its numbers; absent for claims of our own. */
  paper: z.string().optional(),
  /** Why this small design is a fair trial, and where it is not. */
  fair: z.string().min(1),
  /** Each compares two arms: the first is to be above the second by more than the margin. */
  parts: z
    .array(
      z.strictObject({
        above: armName,
        below: armName,
        endpoint: endpointSchema,
        margin: z.number().nonnegative(),
        why: z.string().optional(),
      }),
    )
    .min(1),
  /** Recipe paths in which its arms may differ; a path stands for all below it. */
  differs: z.array(z.string().min(1)).min(1),
  /** What must have happened for the claim to be tested at all. */
  checks: z.array(checkSchema).default([]),
});

export const planSchema = z.strictObject({
  name: armName,
  title: z.string().min(1),
  /** Blocks wanted; fewer than 6 are exploratory. */
  blocks: z.int().positive(),
  /** Seed of the first block; each further one adds 1. */
  seed: z.int().nonnegative().default(1),
  /** What every block begins with, made anew for each block's seed and shared by its arms: a recipe whose end is the arms' model. Absent: the base's model as it is. */
  start: z.record(z.string(), z.unknown()).optional(),
  /** What all arms share. */
  base: z.record(z.string(), z.unknown()),
  arms: z.record(armName, z.record(z.string(), z.unknown()).nullable()),
  claims: z.array(claimSchema).min(1),
});

export type Claim = z.infer<typeof claimSchema>;

export interface Arm {
  readonly name: string;
  /** Resolved; seed and model are the block's. */
  readonly recipe: Recipe;
}

export interface StudyPlan {
  readonly name: string;
  readonly title: string;
  readonly blocks: number;
  readonly seed: number;
  readonly start: Recipe | undefined;
  readonly arms: readonly Arm[];
  readonly claims: readonly Claim[];
  /** What must be printed before it runs. */
  readonly notes: readonly string[];
  /** Of everything that decides results; an edited plan has another. */
  readonly hash: string;
  /** As it was written. */
  readonly text: string;
  /** Blocks that the text asks for; `blocks` may be fewer. */
  readonly asked: number;
  /** Of a plan that was read from a study: where its text came to ask for more, with results of it there. Absent where it never did. */
  readonly raised?: readonly RaisedBlocks[];
}

/** How many blocks were asked for, before and after, and how many results of the plan were there to be seen. */
export interface RaisedBlocks {
  readonly from: number;
  readonly to: number;
  readonly results: number;
}

/** @throws UserError where the file cannot be read, the plan is wrong, with every mistake, or a file that it names is missing */
export function readPlan(file: string): StudyPlan {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserError(`the plan ${file} cannot be read: ${(error as Error).message}`);
  }
  let values: unknown;
  try {
    values = parse(text);
  } catch (error) {
    throw new UserError(`${file}: this is not valid YAML: ${(error as Error).message}`);
  }
  const plan = planOf(values, file, text);
  const missing = recipesOf(plan).flatMap(({ name, recipe }) =>
    filesOf(recipe).flatMap((path) => (isFile(found(path)) ? [] : [`${name} needs the file ${path}, which is not there`])),
  );
  if (missing.length > 0)
    throw new UserError(
      `${file}: ${missing.join('; ')}`,
      'Paths in a plan are relative to the folder in which the command runs, or name what comes with the package.',
    );
  return plan;
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

/**
 * Several at once: each has a name of its own.
 * @throws UserError as `readPlan`, and where two have one name, with both files
 */
export function readPlanFiles(files: readonly string[]): StudyPlan[] {
  const plans = files.map((file) => ({ file, plan: readPlan(file) }));
  const byName = new Map<string, string>();
  const twice = plans.flatMap(({ file, plan: { name } }) => {
    const first = byName.get(name);
    if (first === undefined) byName.set(name, file);
    if (first === undefined) return [];
    return [resolve(first) === resolve(file) ? `the plan ${file} is given twice` : `${first} and ${file} are both called ${name}`];
  });
  if (twice.length > 0)
    throw new UserError(twice.join('; '), 'Results and verdicts go by the name of a plan: give each once, under a name of its own.');
  return plans.map(({ plan }) => plan);
}

const recipesOf = ({ arms, start }: StudyPlan): { name: string; recipe: Recipe }[] => [
  ...arms.map(({ name, recipe }) => ({ name: `arm ${name}`, recipe })),
  ...(start === undefined ? [] : [{ name: 'start', recipe: start }]),
];

/**
 * @param where for messages
 * @param text as it was written
 */
export function planOf(values: unknown, where: string, text = stringify(values)): StudyPlan {
  const parsed = planSchema.safeParse(values);
  if (!parsed.success) throw new UserError(`${where}: ${z.prettifyError(parsed.error)}`, 'docs/studies.md lists the keys.');
  const { name, title, blocks, seed, claims, ...plan } = parsed.data;
  const resolved = Object.entries(plan.arms).map(([arm, over]) => ({
    name: arm,
    ...tryRecipe(named(merge(plan.base, over ?? {}), arm), (path) =>
      holds(over, path) ? `arm ${arm}` : holds(plan.base, path) ? 'base' : undefined,
    ),
  }));
  const start = plan.start && tryRecipe(named(plan.start, 'start'), (path) => (holds(plan.start, path) ? 'start' : undefined));
  const inRecipes = [
    ...mistakesInArms(resolved.map((arm) => ({ name: arm.name, mistakes: arm.kind === 'mistaken' ? arm.mistakes : [] }))),
    ...(start?.kind === 'mistaken' ? start.mistakes.map((text) => placed(text, 'start')) : []),
  ];
  const recipes = new Map(resolved.map((arm) => [arm.name, arm.kind === 'recipe' ? arm.recipe : undefined]));
  const mistakes = [...inRecipes, ...claimMistakes(claims, recipes)];
  if (mistakes.length > 0) {
    const hint = inRecipes.length > 0 ? 'docs/recipes.md lists the keys of arms, docs/studies.md those of plans.' : undefined;
    throw new UserError(`${where}:\n${mistakes.map((text) => `  - ${text}`).join('\n')}`, hint);
  }
  const arms = resolved.flatMap((arm): Arm[] => (arm.kind === 'recipe' ? [{ name: arm.name, recipe: arm.recipe }] : []));
  const begin = start?.kind === 'recipe' ? start.recipe : undefined;
  return {
    name,
    title,
    blocks,
    seed,
    start: begin,
    arms,
    claims,
    notes: notesOn(blocks),
    hash: planHash({ name, seed, start: begin, arms, claims }),
    text,
    asked: blocks,
  };
}

const named = (values: Plain, name: string): RecipeInput => ({ ...values, name }) as unknown as RecipeInput;

/** Whether somebody wrote a value there. */
function holds(values: unknown, path: readonly (string | number)[]): boolean {
  let value = values;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
    value = (value as Plain)[key];
  }
  return true;
}

/** What is wrong in every arm is what they share. */
function mistakesInArms(arms: readonly { readonly name: string; readonly mistakes: readonly string[] }[]): string[] {
  const shared = (text: string): boolean => arms.every(({ mistakes }) => mistakes.includes(text));
  return [...new Set(arms.flatMap(({ name, mistakes }) => mistakes.map((text) => placed(text, shared(text) ? 'base' : `arm ${name}`))))];
}

/** With the place before it, where it does not begin with one of the plan's. */
const placed = (text: string, place: string): string => (/^(base|start|arm [^ :]+): /.test(text) ? text : `${place}: ${text}`);

/** The same plan with fewer blocks. */
export function withBlocks(plan: StudyPlan, most: number | undefined): StudyPlan {
  if (most === undefined || most >= plan.blocks) return plan;
  return { ...plan, blocks: most, notes: notesOn(most) };
}

const notesOn = (blocks: number): string[] =>
  blocks < LEAST_BLOCKS
    ? [`${blocks} ${blocks === 1 ? 'block' : 'blocks'}: every verdict will be "exploratory"; the rule asks for ${LEAST_BLOCKS}`]
    : [];

/** Of all that decides verdicts; neither the title nor the number of blocks. */
export const planHash = ({ name, seed, start, arms, claims }: Pick<StudyPlan, 'name' | 'seed' | 'start' | 'arms' | 'claims'>): string =>
  hashOf({ name, seed, start, arms, claims });

export type { Check, Endpoint };
export { armsOf, hashOf };
