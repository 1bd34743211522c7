/** Columns of numbers that grow by blocks, so that growing copies nothing: so many bytes a row and no more. */

interface Column {
  [index: number]: number;
  readonly length: number;
}

const BLOCK = 1 << 14;

export class Blocks<T extends Column> {
  readonly #make: (length: number) => T;
  readonly #width: number;
  readonly #blocks: T[] = [];
  #rows = 0;

  /** @param make a typed array of a length; @param width numbers a row */
  constructor(make: (length: number) => T, width = 1) {
    this.#make = make;
    this.#width = width;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Adds a row of zeros. @returns its number */
  grow(): number {
    if (this.#rows % BLOCK === 0) this.#blocks.push(this.#make(BLOCK * this.#width));
    return this.#rows++;
  }

  get(row: number, at = 0): number {
    return this.#blocks[Math.floor(row / BLOCK)]![(row % BLOCK) * this.#width + at]!;
  }

  /** The block that holds a row, and where the row begins in it. */
  place(row: number): readonly [block: T, at: number] {
    return [this.#blocks[Math.floor(row / BLOCK)]!, (row % BLOCK) * this.#width];
  }

  set(row: number, value: number, at = 0): void {
    this.#blocks[Math.floor(row / BLOCK)]![(row % BLOCK) * this.#width + at] = value;
  }

  push(value: number): number {
    const row = this.grow();
    this.set(row, value);
    return row;
  }
}

export const float64Blocks = (width = 1): Blocks<Float64Array> => new Blocks((length) => new Float64Array(length), width);
export const uint32Blocks = (width = 1): Blocks<Uint32Array> => new Blocks((length) => new Uint32Array(length), width);
export const uint8Blocks = (width = 1): Blocks<Uint8Array> => new Blocks((length) => new Uint8Array(length), width);
