/** Records on disk by number, for what is too much for memory. The file has no name: it is gone with the process, however that ends. */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../userError.js';
import { type Blocks, float64Blocks, uint32Blocks } from '../duplicates/blocks.js';

const BUFFER = 1 << 20;

export class Scratch {
  readonly #file: number;
  readonly #folder: string;
  readonly #starts: Blocks<Float64Array> = float64Blocks();
  readonly #lengths: Blocks<Uint32Array> = uint32Blocks();
  /** What is not yet on disk. */
  readonly #buffer = Buffer.allocUnsafe(BUFFER);
  #buffered = 0;
  #written = 0;
  #open = true;

  /** @param folder where there is room; a name in it lives only until the file is open, but on systems that keep names of open files */
  constructor(folder: string) {
    this.#folder = mkdtempSync(join(folder, '.scratch-'));
    this.#file = openSync(join(this.#folder, 'rows'), 'w+');
    if (process.platform !== 'win32') this.#forget();
  }

  get records(): number {
    return this.#starts.rows;
  }

  get bytes(): number {
    return this.#written + this.#buffered;
  }

  /** @returns the record's number: 0, 1, 2, … */
  add(record: Uint8Array): number {
    this.#starts.push(this.bytes);
    if (record.length > BUFFER - this.#buffered) this.#flush();
    if (record.length > BUFFER) this.#write(record);
    else {
      this.#buffer.set(record, this.#buffered);
      this.#buffered += record.length;
    }
    return this.#lengths.push(record.length);
  }

  get(record: number): Buffer {
    const start = this.#starts.get(record);
    const bytes = Buffer.allocUnsafe(this.#lengths.get(record));
    if (start >= this.#written) {
      this.#buffer.copy(bytes, 0, start - this.#written, start - this.#written + bytes.length);
      return bytes;
    }
    let done = 0;
    while (done < bytes.length) {
      const read = readSync(this.#file, bytes, done, bytes.length - done, start + done);
      if (read === 0) throw new Error('the scratch file became shorter');
      done += read;
    }
    return bytes;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#file);
    this.#forget();
  }

  #flush(): void {
    this.#write(this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }

  #write(bytes: Uint8Array): void {
    let done = 0;
    try {
      while (done < bytes.length) done += writeSync(this.#file, bytes, done, bytes.length - done, this.#written + done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      throw new UserError('the disk is full', 'Beside the set there must be room for all questions and, uncompressed, for its rows.');
    }
    this.#written += bytes.length;
  }

  #forget(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
