/** Writes a text so that the file is there whole or not at all. Asks nobody before it replaces one: `refuseOverwrite` does. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UserError } from '../userError.js';
import { makeFolder } from '../userPath.js';

/** @throws UserError where it cannot be written */
export async function writeWhole(file: string, text: string): Promise<void> {
  const part = `${file}.${process.pid}.part`;
  makeFolder(dirname(resolve(file)));
  try {
    await writeFile(part, text);
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw new UserError(`${file} cannot be written: ${(error as Error).message}`);
  }
}
