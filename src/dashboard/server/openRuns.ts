/**
 * Runs that are open for looking: one connection a run, opened when it is needed and closed soon after, so that a writer that ends finds
 * nobody in its way, and the files of a run that is deleted are let go of. Never writes.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openForViewing, RUN_FILE } from '../../runs/store.js';
import { RunView } from './runView.js';

interface Held {
  readonly view: RunView;
  readonly inode: string;
  /** Of the files when a copy was made. */
  readonly stamp: string;
  timer: NodeJS.Timeout | undefined;
  users: number;
}

/** How long a connection outlives the request that opened it: the requests of one page come together. */
const LINGER_MS = 150;
/** One that has had to read an older run through is worth keeping. */
const LINGER_INDEXED_MS = 600_000;
const MOST_HELD = 16;

export class OpenRuns {
  readonly #held = new Map<string, Held>();

  /** @throws UserError where there is no run that can be read */
  async use<T>(folder: string, work: (view: RunView) => T | Promise<T>): Promise<T> {
    const held = this.#get(folder);
    held.users++;
    clearTimeout(held.timer);
    try {
      return await work(held.view);
    } finally {
      held.users--;
      if (held.users === 0) this.#linger(folder, held);
    }
  }

  close(): void {
    for (const [folder, held] of this.#held) this.#drop(folder, held);
  }

  #get(folder: string): Held {
    const { inode, stamp } = stampOf(folder);
    const known = this.#held.get(folder);
    if (known) {
      if (known.inode === inode && (!known.view.frozen || known.stamp === stamp) && !known.view.outdated()) {
        this.#held.delete(folder);
        this.#held.set(folder, known);
        return known;
      }
      // whoever still reads the old one closes it
      this.#held.delete(folder);
      if (known.users === 0) this.#drop(folder, known);
    }
    const held: Held = { view: new RunView(folder, openForViewing(folder)), inode, stamp, timer: undefined, users: 0 };
    this.#held.set(folder, held);
    for (const [other, old] of this.#held) {
      if (this.#held.size <= MOST_HELD) break;
      if (old.users === 0 && old !== held) this.#drop(other, old);
    }
    return held;
  }

  #linger(folder: string, held: Held): void {
    if (this.#held.get(folder) !== held) {
      held.view.close();
      return;
    }
    held.timer = setTimeout(() => this.#drop(folder, held), held.view.indexed ? LINGER_INDEXED_MS : LINGER_MS);
    held.timer.unref();
  }

  #drop(folder: string, held: Held): void {
    clearTimeout(held.timer);
    if (this.#held.get(folder) === held) this.#held.delete(folder);
    held.view.close();
  }
}

/** What a run's files look like from outside: `inode` tells another file, `stamp` another content. */
export function stampOf(folder: string): { readonly inode: string; readonly stamp: string; readonly changed: number } {
  const file = join(folder, RUN_FILE);
  const main = statSync(file, { throwIfNoEntry: false });
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
  const inode = `${main?.dev}/${main?.ino}`;
  const changed = Math.max(main?.mtimeMs ?? 0, wal?.mtimeMs ?? 0);
  return { inode, stamp: `${inode}/${main?.size}/${main?.mtimeMs}/${wal?.size}/${wal?.mtimeMs}`, changed };
}
