/** The plans that come with the package, by name. Does not read them. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { nearest } from '../recipe/nearest.js';
import { packageRoot } from '../setup/paths.js';
import { UserError } from '../userError.js';

/** `studies/NAME.yaml` are of `nano`; the larger model's stand in a folder of their own. */
const FOLDERS = ['studies', join('studies', 'smollm2')];

/** File by name. */
export function packagedPlans(): ReadonlyMap<string, string> {
  return new Map(
    FOLDERS.map((folder) => join(packageRoot(), folder)).flatMap((folder) =>
      readdirSync(folder)
        .filter((file) => file.endsWith('.yaml'))
        .sort()
        .map((file) => [basename(file, '.yaml'), join(folder, file)] as const),
    ),
  );
}

/**
 * @param nameOrFile a file, or the name of a plan that comes along (`clip-bounds`)
 * @throws UserError where it is neither, with the names that there are
 */
export function planFile(nameOrFile: string): string {
  if (existsSync(nameOrFile)) return nameOrFile;
  const plans = packagedPlans();
  const found = plans.get(nameOrFile);
  if (found !== undefined) return found;
  const near = nearest(basename(nameOrFile, '.yaml'), [...plans.keys()]);
  throw new UserError(
    `there is no plan ${nameOrFile}`,
    `${near === undefined ? '' : `Did you mean ${near}? `}Give a file, or one of those that come along: ${[...plans.keys()].join(', ')}.`,
  );
}
