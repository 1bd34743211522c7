/**
 * A study as a YAML file: arms (recipe overrides) x blocks (a start, an order of problems, seeds), and claims about arms with the rules that
 * will judge them. Everything is checked before anything runs. Does not run: see `runStudy.ts`.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { resolveRecipe } from '../recipe/load.js';
import { differences, isPlain, merge, type Plain } from '../recipe/merge.js';
import { nearest } from '../recipe/nearest.js';
import type { Recipe, RecipeInput } from '../recipe/schema.js';
import { UserError } from '../userError.js';
import { type Check, checkSchema, type Endpoint, endpointSchema } from './endpoint.js';
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
  const missing = filesOf(plan).filter(({ path }) => !existsSync(path));
  if (missing.length > 0)
    throw new UserError(
      `${file}: ${missing.map(({ arm, path }) => `arm ${arm} needs the file ${path}, which is not there`).join('; ')}`,
      'Paths in a plan are relative to the folder in which the command runs.',
    );
  return plan;
}

/** Files on this machine that arms read. */
function filesOf({ arms, start }: StudyPlan): { arm: string; path: string }[] {
  return [...arms, ...(start === undefined ? [] : [{ name: 'start', recipe: start }])].flatMap(({ name, recipe: { sft, problems } }) => {
    const sources = [problems.train, problems.evaluation, sft?.demonstrations];
    return sources.flatMap((source) =>
      typeof source === 'object' && 'file' in source && !source.file.startsWith('hf:') ? [{ arm: name, path: source.file }] : [],
    );
  });
}

/**
 * @param where for messages
 * @param text as it was written
 */
export function planOf(values: unknown, where: string, text = stringify(values)): StudyPlan {
  const parsed = planSchema.safeParse(values);
  if (!parsed.success) throw new UserError(`${where}: ${z.prettifyError(parsed.error)}`, 'docs/studies.md lists the keys.');
  const { name, title, blocks, seed, claims, ...plan } = parsed.data;
  const recipe = (over: Plain, of: string): Recipe => {
    try {
      return resolveRecipe({ ...over, name: of } as unknown as RecipeInput);
    } catch (error) {
      if (error instanceof UserError) throw new UserError(`${where}: ${of}: ${error.message}`, error.hint);
      throw error;
    }
  };
  const arms = Object.entries(plan.arms).map(([arm, over]): Arm => ({ name: arm, recipe: recipe(merge(plan.base, over ?? {}), arm) }));
  const start = plan.start === undefined ? undefined : recipe(plan.start, 'start');
  const mistakes = [...claims.flatMap((claim) => mistakesOf(claim, arms)), ...repeated(claims), ...idle(claims, arms)];
  if (mistakes.length > 0) throw new UserError(`${where}:\n${mistakes.map((text) => `  - ${text}`).join('\n')}`);
  return {
    name,
    title,
    blocks,
    seed,
    start,
    arms,
    claims,
    notes: notesOn(blocks),
    hash: planHash({ name, seed, start, arms, claims }),
    text,
    asked: blocks,
  };
}

/** The same plan with fewer blocks. */
export function withBlocks(plan: StudyPlan, most: number | undefined): StudyPlan {
  if (most === undefined || most >= plan.blocks) return plan;
  return { ...plan, blocks: most, notes: notesOn(most) };
}

const notesOn = (blocks: number): string[] =>
  blocks < LEAST_BLOCKS ? [`${blocks} blocks: every verdict will be "exploratory"; the rule asks for ${LEAST_BLOCKS}`] : [];

/** Of all that decides verdicts; neither the title nor the number of blocks. */
export const planHash = ({ name, seed, start, arms, claims }: Pick<StudyPlan, 'name' | 'seed' | 'start' | 'arms' | 'claims'>): string =>
  hashOf({ name, seed, start, arms, claims });

/** Short, the same for equal values whatever the order of their keys. */
export const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
    .slice(0, 16);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

function mistakesOf(claim: Claim, arms: readonly Arm[]): string[] {
  const names = arms.map((arm) => arm.name);
  const used = armsOf(claim);
  const unknown = used.filter((arm) => !names.includes(arm));
  if (unknown.length > 0) {
    return unknown.map((arm) => {
      const near = nearest(arm, names);
      return `claim ${claim.id}: there is no arm ${arm}.${near ? ` Did you mean ${near}?` : ''} Arms: ${names.join(', ')}`;
    });
  }
  const found: string[] = [];
  for (const { above, below } of claim.parts) {
    if (above === below) found.push(`claim ${claim.id} compares ${above} with itself`);
    const further = undeclared(arms, above, below, claim.differs);
    if (further.length > 0) {
      const lines = further.map(({ path, was, is }) => `${path} (${JSON.stringify(was)} and ${JSON.stringify(is)})`);
      found.push(`claim ${claim.id}: ${above} and ${below} differ in more than the claim says: ${lines.join(', ')}`);
    }
  }
  return found;
}

/** Every arm that a claim's parts and checks name. */
export const armsOf = (claim: Claim): string[] => [
  ...new Set([
    ...claim.parts.flatMap(({ above, below }) => [above, below]),
    ...claim.checks.flatMap((check: Check) => ('arm' in check ? [check.arm] : check.arms)),
  ]),
];

function undeclared(arms: readonly Arm[], first: string, second: string, allowed: readonly string[]): ReturnType<typeof differences> {
  const of = (name: string): Plain => {
    const { name: _, description: __, ...recipe } = arms.find((arm) => arm.name === name)!.recipe;
    return recipe as unknown as Plain;
  };
  return differences(of(first), of(second)).filter(
    ({ path }) => !allowed.some((prefix) => path === prefix || path.startsWith(`${prefix}.`)),
  );
}

const repeated = (claims: readonly Claim[]): string[] =>
  claims.filter(({ id }, i) => claims.findIndex((other) => other.id === id) !== i).map(({ id }) => `two claims are called ${id}`);

const idle = (claims: readonly Claim[], arms: readonly Arm[]): string[] => {
  const used = new Set(claims.flatMap(armsOf));
  return arms.filter(({ name }) => !used.has(name)).map(({ name }) => `arm ${name} belongs to no claim`);
};

export type { Check, Endpoint };
