/** The studies of the shown folder: what their files say, and what runs in them now. A study whose files have not changed is not judged again. */
import { isBeingWritten } from '../../runs/lock.js';
import type { StudyCell, StudyDetail, StudyProgress, StudyStart, StudyState, StudySummary } from '../api.js';
import type { Catalogue } from './catalogue.js';
import { type FoundRun, SELF } from './folder.js';
import { Refusal } from './refusal.js';
import { dataReports } from './reports.js';
import { estimateOf } from './studyEstimate.js';
import { type StudyFiles, StudyReader } from './studyFiles.js';
import { type JudgedStudy, judgedStudy } from './studyView.js';
import { progressOf } from './summary.js';

interface Known {
  readonly reader: StudyReader;
  files?: StudyFiles;
  judged?: JudgedStudy;
}

/** What is known of a run that has begun and not ended. */
type Begun = Pick<StudyCell, 'run' | 'progress'> & { readonly state: 'running' | 'interrupted'; readonly run: string };

/** Folders are looked through at most so often for the runs of a study, in milliseconds. */
const LOOK_EVERY = 1_000;

export class Studies {
  readonly #catalogue: Catalogue;
  #known = new Map<string, Known>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** Newest result first. */
  list(): StudySummary[] {
    const found = this.#catalogue.folder.studies();
    this.#known = new Map([...this.#known].filter(([id]) => found.has(id)));
    return [...found.values()]
      .map((study) => this.#look(study).summary)
      .sort((a, b) => ((a.lastResultAt ?? '') < (b.lastResultAt ?? '') ? 1 : -1));
  }

  /** @throws Refusal where there is no study of that id */
  async detail(id: string): Promise<StudyDetail> {
    const { folder } = this.#catalogue;
    const study = folder.studies(LOOK_EVERY).get(id) ?? folder.studies().get(id);
    if (!study) throw new Refusal(404, `there is no study ${id} in ${folder.root}`);
    const { summary, judged } = this.#look(study);
    const begun = await this.#begun(study, judged);
    const grids = judged.grids.map(({ blocks, ...grid }) => {
      const all = blocks.map((block) => ({ ...block, cells: block.cells.map((cell) => this.#cellOf(study, cell, begun)) }));
      const cells = all.flatMap((block) => block.cells);
      return { ...grid, blocks: all, done: cells.filter(({ state }) => state === 'done').length, wanted: cells.length };
    });
    const starts = await this.#starts(study, judged);
    const running = [...begun.values()].filter(({ state }) => state === 'running').length;
    const left = estimateOf(judged, summary.state === 'running' ? running : undefined);
    const report = this.#reportOf(study);
    return {
      ...summary,
      ...{ grids, starts },
      ...judged.judged(),
      ...(left !== undefined && { left }),
      ...(report !== undefined && { report }),
    };
  }

  #look(study: FoundRun): { readonly summary: StudySummary; readonly judged: JudgedStudy } {
    const known = this.#known.get(study.id) ?? { reader: new StudyReader(study.folder) };
    this.#known.set(study.id, known);
    const files = known.reader.read();
    if (known.files !== files || known.judged === undefined) {
      known.files = files;
      known.judged = judgedStudy(study.folder, files);
    }
    const { judged } = known;
    const { jobs, blocks, results, lastResultAt } = judged;
    const summary: StudySummary = {
      ...{ id: study.id, name: study.name, state: stateOf(study.folder, files, jobs.length - results.size) },
      plans: files.plans.map(({ name, title }) => ({ name, title })),
      claims: files.plans.reduce((sum, { claims }) => sum + claims.length, 0),
      ...{ done: results.size, wanted: jobs.length, blocksWanted: blocks.length },
      blocksDone: blocks.filter((block) => block.jobs.every(({ key }) => results.has(key))).length,
      ...(lastResultAt !== undefined && { lastResultAt }),
      ...(files.unreadable !== undefined && { note: files.unreadable }),
    };
    return { summary, judged };
  }

  /** Arms that have begun and not ended, by key. */
  async #begun(study: FoundRun, { jobs, results }: JudgedStudy): Promise<Map<string, Begun>> {
    const begun = new Map<string, Begun>();
    for (const { key } of jobs) {
      const run = results.has(key) ? undefined : this.#runOf(study, key);
      if (run) begun.set(key, { ...(await this.#stateOf(run)), run: run.id });
    }
    return begun;
  }

  async #starts(study: FoundRun, { blocks }: JudgedStudy): Promise<StudyStart[]> {
    const starts = new Map<string, StudyStart>();
    for (const { block, seed, jobs } of blocks)
      for (const { start } of jobs) {
        const run = start && !starts.has(start.key) ? this.#runOf(study, `start-${start.key}`) : undefined;
        if (!start || !run) continue;
        const { state, progress } = await this.#stateOf(run);
        starts.set(start.key, { block, seed, run: run.id, running: state === 'running', ...(progress && { progress }) });
      }
    return [...starts.values()];
  }

  async #stateOf({ id, folder }: FoundRun): Promise<Omit<Begun, 'run'>> {
    const state = isBeingWritten(folder) ? 'running' : 'interrupted';
    try {
      const stages = await this.#catalogue.use(id, progressOf);
      const stage = stages.find(({ endedAt }) => endedAt === undefined) ?? stages.at(-1);
      return { state, ...(stage && { progress: { stage: stage.stage, done: stage.done, steps: stage.steps } satisfies StudyProgress }) };
    } catch {
      // just begun, just gone, or not to be read now
      return { state };
    }
  }

  #cellOf(study: FoundRun, cell: StudyCell, begun: ReadonlyMap<string, Begun>): StudyCell {
    if (cell.state !== 'done') return { ...cell, ...begun.get(cell.key) };
    const run = this.#runOf(study, cell.key);
    return run ? { ...cell, run: run.id } : cell;
  }

  #runOf({ id }: FoundRun, key: string): FoundRun | undefined {
    return this.#catalogue.folder.runs(LOOK_EVERY).get(`${below(id)}runs/${key}`);
  }

  /** Of pages that Toolwise made, the one that is called so. */
  #reportOf({ id }: FoundRun): string | undefined {
    const name = `${below(id)}report.html`;
    return dataReports(this.#catalogue.folder.pages().filter((page) => page.name === name))[0]?.name;
  }
}

/** How names of what lies in the study begin. */
const below = (id: string): string => (id === SELF ? '' : `${id}/`);

function stateOf(folder: string, { unreadable }: StudyFiles, left: number): StudyState {
  if (unreadable !== undefined) return 'unreadable';
  if (isBeingWritten(folder)) return 'running';
  return left > 0 ? 'stopped' : 'complete';
}
