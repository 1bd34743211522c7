/** `npm run nano`: makes the policy `nano` anew and puts it where the package looks for it. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openCodeRunner } from '../sandbox/open.js';
import { packageRoot } from '../setup/paths.js';
import { ensurePythonEnv } from '../setup/pythonEnv.js';
import { UserError } from '../userError.js';
import { makeNano } from './makeNano.js';
import { NANO_SETTINGS } from './settings.js';

const HELP = `npm run nano -- [--out DIR] [--seed N] [--updates N] [--traces N]
Pretrains the policy "nano" from nothing. Without options it makes the one of the repository, in models/nano.`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      seed: { type: 'string' },
      updates: { type: 'string' },
      traces: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const settings = {
    ...NANO_SETTINGS,
    seed: wholeNumber('seed', values.seed, NANO_SETTINGS.seed),
    updates: wholeNumber('updates', values.updates, NANO_SETTINGS.updates),
    traces: wholeNumber('traces', values.traces, NANO_SETTINGS.traces),
  };
  const out = resolve(values.out ?? join(packageRoot(), 'models', 'nano'));
  const log = (line: string): void => console.log(line);
  const python = await ensurePythonEnv({ log });
  const runner = await openCodeRunner({ kind: 'auto', workers: 1, outputBytes: 2 ** 24 });
  try {
    for (const note of runner.notes) log(note);
    const figures = await makeNano({ settings, out, python, runner, log });
    log(`nano: ${figures.parameters} parameters in ${out}, ${Math.round(figures.seconds)} s`);
  } finally {
    await runner.close();
  }
}

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new UserError(`--${name} ${text}: a whole number is wanted`);
  return Number(text);
}

main().catch((error: unknown) => {
  const user = error instanceof UserError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
  if (!user) throw error;
  console.error((error as Error).message);
  if (error instanceof UserError && error.hint !== undefined) console.error(error.hint);
  process.exitCode = 2;
});
