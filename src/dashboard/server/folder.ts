/**
 * The runs below the shown folder: every folder with a `run.sqlite`, down to a bounded depth and number; and the studies: those with a
 * `study.json` beside plans or results. Links are not followed, so nothing outside is ever reached. Knows paths, not what is in a run.
 */
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { RUN_FILE } from '../../runs/store.js';
import { STUDY_FILE } from '../../study/studyFolder.js';

/** Id of the shown folder where it is a run itself; a path of `.` cannot travel in a URL. */
export const SELF = '@';

export interface FoundRun {
  readonly id: string;
  readonly name: string;
  readonly folder: string;
}

export interface FoundFile {
  /** Relative to the shown folder, with forward slashes. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

interface Listing {
  readonly changed: number;
  readonly read: number;
  readonly folders: readonly string[];
  /** `run.sqlite`, `study.json` and what may be a report. */
  readonly files: readonly string[];
}

const DEEPEST = 6;
const MOST_FOLDERS = 5_000;
/** A folder's time may not tell a change within the same tick of the clock. */
const DOUBTFUL_MS = 2_000;
/** Of programs, caches and checkpoints: never runs. */
const LEFT_OUT = new Set(['node_modules', 'checkpoints', '__pycache__', 'site-packages']);

const PAGE = /\.html$/i;
const MOST_PAGES = 2_000;

export class Folder {
  readonly root: string;
  #listings = new Map<string, Listing>();
  #runs = new Map<string, FoundRun>();
  #studies = new Map<string, FoundRun>();
  #pages: string[] = [];
  #looked = 0;
  /** Whether there is more than is looked at. */
  cutShort = false;

  constructor(root: string) {
    this.root = resolve(root);
  }

  /**
   * Looks again; folders that have not changed are not read anew.
   * @param age what a look that is no older found is good enough, in milliseconds
   * @returns by id
   */
  runs(age = 0): ReadonlyMap<string, FoundRun> {
    if (Date.now() - this.#looked < age) return this.#runs;
    this.#looked = Date.now();
    const listings = new Map<string, Listing>();
    const runs = new Map<string, FoundRun>();
    const studies = new Map<string, FoundRun>();
    const pages: string[] = [];
    const waiting: { readonly folder: string; readonly depth: number }[] = [{ folder: this.root, depth: 0 }];
    this.cutShort = false;
    for (let at = 0; at < waiting.length; at++) {
      const { folder, depth } = waiting[at]!;
      const listing = this.#list(folder);
      if (!listing) continue;
      listings.set(folder, listing);
      const id = folder === this.root ? SELF : relative(this.root, folder).split(sep).join('/');
      const found = { id, name: basename(folder), folder };
      if (isStudy(listing)) studies.set(id, found);
      if (listing.files.includes(RUN_FILE)) runs.set(id, found);
      else for (const name of listing.files) if (PAGE.test(name) && pages.length < MOST_PAGES) pages.push(join(folder, name));
      for (const name of listing.folders) {
        if (depth >= DEEPEST || waiting.length >= MOST_FOLDERS) this.cutShort = true;
        else waiting.push({ folder: join(folder, name), depth: depth + 1 });
      }
    }
    this.#listings = listings;
    this.#runs = runs;
    this.#studies = studies;
    this.#pages = pages;
    return runs;
  }

  /** Of the last look, or of a new one where it is not known. */
  run(id: string): FoundRun | undefined {
    return this.#runs.get(id) ?? this.runs().get(id);
  }

  /** By id, as `runs`. */
  studies(age = 0): ReadonlyMap<string, FoundRun> {
    this.runs(age);
    return this.#studies;
  }

  /** Pages that lie outside runs. */
  pages(): FoundFile[] {
    this.runs();
    return this.#pages.flatMap((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found?.isFile() ? [{ name: relative(this.root, path).split(sep).join('/'), path, bytes: found.size }] : [];
    });
  }

  #list(folder: string): Listing | undefined {
    try {
      const changed = statSync(folder).mtimeMs;
      const known = this.#listings.get(folder);
      if (known && known.changed === changed && known.read - changed > DOUBTFUL_MS) return known;
      const folders: string[] = [];
      const files: string[] = [];
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (entry.isDirectory()) {
          if (!entry.name.startsWith('.') && !LEFT_OUT.has(entry.name)) folders.push(entry.name);
        } else if (entry.isFile() && (entry.name === RUN_FILE || entry.name === STUDY_FILE || PAGE.test(entry.name)))
          files.push(entry.name);
      }
      return { changed, read: Date.now(), folders: folders.sort(), files };
    } catch {
      // gone, or not for us to read
      return undefined;
    }
  }
}

const isStudy = ({ files, folders }: Listing): boolean =>
  files.includes(STUDY_FILE) && (folders.includes('results') || folders.includes('plans'));
