/** `npm run -s golden -- FILE...`: one JSON line a vector. The exit status says whether the files could be read, not whether all passed. */
import { UserError } from '../userError.js';
import { resultLine, runVector } from './run.js';
import { readVectors } from './vector.js';

try {
  const files = process.argv.slice(2);
  if (files.length === 0) throw new UserError('no file given', 'npm run -s golden -- FILE...');
  const vectors = files.flatMap(readVectors);
  for (const vector of vectors) process.stdout.write(`${resultLine(await runVector(vector))}\n`);
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`${error.message}${error.hint === undefined ? '' : `\n${error.hint}`}\n`);
  process.exitCode = 2;
}
