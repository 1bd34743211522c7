/** `toolwise data stitch`: parses, calls, prints. */
import type { Command } from 'commander';
import type { CallsPlacement } from '../../data/stitch/stitchSolution.js';
import type { SandboxKind } from '../../sandbox/open.js';
import { UserError } from '../../userError.js';
import {
  type CommonOptions,
  forceOption,
  jsonOption,
  outOption,
  printJson,
  realNumber,
  runCommand,
  seedOption,
  strictOption,
  wholeNumber,
} from './common.js';

interface Options extends CommonOptions {
  readonly out: string;
  readonly calls: string;
  readonly count?: string;
  readonly solution?: string;
  readonly keepMismatches?: boolean;
  readonly sandbox: string;
  readonly timeout: string;
  readonly memory: string;
}

export function register(data: Command): void {
  const command = data
    .command('stitch')
    .description('put calls in the place of the calculations of text solutions, and run them: the baseline for real trajectories')
    .argument('<file|calc|calc-small>', 'problems with solutions: GSM8K, MegaScience, any file with --solution; or a generator')
    .option('--calls <each|one>', 'a call for each calculation, or one program for all', 'each')
    .option('--count <number>', 'so many rows, from the first (default: all of a file, 128 of a generator)')
    .option('--solution <column>', "the column of the solution (default: the schema's own, else solution)")
    .option('--keep-mismatches', 'keep conversations in which a call does not give the stated value, marked')
    .option('--timeout <seconds>', 'limit of one program', '10')
    .option('--memory <MB>', 'limit of one program', '512')
    .option('--sandbox <kind>', 'auto, zygote, oneshot, or none: without a sandbox', 'auto');
  for (const add of [outOption, forceOption, strictOption, seedOption, jsonOption]) add(command);
  command.action(async (source: string, options: Options) => run(source, options));
}

const MOST_BAD = 5;

async function run(source: string, options: Options): Promise<void> {
  const settings = {
    source,
    out: options.out,
    calls: oneOf<CallsPlacement>('--calls', options.calls, ['each', 'one']),
    keepMismatches: options.keepMismatches ?? false,
    force: options.force ?? false,
    strict: options.strict ?? false,
    seed: wholeNumber('--seed', options.seed, 0),
    sandbox: oneOf<SandboxKind>('--sandbox', options.sandbox, ['auto', 'zygote', 'oneshot', 'none']),
    timeoutSeconds: realNumber('--timeout', options.timeout, 0.1, 3600),
    memoryMb: wholeNumber('--memory', options.memory, 16),
    ...(options.count !== undefined && { count: wholeNumber('--count', options.count) }),
    ...(options.solution !== undefined && { solution: options.solution }),
  };
  const { stitchSet } = await import('../../data/stitch/stitchSet.js');
  const { stitchText } = await import('../../data/stitch/stitchReport.js');
  await runCommand(async ({ narrator, progress, signal }) => {
    let bad = 0;
    const report = await stitchSet({
      ...settings,
      onBad: ({ where, error }) => {
        if (++bad <= MOST_BAD) narrator.log(`${where}: ${error}; left out`, 'warning');
        if (bad === MOST_BAD) narrator.log('further bad rows are only counted', 'warning');
      },
      onNote: (note) => narrator.line(note),
      onProgress: progress('stitched'),
      signal,
    });
    narrator.end();
    if (options.json) printJson(report);
    else console.log(stitchText(report));
    narrator.line(`Set: ${options.out}; card: ${options.out}.card.md`);
  });
}

function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((one) => one === text);
  if (found === undefined) throw new UserError(`${option} ${JSON.stringify(text)}: expected ${known.join(' or ')}`);
  return found;
}
