/**
 * Which texts came before, in about 20 bytes each: their hashes, 64 bits long, in one open table. Two texts of one hash are expected once in
 * some hundred billion pairs.
 */
import { createHash } from 'node:crypto';

const FIRST_SLOTS = 1 << 12;
const FULL = 0.7;

export class SeenTexts {
  #low = new Uint32Array(FIRST_SLOTS);
  #high = new Uint32Array(FIRST_SLOTS);
  /** Row of the first, from 1; 0 where the slot is free. */
  #row = new Uint32Array(FIRST_SLOTS);
  #size = 0;

  /** The row at which the same text came first; undefined where it is new. @param row from 1 */
  add(text: string, row: number): number | undefined {
    const digest = createHash('sha1').update(text).digest();
    const low = digest.readUInt32LE(0);
    const high = digest.readUInt32LE(4);
    const slot = this.#slotOf(low, high);
    if (this.#row[slot] !== 0) return this.#row[slot]!;
    this.#low[slot] = low;
    this.#high[slot] = high;
    this.#row[slot] = row;
    this.#size++;
    if (this.#size > this.#row.length * FULL) this.#grow();
    return undefined;
  }

  get size(): number {
    return this.#size;
  }

  #slotOf(low: number, high: number): number {
    const mask = this.#row.length - 1;
    let slot = low & mask;
    while (this.#row[slot] !== 0 && (this.#low[slot] !== low || this.#high[slot] !== high)) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [low, high, row] = [this.#low, this.#high, this.#row];
    this.#low = new Uint32Array(low.length * 2);
    this.#high = new Uint32Array(low.length * 2);
    this.#row = new Uint32Array(low.length * 2);
    for (let i = 0; i < row.length; i++) {
      if (row[i] === 0) continue;
      const slot = this.#slotOf(low[i]!, high[i]!);
      this.#low[slot] = low[i]!;
      this.#high[slot] = high[i]!;
      this.#row[slot] = row[i]!;
    }
  }
}
