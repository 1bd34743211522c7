/** The runs of the shown folder with what is known of each; a run whose files have not changed is not read again. */
import { isBeingWritten } from '../../runs/lock.js';
import { UserError } from '../../userError.js';
import type { RunSummary } from '../api.js';
import { Folder, type FoundRun } from './folder.js';
import { OpenRuns, stampOf } from './openRuns.js';
import { Refusal } from './refusal.js';
import type { RunView } from './runView.js';
import { summaryOf, unreadable } from './summary.js';

interface Known {
  readonly stamp: string;
  readonly summary: RunSummary;
}

export class Catalogue {
  readonly folder: Folder;
  readonly #open = new OpenRuns();
  #known = new Map<string, Known>();

  constructor(root: string) {
    this.folder = new Folder(root);
  }

  /** Newest first. */
  async list(): Promise<RunSummary[]> {
    const known = new Map<string, Known>();
    for (const [id, run] of this.folder.runs()) known.set(id, await this.#look(run));
    this.#known = known;
    return [...known.values()].map(({ summary }) => summary).sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  }

  /** @throws Refusal where there is no run of that id */
  find(id: string): FoundRun {
    const run = this.folder.run(id);
    if (!run) throw new Refusal(404, `there is no run ${id} in ${this.folder.root}`);
    return run;
  }

  /**
   * Reads a run.
   * @throws Refusal where it is gone or cannot be read, with why
   */
  async use<T>(id: string, work: (view: RunView, run: FoundRun) => T | Promise<T>): Promise<T> {
    const run = this.find(id);
    try {
      return await this.#open.use(run.folder, (view) => work(view, run));
    } catch (error) {
      throw asRefusal(error, id);
    }
  }

  close(): void {
    this.#open.close();
  }

  async #look(run: FoundRun): Promise<Known> {
    const { stamp } = stampOf(run.folder);
    const known = this.#known.get(run.id);
    if (known?.stamp === stamp) {
      const { state } = known.summary;
      if (state === 'ended') return known;
      // its process may have died, or begun anew, without a word
      if ((state === 'running') === isBeingWritten(run.folder)) return known;
    }
    try {
      return { stamp, summary: await this.#open.use(run.folder, (view) => summaryOf(run, view)) };
    } catch (error) {
      // another program may keep it to itself for a while: look again next time
      return { stamp: error instanceof UserError ? stamp : '', summary: unreadable(run, (error as Error).message) };
    }
  }
}

/** What SQLite and our own reading say of a file is told; anything else is a bug and stays one. */
function asRefusal(error: unknown, id: string): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error;
  const code = String((error as { code?: unknown }).code);
  if (error.name === 'UserError') return new Refusal(422, error.message);
  if (code.startsWith('SQLITE_BUSY')) return new Refusal(503, `run ${id} is busy: try again`);
  if (code.startsWith('SQLITE_')) return new Refusal(422, `run ${id} cannot be read further: ${error.message}`);
  return error;
}
