/** Opens text files, packed by gzip or not, with limits on what they may unfold to. Knows bytes and lines, not rows. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { UserError } from '../userError.js';
import type { TableLimits } from './table.js';

/** The first bytes of a file. @throws UserError when it cannot be read */
export async function firstBytes(file: string, count: number, name = file): Promise<Buffer> {
  try {
    const handle = await open(file, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

export function unreadable(name: string, error: unknown): UserError {
  const { code, message } = error as NodeJS.ErrnoException;
  const what = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : message;
  return new UserError(`${name} cannot be read: ${what}`);
}

export const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** The bytes of a text file, unpacked. @throws UserError for damage, or when it unfolds beyond the limit */
export async function* textChunks(
  file: string,
  name: string,
  limits: Pick<TableLimits, 'unpackedBytes'>,
): AsyncGenerator<Buffer, void, void> {
  const packed = isGzip(await firstBytes(file, 2, name));
  const source = createReadStream(file);
  const stream = packed ? source.pipe(createGunzip()) : source;
  if (packed) source.on('error', (error) => stream.destroy(error));
  let total = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      total += chunk.length;
      if (packed && total > limits.unpackedBytes) {
        throw new UserError(
          `${name} unfolds to more than ${megabytes(limits.unpackedBytes)}, which looks like a decompression bomb`,
          'Unpack it yourself where you trust it.',
        );
      }
      yield chunk;
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') === true) {
      throw new UserError(`${name} is damaged: gzip: ${(error as Error).message}`, 'Fetch the file again.');
    }
    throw unreadable(name, error);
  } finally {
    source.destroy();
    stream.destroy();
  }
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

export interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

const NEWLINE = 0x0a;

/** Lines without their ends; a byte order mark is left out. @throws UserError for one beyond the limit */
export async function* textLines(
  file: string,
  name: string,
  limits: Pick<TableLimits, 'unpackedBytes' | 'textBytes'>,
): AsyncGenerator<Line, void, void> {
  let parts: Buffer[] = [];
  let size = 0;
  let number = 1;
  const take = (piece: Buffer): void => {
    size += piece.length;
    if (size > limits.textBytes) {
      throw new UserError(`${name}:${number}: the line is longer than ${megabytes(limits.textBytes)}`, 'Is it a file of lines at all?');
    }
    parts.push(piece);
  };
  const finish = (): Line => {
    const text = (parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString('utf8');
    parts = [];
    size = 0;
    return { text: number === 1 ? text.replace(/^\uFEFF/, '') : text, number: number++ };
  };
  for await (const chunk of textChunks(file, name, limits)) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, end));
      yield finish();
      from = end + 1;
    }
    if (from < chunk.length) take(chunk.subarray(from));
  }
  if (size > 0) yield finish();
}

/** The whole text. @throws UserError beyond the limit */
export async function wholeText(file: string, name: string, limits: TableLimits): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of textChunks(file, name, limits)) {
    size += chunk.length;
    if (size > limits.textBytes) {
      throw new UserError(
        `${name} is larger than ${megabytes(limits.textBytes)}, too large to be read in one piece`,
        'Write it as JSON Lines: one row a line.',
      );
    }
    parts.push(chunk);
  }
  return Buffer.concat(parts)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}
