/**
 * The folder of a study: `study.json` (which plans, by hash), `plans/NAME.yaml` (as written) and `plans/NAME.json` (resolved, so that another
 * version's defaults change no key), `results/KEY.json` (kept as soon as an arm ends), `runs/` and `starts/` while they are needed. One
 * process writes it. Does not run anything.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder } from '../runs/lock.js';
import { UserError } from '../userError.js';
import { type ArmResult, parseResult } from './armResult.js';
import { planHash, type StudyPlan } from './plan.js';

interface StudyFile {
  readonly format: 1;
  /** Hash by the plan's name. */
  readonly plans: Readonly<Record<string, string>>;
}

/** Makes a folder a study's. */
export const STUDY_FILE = 'study.json';

export class StudyFolder {
  readonly #release: () => void;

  private constructor(
    readonly path: string,
    release: () => void,
  ) {
    this.#release = release;
  }

  /**
   * Opens the folder for these plans, making it where it is missing. Other plans' results stay, and are used where their keys are the same.
   * @throws UserError where a plan of that name was another one, the folder is something else, or another process writes it
   */
  static open(path: string, plans: readonly StudyPlan[]): StudyFolder {
    if (existsSync(path) && !existsSync(join(path, STUDY_FILE)) && readdirSync(path).length > 0)
      throw new UserError(`${path} is not empty and holds no study`, 'Choose another folder with --out.');
    mkdirSync(join(path, 'results'), { recursive: true });
    const release = lockFolder(path);
    try {
      const before = readStudyFile(path);
      for (const { name, hash } of plans) {
        const was = before.plans[name];
        if (was !== undefined && was !== hash)
          throw new UserError(
            `the plan ${name} was another one when the study in ${path} began (${was}, now ${hash})`,
            'Take the changes back, give the plan another name, or choose another --out. What equal arms have done counts under any name.',
          );
      }
      const file: StudyFile = { format: 1, plans: { ...before.plans, ...Object.fromEntries(plans.map(({ name, hash }) => [name, hash])) } };
      mkdirSync(join(path, 'plans'), { recursive: true });
      for (const plan of plans) keepPlan(path, plan);
      writeWhole(join(path, STUDY_FILE), file);
      return new StudyFolder(path, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  results(): Map<string, ArmResult> {
    return readResults(this.path);
  }

  keep(result: ArmResult): void {
    writeWhole(join(this.path, 'results', `${result.key}.json`), result);
  }

  /** Where the run of a key lies while it is needed. */
  runFolder(key: string): string {
    return join(this.path, 'runs', key);
  }

  startFolder(key: string): string {
    return join(this.path, 'starts', key);
  }

  close(): void {
    this.#release();
  }
}

/** By key. A file that is no result is an error that names it: results are never skipped in silence. */
export function readResults(path: string): Map<string, ArmResult> {
  const folder = join(path, 'results');
  const results = new Map<string, ArmResult>();
  if (!existsSync(folder)) return results;
  for (const name of readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()) {
    const file = join(folder, name);
    const result = parseResult(readFileSync(file, 'utf8'));
    if (typeof result === 'string') throw new UserError(`${file} ${result}`, 'Remove it; its arm runs again.');
    results.set(result.key, result);
  }
  return results;
}

/** A plan as it is kept: all but the text and what is printed before a run. */
type KeptPlan = Omit<StudyPlan, 'text' | 'asked' | 'notes'> & { readonly format: 1 };

function keepPlan(path: string, { text, asked, notes: _, ...plan }: StudyPlan): void {
  const kept: KeptPlan = { format: 1, ...plan, blocks: asked };
  writeText(join(path, 'plans', `${plan.name}.yaml`), text);
  writeWhole(join(path, 'plans', `${plan.name}.json`), kept);
}

/**
 * Every plan that ran in the folder, with the blocks that its text asks for.
 * @throws UserError where the folder is no study, or a plan is missing or another one
 */
export function readPlans(path: string): StudyPlan[] {
  if (!existsSync(join(path, STUDY_FILE)))
    throw new UserError(`${path} holds no study: there is no ${STUDY_FILE}`, 'npx toolwise study PLAN.yaml --out FOLDER makes one.');
  return Object.entries(readStudyFile(path).plans).map(([name, hash]) => {
    const file = join(path, 'plans', `${name}.json`);
    const again = `npx toolwise study ${name}.yaml --out ${path} writes it; what has run is not run again.`;
    if (!existsSync(file)) throw new UserError(`${path} does not hold the plan ${name}: ${file} is missing`, again);
    const { format, ...plan } = readJson(file, again) as KeptPlan;
    if (format !== 1) throw new UserError(`${file} is of another version`, again);
    if (planHash(plan) !== hash)
      throw new UserError(`${file} is another plan than the one that ran (${planHash(plan)}, and ${hash} in ${STUDY_FILE})`, again);
    const text = join(path, 'plans', `${name}.yaml`);
    return { ...plan, notes: [], asked: plan.blocks, text: existsSync(text) ? readFileSync(text, 'utf8') : '' };
  });
}

function readJson(file: string, hint: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UserError(`${file} is not JSON: ${(error as Error).message}`, hint);
  }
}

function readStudyFile(path: string): StudyFile {
  const file = join(path, STUDY_FILE);
  if (!existsSync(file)) return { format: 1, plans: {} };
  const found = readJson(file, 'Choose another folder.') as StudyFile;
  if (found.format !== 1) throw new UserError(`${file} is of another version`, 'Choose another folder with --out.');
  return found;
}

const writeWhole = (file: string, value: unknown): void => writeText(file, `${JSON.stringify(value)}\n`);

function writeText(file: string, text: string): void {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}
