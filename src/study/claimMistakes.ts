/** What is wrong with the claims of a plan, held against its arms: one sentence a mistake, all at once. Reads nothing and runs nothing. */
import { type Difference, differences, type Plain, show } from '../recipe/merge.js';
import { nearest } from '../recipe/nearest.js';
import type { Recipe } from '../recipe/schema.js';
import type { Check, Endpoint } from './endpoint.js';
import { mistakesForArm, mistakesInValues, outsideShare } from './endpointMistakes.js';
import { decisive, hashOf } from './hash.js';
import type { Claim } from './plan.js';

/** By name; undefined where the recipe itself is mistaken, so that nothing more can be said of the arm. */
export type Recipes = ReadonlyMap<string, Recipe | undefined>;

export const claimMistakes = (claims: readonly Claim[], recipes: Recipes): string[] => [
  ...new Set([...claims.flatMap((claim) => mistakesOf(claim, recipes)), ...repeated(claims), ...idle(claims, recipes)]),
];

/** Every arm that a claim's parts and checks name. */
export const armsOf = (claim: Claim): string[] => [
  ...new Set([
    ...claim.parts.flatMap(({ above, below }) => [above, below]),
    ...claim.checks.flatMap((check: Check) => ('arm' in check ? [check.arm] : check.arms)),
  ]),
];

function mistakesOf(claim: Claim, recipes: Recipes): string[] {
  const names = [...recipes.keys()];
  const unknown = armsOf(claim).filter((arm) => !recipes.has(arm));
  if (unknown.length > 0) {
    return unknown.map((arm) => {
      const near = nearest(arm, names);
      return `claim ${claim.id}: there is no arm ${arm}.${near ? ` Did you mean ${near}?` : ''} Arms: ${names.join(', ')}`;
    });
  }
  const found = [
    ...claim.parts.flatMap(({ above, below, endpoint }, i) => {
      const where = `claim ${claim.id}, part ${i + 1}`;
      return [...alike(where, above, below, recipes), ...ofEndpoint(where, endpoint, 'endpoint.', [above, below], recipes)];
    }),
    ...claim.checks.flatMap((check, i) => ofCheck(`claim ${claim.id}, check ${i + 1}`, check, recipes)),
  ];
  return [...found, ...ofDifferences(claim, recipes)];
}

function ofCheck(where: string, check: Check, recipes: Recipes): string[] {
  if ('arms' in check) {
    const [first, second] = check.arms;
    return [...alike(where, first, second, recipes), ...ofEndpoint(where, check.endpoint, 'endpoint.', check.arms, recipes)];
  }
  const { arm, mean, from, to, atLeast, stage = 'rl' } = check;
  const endpoint: Endpoint = { mean, stage, from, ...(to !== undefined && { to }) };
  return [...outsideShare(mean, atLeast, 'atLeast').map((text) => `${where}: ${text}`), ...ofEndpoint(where, endpoint, '', [arm], recipes)];
}

/** Arms that compute the same cannot differ. */
function alike(where: string, first: string, second: string, recipes: Recipes): string[] {
  if (first === second) return [`${where} compares ${first} with itself`];
  const [one, other] = [recipes.get(first), recipes.get(second)];
  if (one === undefined || other === undefined || hashOf(decisive(one)) !== hashOf(decisive(other))) return [];
  return [
    `${where}: ${first} and ${second} are the same recipe (name, description, follows, seed and checkpoints do not count): change one of them`,
  ];
}

/** What is wrong for several arms in the same way is said once. */
function ofEndpoint(where: string, endpoint: Endpoint, at: string, arms: readonly string[], recipes: Recipes): string[] {
  const armsBy = new Map<string, string[]>();
  for (const arm of new Set(arms)) {
    const recipe = recipes.get(arm);
    const texts = recipe === undefined ? [] : mistakesForArm(endpoint, recipe, at);
    for (const text of texts) armsBy.set(text, [...(armsBy.get(text) ?? []), arm]);
  }
  return [
    ...mistakesInValues(endpoint, at).map((text) => `${where}: ${text}`),
    ...[...armsBy].map(([text, of]) => `${where}, of ${of.join(' and ')}: ${text}`),
  ];
}

/** Arms differ in what `differs` names, in all of it, and in nothing else. */
function ofDifferences({ id, parts, differs }: Claim, recipes: Recipes): string[] {
  const found: string[] = [];
  const all: Difference[] = [];
  let known = true;
  for (const { above, below } of parts) {
    const [first, second] = [recipes.get(above), recipes.get(below)];
    if (first === undefined || second === undefined) known = false;
    else {
      const between = differences(compared(first), compared(second));
      all.push(...between);
      const further = between.filter(({ path }) => !differs.some((prefix) => isIn(path, prefix)));
      if (further.length > 0) {
        const lines = further.map(({ path, was, is }) => `${path} (${show(was)} and ${show(is)})`);
        found.push(`claim ${id}: ${above} and ${below} differ in more than the claim says: ${lines.join(', ')}`);
      }
    }
  }
  // arms that do not differ at all are told as such
  if (!known || all.length === 0) return found;
  const undeclared = all.map(({ path }) => path).filter((path) => !differs.some((prefix) => isIn(path, prefix)));
  for (const [i, path] of differs.entries()) {
    if (all.some((difference) => isIn(difference.path, path))) continue;
    const near = nearest(path, withParents(undeclared));
    const hint =
      near === undefined ? `They differ in ${[...new Set(all.map((one) => one.path))].join(', ')}: take it out` : `Did you mean ${near}?`;
    found.push(`claim ${id}: differs.${i} is ${path}, in which no two arms that its parts compare differ. ${hint}`);
  }
  return found;
}

const isIn = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}.`);

const withParents = (paths: readonly string[]): string[] => [
  ...new Set(
    paths.flatMap((path) => {
      const keys = path.split('.');
      return keys.map((_, i) => keys.slice(0, keys.length - i).join('.'));
    }),
  ),
];

function compared({ name: _, description: __, ...recipe }: Recipe): Plain {
  return recipe as unknown as Plain;
}

const repeated = (claims: readonly Claim[]): string[] =>
  claims.filter(({ id }, i) => claims.findIndex((other) => other.id === id) !== i).map(({ id }) => `two claims are called ${id}`);

function idle(claims: readonly Claim[], recipes: Recipes): string[] {
  const used = new Set(claims.flatMap(armsOf));
  return [...recipes.keys()].filter((name) => !used.has(name)).map((name) => `arm ${name} belongs to no claim`);
}
