/**
 * The folder of a study: `study.json` (which plans and which files they read, by hash), `plans/NAME.yaml` (as written) and `plans/NAME.json` (resolved, so that another
 * version's defaults change no key), `results/KEY.json` (kept as soon as an arm ends), `runs/` and `starts/` while they are needed. One
 * process writes it. Does not run anything.
 */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lockFolder } from '../runs/lock.js';
import { UserError } from '../userError.js';
import { isThere, makeFolder, readingFrom, refuseUnmakable, writingTo } from '../userPath.js';
import { type ArmResult, parseResult } from './armResult.js';
import { fileHashes } from './fileHashes.js';
import { blocksOf } from './jobs.js';
import { planHash, type RaisedBlocks, type StudyPlan } from './plan.js';

interface StudyFile {
  readonly format: 1;
  /** Hash by the plan's name. */
  readonly plans: Readonly<Record<string, string>>;
  /** SHA-256 of what arms read, by path as the plan has it; absent in older folders. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Makes a folder a study's. */
export const STUDY_FILE = 'study.json';

const ANOTHER_FOLDER = 'Choose another folder with --out.';

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
   * @throws UserError where a plan of that name was another one or asked for more blocks, a file that it reads has changed, the folder is
   * something else or cannot be written, or another process writes it
   */
  static open(path: string, plans: readonly StudyPlan[]): StudyFolder {
    return writingTo(path, () => StudyFolder.#open(path, plans), ANOTHER_FOLDER);
  }

  /**
   * What {@link open} would refuse of what lies there already, without writing anything.
   * @throws UserError
   */
  static refuse(path: string, plans: readonly StudyPlan[]): void {
    writingTo(
      path,
      () => {
        refuseUnmakable(path, ANOTHER_FOLDER);
        if (!existsSync(path)) return;
        refuseOtherFolder(path);
        const before = readStudyFile(path);
        for (const plan of plans) {
          refuseAnotherPlan(path, plan, before);
          if (before.plans[plan.name] !== undefined) raisesOf(path, plan);
        }
        checkedFiles(path, plans, before);
      },
      ANOTHER_FOLDER,
    );
  }

  static #open(path: string, plans: readonly StudyPlan[]): StudyFolder {
    makeFolder(path, ANOTHER_FOLDER);
    refuseOtherFolder(path);
    for (const inside of ['results', 'plans']) makeFolder(join(path, inside), ANOTHER_FOLDER);
    const release = lockFolder(path, `${ANOTHER_FOLDER} What is there can be reported: npx toolwise study report ${path} --to FILE.html`);
    try {
      const before = readStudyFile(path);
      for (const plan of plans) refuseAnotherPlan(path, plan, before);
      const files = checkedFiles(path, plans, before);
      const raised = plans.map((plan) => (before.plans[plan.name] === undefined ? [] : raisesOf(path, plan)));
      const file: StudyFile = {
        format: 1,
        plans: { ...before.plans, ...Object.fromEntries(plans.map(({ name, hash }) => [name, hash])) },
        ...(Object.keys(files).length > 0 && { files }),
      };
      for (const [i, plan] of plans.entries()) keepPlan(path, plan, raised[i]!);
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
    const file = join(this.path, 'results', `${result.key}.json`);
    writingTo(file, () => writeWhole(file, result), 'Free some space or change the permissions, then go on with the same command.');
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

function refuseOtherFolder(path: string): void {
  if (!existsSync(join(path, STUDY_FILE)) && readdirSync(path).length > 0)
    throw new UserError(`${path} is not empty and holds no study`, ANOTHER_FOLDER);
}

function refuseAnotherPlan(path: string, { name, hash }: StudyPlan, before: StudyFile): void {
  const was = before.plans[name];
  if (was === undefined || was === hash) return;
  throw new UserError(
    `the plan ${name} was another one when the study in ${path} began (${was}, now ${hash})`,
    'Take the changes back, give the plan another name, or choose another --out. What equal arms have done counts under any name.',
  );
}

/** Files of this study as they were first read, with those that are new to it. @throws UserError where one has changed */
function checkedFiles(path: string, plans: readonly StudyPlan[], { files = {} }: StudyFile): Record<string, string> {
  const now = new Map(plans.flatMap((plan) => [...fileHashes(plan)]));
  for (const [file, hash] of now) {
    const was = files[file];
    if (was !== undefined && was !== hash)
      throw new UserError(
        `${file} holds something else than when the study in ${path} read it (SHA-256 ${was.slice(0, 12)}, now ${hash.slice(0, 12)})`,
        'Put back what it held. Else choose another --out, or give the file a name of its own, in a plan of another name.',
      );
  }
  return { ...Object.fromEntries(now), ...files };
}

/**
 * How often the plan was given more blocks after results of it were there, now included.
 * @throws UserError where it asks for fewer, and results would vanish from the report
 */
function raisesOf(path: string, plan: StudyPlan): readonly RaisedBlocks[] {
  const { name, asked } = plan;
  const kept = keptPlan(path, name);
  const { blocks: was = asked, raised = [] } = kept ?? {};
  if (was === asked) return raised;
  const all = readResults(path);
  const keys = blocksOf([{ ...plan, blocks: Math.max(was, asked) }]).flatMap(({ jobs }) => jobs.map(({ key }) => key));
  const results = keys.filter((key) => all.has(key)).length;
  if (results === 0) return raised;
  if (asked > was) return [...raised, { from: was, to: asked, results }];
  // to ask for fewer after having looked would be to stop where it looks best
  throw new UserError(
    `the plan ${name} asks for ${asked === 1 ? '1 block' : `${asked} blocks`}, and asked for ${was} in ${path}, where ${results === 1 ? 'a result' : `${results} results`} of it can be seen`,
    `Write \`blocks: ${was}\` again; \`--blocks ${asked}\` runs no more than ${asked} and changes nothing. Another plan takes another name or another --out.`,
  );
}

/** By key. A file that is no result is an error that names it: results are never skipped in silence. */
export function readResults(path: string): Map<string, ArmResult> {
  const folder = join(path, 'results');
  const results = new Map<string, ArmResult>();
  if (!existsSync(folder)) return results;
  for (const name of readingFrom(folder, () => readdirSync(folder))
    .filter((name) => name.endsWith('.json'))
    .sort()) {
    const file = join(folder, name);
    const text = readingFrom(file, () => readFileSync(file, 'utf8'));
    const result = parseResult(text, basename(name, '.json'));
    if (typeof result === 'string') throw new UserError(`${file} ${result}`, 'Remove it; its arm runs again.');
    results.set(result.key, result);
  }
  return results;
}

/** A plan as it is kept: all but the text and what is printed before a run. */
type KeptPlan = Omit<StudyPlan, 'text' | 'asked' | 'notes'> & { readonly format: 1 };

function keepPlan(path: string, { text, asked, notes: _, ...plan }: StudyPlan, raised: readonly RaisedBlocks[]): void {
  const kept: KeptPlan = { format: 1, ...plan, blocks: asked, ...(raised.length > 0 && { raised }) };
  writeText(join(path, 'plans', `${plan.name}.yaml`), text);
  writeWhole(join(path, 'plans', `${plan.name}.json`), kept);
}

/** Undefined where it is not there, or broken: then it is written anew. */
function keptPlan(path: string, name: string): KeptPlan | undefined {
  try {
    return JSON.parse(readFileSync(join(path, 'plans', `${name}.json`), 'utf8')) as KeptPlan;
  } catch {
    return undefined;
  }
}

/**
 * Every plan that ran in the folder, with the blocks that its text asks for.
 * @throws UserError where the folder is no study, or a plan is missing or another one
 */
export function readPlans(path: string): StudyPlan[] {
  if (!readingFrom(path, () => isThere(join(path, STUDY_FILE))))
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
    return JSON.parse(readingFrom(file, () => readFileSync(file, 'utf8')));
  } catch (error) {
    if (error instanceof UserError) throw error;
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
