/** Files on this machine that a recipe reads: where they are. Does not read them. */
import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { isFileSource } from '../problems/load.js';
import type { ProblemSource, Recipe } from '../recipe/schema.js';
import { packageRoot } from '../setup/paths.js';

/** Paths as the recipe has them. */
export function filesOf(recipe: Recipe): string[] {
  const paths: string[] = [];
  eachFile(recipe, (path) => {
    paths.push(path);
    return path;
  });
  return paths;
}

/** The recipe as it is run: files by their whole path, so that a run goes on from any folder, and those of the package by their place here. */
export const withPackagedFiles = (recipe: Recipe): Recipe => eachFile(recipe, (path) => resolve(found(path)));

/** As it is, where a file is there; else in the package, where it comes along. */
export function found(path: string): string {
  if (isAbsolute(path) || existsSync(path) || path.split(/[/\\]/).includes('..')) return path;
  const packaged = join(packageRoot(), path);
  return existsSync(packaged) ? packaged : path;
}

function eachFile(recipe: Recipe, to: (path: string) => string): Recipe {
  const { problems, sft } = recipe;
  const source = (one: ProblemSource): ProblemSource => {
    if (!isFileSource(one)) return one;
    if (typeof one === 'string') return isRemote(one) ? one : to(one);
    return 'file' in one && !isRemote(one.file) ? { ...one, file: to(one.file) } : one;
  };
  return {
    ...recipe,
    problems: { train: source(problems.train), evaluation: source(problems.evaluation) },
    ...(sft && { sft: { ...sft, demonstrations: taught(sft.demonstrations, source, to) } }),
  };
}

type Demonstrations = NonNullable<Recipe['sft']>['demonstrations'];

function taught(
  demonstrations: Demonstrations,
  source: (one: ProblemSource) => ProblemSource,
  to: (path: string) => string,
): Demonstrations {
  if ('file' in demonstrations) return isRemote(demonstrations.file) ? demonstrations : { file: to(demonstrations.file) };
  return 'problems' in demonstrations ? { ...demonstrations, problems: source(demonstrations.problems) } : demonstrations;
}

const isRemote = (path: string): boolean => path.startsWith('hf:');
