/** What the files that a plan's arms read hold, as SHA-256: a plan names them by path, and its hash knows no content. */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { readingFrom } from '../userPath.js';
import type { StudyPlan } from './plan.js';
import { filesOf, found } from './planFiles.js';

/**
 * By path as the plan has it; a file that is not there has none.
 * @throws UserError where one cannot be read
 */
export function fileHashes({ arms, start }: StudyPlan): Map<string, string> {
  const paths = new Set([...arms.map(({ recipe }) => recipe), ...(start ? [start] : [])].flatMap(filesOf));
  return new Map(
    [...paths].flatMap((path) => {
      const place = found(path);
      return existsSync(place) && statSync(place).isFile() ? [[path, readingFrom(path, () => sha256Of(place))] as const] : [];
    }),
  );
}

const PIECE = 1 << 20;

function sha256Of(file: string): string {
  const hash = createHash('sha256');
  const piece = Buffer.alloc(PIECE);
  const handle = openSync(file, 'r');
  try {
    for (let read = readSync(handle, piece); read > 0; read = readSync(handle, piece)) hash.update(piece.subarray(0, read));
  } finally {
    closeSync(handle);
  }
  return hash.digest('hex');
}
