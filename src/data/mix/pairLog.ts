/** Every removed row with what it equals, one JSON line each, under a temporary name until all are there. Written at once: there may be millions. */
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { refuseOverwrite } from '../../tables/writeTable.js';
import { UserError } from '../../userError.js';
import { makeFolder } from '../../userPath.js';
import type { RemovedPair } from './mixReport.js';

const BUFFER = 1 << 16;

export class PairLog {
  readonly #file: string;
  readonly #part: string;
  readonly #handle: number;
  #lines = '';
  #open = true;

  /** @throws UserError where the file is there, or cannot be made */
  constructor(file: string, force: boolean) {
    refuseOverwrite(file, force);
    this.#file = file;
    const folder = dirname(resolve(file));
    this.#part = join(folder, `.${basename(file)}.${process.pid}.part`);
    makeFolder(folder);
    try {
      this.#handle = openSync(this.#part, 'w');
    } catch (error) {
      throw new UserError(`${file} cannot be written: ${(error as Error).message}`);
    }
  }

  add(pair: RemovedPair): void {
    this.#lines += `${JSON.stringify(pair)}\n`;
    if (this.#lines.length >= BUFFER) this.#flush();
  }

  close(): void {
    this.#flush();
    this.#end();
    renameSync(this.#part, this.#file);
  }

  /** Takes back what was written; does nothing after `close`. */
  discard(): void {
    if (!this.#open) return;
    this.#end();
    rmSync(this.#part, { force: true });
  }

  #flush(): void {
    const bytes = Buffer.from(this.#lines);
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#handle, bytes, done);
    this.#lines = '';
  }

  #end(): void {
    this.#open = false;
    closeSync(this.#handle);
  }
}
