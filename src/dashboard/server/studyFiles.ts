/**
 * What lies in a study's folder: its plans, and its results as far as they can be read. A file that has not changed is not read again; one
 * that is broken is told and costs no other. Somebody else may have made the folder: no link is followed, no name leads out of it, and sizes
 * are bounded. Never writes. Does not judge: see `studyView.ts`.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { type ArmResult, parseResult } from '../../study/armResult.js';
import { armsOf, claimSchema, type StudyPlan } from '../../study/plan.js';
import { readPlans, STUDY_FILE } from '../../study/studyFolder.js';

export interface StudyFiles {
  /** None where they cannot be read. */
  readonly plans: readonly StudyPlan[];
  /** By key. */
  readonly results: ReadonlyMap<string, ArmResult>;
  /** A sentence for each result that cannot be read. */
  readonly problems: readonly string[];
  /** Why there are no plans. */
  readonly unreadable?: string;
}

const LARGEST = 16e6;
/** Of all plans, before what they share. */
const MOST_ARM_RUNS = 5_000;

const studySchema = z.looseObject({ plans: z.record(z.string().regex(/^[a-z0-9][a-z0-9.-]*$/), z.string()) });

const planSchema = z.looseObject({
  title: z.string(),
  blocks: z.int().positive(),
  seed: z.int().nonnegative(),
  start: z.looseObject({ model: z.string() }).optional(),
  arms: z.array(z.looseObject({ name: z.string(), recipe: z.looseObject({ model: z.string(), stages: z.array(z.string()) }) })).min(1),
  claims: z.array(claimSchema).min(1),
  raised: z.array(z.looseObject({ from: z.int(), to: z.int(), results: z.int() })).optional(),
});

export class StudyReader {
  #results = new Map<string, { readonly stamp: string; readonly read: ArmResult | string }>();
  #last: { readonly stamp: string; readonly files: StudyFiles } | undefined;

  constructor(readonly folder: string) {}

  /** The same object as before where nothing has changed. */
  read(): StudyFiles {
    const results = filesIn(this.folder, 'results', '.json');
    const stamp = [
      stampOf(join(this.folder, STUDY_FILE)),
      ...[...filesIn(this.folder, 'plans', '.json'), ...filesIn(this.folder, 'plans', '.yaml'), ...results].map((file) => file.stamp),
    ].join('\n');
    if (this.#last?.stamp !== stamp) this.#last = { stamp, files: this.#readAll(results) };
    return this.#last.files;
  }

  #readAll(found: readonly FoundFile[]): StudyFiles {
    const before = this.#results;
    this.#results = new Map();
    const results = new Map<string, ArmResult>();
    const problems: string[] = [];
    for (const { name, path, stamp } of found) {
      const known = before.get(name);
      const read = known?.stamp === stamp ? known.read : readResult(path, basename(name, '.json'));
      if (read === undefined) continue;
      this.#results.set(name, { stamp, read });
      if (typeof read === 'string') problems.push(`results/${name} ${read}`);
      else results.set(read.key, read);
    }
    try {
      return { plans: plansIn(this.folder), results, problems };
    } catch (error) {
      return { plans: [], results, problems, unreadable: (error as Error).message.replaceAll(join(this.folder, '/'), '') };
    }
  }
}

/** @throws Error where a plan is missing, another one, or not of this version */
function plansIn(folder: string): StudyPlan[] {
  const named = studySchema.safeParse(jsonIn(join(folder, STUDY_FILE)));
  if (!named.success) throw new Error(`${STUDY_FILE} is not one of a study`);
  for (const name of Object.keys(named.data.plans)) {
    // what it is and how large is asked before anybody reads it
    if (!isPlain(join(folder, 'plans', `${name}.json`))) throw new Error(`plans/${name}.json is missing, or no plain file`);
    const text = join(folder, 'plans', `${name}.yaml`);
    if (lstatSync(text, { throwIfNoEntry: false }) && !isPlain(text)) throw new Error(`plans/${name}.yaml is no plain file`);
  }
  const plans = readPlans(folder);
  for (const plan of plans) {
    const { error } = planSchema.safeParse(plan);
    if (error) throw new Error(`plans/${plan.name}.json is not a plan of this version: ${z.prettifyError(error)}`);
    const arms = new Set(plan.arms.map(({ name }) => name));
    const unknown = plan.claims.flatMap(armsOf).find((arm) => !arms.has(arm));
    if (unknown !== undefined) throw new Error(`plans/${plan.name}.json has no arm ${unknown}, which a claim names`);
  }
  const wanted = plans.reduce((sum, { arms, blocks }) => sum + arms.length * blocks, 0);
  if (wanted > MOST_ARM_RUNS) throw new Error(`its plans ask for ${wanted} arm-runs, more than the ${MOST_ARM_RUNS} that are shown`);
  return plans;
}

/** Or what is wrong with it; undefined where it is gone again. */
function readResult(path: string, key: string): ArmResult | string | undefined {
  try {
    if (lstatSync(path).size > LARGEST) return `is larger than ${LARGEST / 1e6} MB`;
    return parseResult(readFileSync(path, 'utf8'), key);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : `cannot be read: ${(error as Error).message}`;
  }
}

function jsonIn(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function isPlain(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size <= LARGEST;
}

interface FoundFile {
  readonly name: string;
  readonly path: string;
  readonly stamp: string;
}

/** Plain files with this ending, where the folder is a plain one too. */
function filesIn(study: string, name: string, ending: string): FoundFile[] {
  const folder = join(study, name);
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
      .map((entry) => entry.name)
      .sort()
      .map((file) => ({ name: file, path: join(folder, file), stamp: stampOf(join(folder, file)) }));
  } catch {
    // gone, or not for us to read
    return [];
  }
}

function stampOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return `${path} ${found?.ino} ${found?.size} ${found?.mtimeMs}`;
}
