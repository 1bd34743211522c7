/** Reads the header of a safetensors file: names and shapes, no weights. */
import { closeSync, openSync, readSync } from 'node:fs';

export interface TensorHeader {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
}

const LONGEST_HEADER = 100_000_000;

/** @throws Error when the file is not in safetensors form */
export function readHeader(file: string): TensorHeader[] {
  const handle = openSync(file, 'r');
  try {
    const size = Buffer.alloc(8);
    readSync(handle, size, 0, 8, 0);
    const length = Number(size.readBigUInt64LE());
    if (!(length > 1 && length < LONGEST_HEADER)) throw new Error(`${file} is not a safetensors file`);
    const text = Buffer.alloc(length);
    readSync(handle, text, 0, length, 8);
    const header = JSON.parse(text.toString('utf8')) as Record<string, { dtype: string; shape: number[] }>;
    return Object.entries(header).flatMap(([name, { dtype, shape }]) => (name === '__metadata__' ? [] : [{ name, dtype, shape }]));
  } finally {
    closeSync(handle);
  }
}
