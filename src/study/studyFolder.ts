/**
 * The folder of a study: `study.json` (which plans, by hash), `results/KEY.json` (kept as soon as an arm ends), `runs/` and `starts/` while
 * they are needed. One process writes it. Does not run anything.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder } from '../runs/lock.js';
import { UserError } from '../userError.js';
import type { ArmResult } from './armResult.js';
import type { StudyPlan } from './plan.js';

interface StudyFile {
  readonly format: 1;
  /** Hash by the plan's name. */
  readonly plans: Readonly<Record<string, string>>;
}

const STUDY_FILE = 'study.json';

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
    let result: ArmResult;
    try {
      result = JSON.parse(readFileSync(file, 'utf8')) as ArmResult;
    } catch (error) {
      throw new UserError(`${file} is not JSON: ${(error as Error).message}`, 'Remove it; its arm runs again.');
    }
    if (result.format !== 1 || typeof result.key !== 'string')
      throw new UserError(`${file} is not a result of this version`, 'Remove it; its arm runs again.');
    results.set(result.key, result);
  }
  return results;
}

function readStudyFile(path: string): StudyFile {
  const file = join(path, STUDY_FILE);
  if (!existsSync(file)) return { format: 1, plans: {} };
  const found = JSON.parse(readFileSync(file, 'utf8')) as StudyFile;
  if (found.format !== 1) throw new UserError(`${file} is of another version`, 'Choose another folder with --out.');
  return found;
}

function writeWhole(file: string, value: unknown): void {
  writeFileSync(`${file}.part`, `${JSON.stringify(value)}\n`);
  renameSync(`${file}.part`, file);
}
