/**
 * From a name, a file or an object to a resolved recipe: `extends` followed, `--set` laid over it, every value checked. Mistakes become
 * sentences with file and line. Does not compare with the paper: see `deviations.ts`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../userError.js';
import { contradictions } from './contradictions.js';
import { explain, type Locate } from './explain.js';
import { takesNull } from './jsonShape.js';
import { type Layer, locateIn, objectLayer, readLayer, setLayer } from './layer.js';
import { type Difference, differences, isPlain, merge, type Plain } from './merge.js';
import { nearest } from './nearest.js';
import { type Recipe, type RecipeInput, recipeSchema } from './schema.js';

const PACKAGED = fileURLToPath(new URL('../../recipes/', import.meta.url));

export interface Loaded {
  readonly recipe: Recipe;
  /** Files and options, the first laid under all others. */
  readonly sources: readonly string[];
}

/** Names that need no file. */
export function packagedRecipes(): string[] {
  return readdirSync(PACKAGED)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}

/**
 * @param nameOrFile a packaged name (`grpo-tcr`) or a YAML file; paths inside a recipe are relative to the working directory, except that of
 *   `extends`, which is relative to the file it stands in
 * @param options.set assignments such as `rl.steps=20`, the last one wins
 * @throws UserError with one sentence a mistake
 */
export async function loadRecipe(nameOrFile: string, options: { readonly set?: readonly string[] } = {}): Promise<Loaded> {
  return load(chain(find(nameOrFile, process.cwd())), options.set ?? []);
}

/** One of the packaged recipes, as it is. */
export function packagedRecipe(name: string): Recipe {
  return load(chain(find(name, process.cwd())), []).recipe;
}

/**
 * A recipe from an object, for example in a program of one's own; `extends` may name a packaged recipe or a file.
 * @param options.set as for `loadRecipe`
 */
export function resolveRecipe(input: RecipeInput, options: { readonly set?: readonly string[] } = {}): Recipe {
  return load([...below(input), objectLayer(input as unknown as Plain)], options.set ?? []).recipe;
}

/** A recipe, or one sentence a mistake. */
export type Resolved =
  | { readonly kind: 'recipe'; readonly recipe: Recipe }
  | { readonly kind: 'mistaken'; readonly mistakes: readonly string[] };

/**
 * As `resolveRecipe`, for objects that are part of something larger: mistakes are values.
 * @param locate where a place of the object was written
 */
export function tryRecipe(input: RecipeInput, locate: Locate): Resolved {
  try {
    const { recipe, mistakes } = check([...below(input), { ...objectLayer(input as unknown as Plain), locate }]);
    return recipe === undefined ? { kind: 'mistaken', mistakes } : { kind: 'recipe', recipe };
  } catch (error) {
    if (error instanceof UserError)
      return { kind: 'mistaken', mistakes: [[error.message, error.hint].filter((text) => text !== undefined).join(' ')] };
    throw error;
  }
}

const below = (input: RecipeInput): Layer[] => (input.extends === undefined ? [] : chain(find(input.extends, process.cwd())));

/** What differs between two resolved recipes, for example on resume. Name and description do not count. */
export function recipeDiff(was: Recipe, is: Recipe): Difference[] {
  return differences(was as unknown as Plain, is as unknown as Plain).filter(({ path }) => path !== 'name' && path !== 'description');
}

function load(layers: readonly Layer[], assignments: readonly string[]): Loaded {
  const all = [...layers];
  for (const assignment of assignments) all.push(setLayer(assignment, laid(all)));
  const { recipe, mistakes } = check(all);
  if (recipe === undefined) throw mistaken(layers.at(-1)!.name, mistakes);
  return { recipe, sources: all.map((layer) => layer.name) };
}

const laid = (layers: readonly Layer[]): Plain => layers.reduce<Plain>((values, layer) => merge(values, layer.values), {});

function check(layers: readonly Layer[]): { readonly recipe: Recipe | undefined; readonly mistakes: readonly string[] } {
  const { extends: _, ...rest } = laid(layers);
  const input = withoutNulls(rest, []);
  const parsed = recipeSchema.safeParse(input);
  const mistakes = parsed.success ? contradictions(parsed.data) : explain(parsed.error.issues, input, locateIn(layers));
  return { recipe: mistakes.length === 0 ? parsed.data : undefined, mistakes };
}

function mistaken(name: string, mistakes: readonly string[]): UserError {
  const hint = 'docs/recipes.md lists the keys; packaged recipes are examples.';
  if (mistakes.length === 1) return new UserError(mistakes[0]!, hint);
  return new UserError(`The recipe ${name} has ${mistakes.length} mistakes:\n${mistakes.map((text) => `  - ${text}`).join('\n')}`, hint);
}

/** A null counts as not written, so that a recipe can take back what it inherits; where null is a value of its own it stays. */
function withoutNulls(values: Plain, path: readonly string[]): Plain {
  const kept = Object.entries(values).filter(([key, value]) => value !== null || takesNull([...path, key]));
  return Object.fromEntries(kept.map(([key, value]) => [key, isPlain(value) ? withoutNulls(value, [...path, key]) : value]));
}

/** The file and those that it extends, the lowest first. */
function chain(file: string): Layer[] {
  const layers: Layer[] = [];
  const seen: string[] = [];
  for (let next: string | undefined = file; next !== undefined; ) {
    if (seen.includes(next))
      throw new UserError(`${file}: the recipes extend each other in a circle: ${[...seen, next].join(' -> ')}.`, 'Remove one `extends`.');
    seen.push(next);
    const layer = readLayer(next);
    layers.unshift(layer);
    const base: unknown = layer.values.extends ?? undefined;
    if (base !== undefined && typeof base !== 'string') {
      throw new UserError(`${layer.locate(['extends']) ?? next}: extends must be the name or the file of a recipe.`);
    }
    next = base === undefined ? undefined : find(base, dirname(next), layer.locate(['extends']));
  }
  return layers;
}

/** @returns an absolute path */
function find(nameOrFile: string, folder: string, from?: string): string {
  const looksLikeFile = /[/\\]/.test(nameOrFile) || /\.ya?ml$/i.test(nameOrFile);
  if (looksLikeFile) return isAbsolute(nameOrFile) ? nameOrFile : resolve(folder, nameOrFile);
  const known = packagedRecipes();
  if (known.includes(nameOrFile)) return join(PACKAGED, `${nameOrFile}.yaml`);
  const near = nearest(nameOrFile, known);
  const beside = existsSync(resolve(folder, nameOrFile)) ? ` For a file write ./${nameOrFile}.` : '';
  throw new UserError(
    `${from ? `${from}: ` : ''}there is no recipe named ${nameOrFile}.${near ? ` Did you mean ${near}?` : ''}${beside}`,
    `Packaged recipes: ${known.join(', ')}. A file is named with its ending: my.yaml.`,
  );
}
