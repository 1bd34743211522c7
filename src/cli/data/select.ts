/** `toolwise data select`: parses, selects, shows what was wanted, there and taken. */
import type { Command } from 'commander';
import type { SelectedFile } from '../../data/select/selectFile.js';
import {
  type CommonOptions,
  forceOption,
  jsonOption,
  outOption,
  printJson,
  runCommand,
  seedOption,
  strictOption,
  wholeNumber,
} from './common.js';

interface Options extends CommonOptions {
  readonly out: string;
  readonly profile: string;
  readonly target: string;
  readonly size?: string;
  readonly exact?: boolean;
  readonly count?: string;
  readonly keepSolved?: boolean;
  readonly keepUnsolved?: boolean;
}

export function register(data: Command): void {
  const command = data
    .command('select')
    .description('a set that follows a distribution of difficulty, from a pool with a profile')
    .argument('<pool>', 'a file of problems, calc or calc-small')
    .requiredOption('--profile <file>', 'what `data difficulty` wrote for the pool')
    .requiredOption('--target <target>', 'uniform, easy=0.2,medium=0.5,hard=0.3, the profile of another model, or a JSON histogram')
    .option('--size <number>', 'how many (default: the most that follow the target)')
    .option('--exact', 'with --size: refuse where the pool is too small')
    .option('--count <number>', 'problems of the pool, from the first; a generator must be told')
    .option('--keep-solved', 'do not leave out what was always solved')
    .option('--keep-unsolved', 'do not leave out what was never solved');
  for (const add of [outOption, forceOption, strictOption, seedOption, jsonOption]) add(command);
  command.action(async (pool: string, options: Options) => run(pool, options));
}

async function run(pool: string, options: Options): Promise<void> {
  const { out, profile, target } = options;
  const asked = {
    pool,
    out,
    profile,
    target,
    seed: wholeNumber('--seed', options.seed, 0),
    exact: options.exact ?? false,
    force: options.force ?? false,
    strict: options.strict ?? false,
    keepSolved: options.keepSolved ?? false,
    keepUnsolved: options.keepUnsolved ?? false,
    ...(options.size !== undefined && { size: wholeNumber('--size', options.size) }),
    ...(options.count !== undefined && { count: wholeNumber('--count', options.count) }),
  };
  const { selectFile } = await import('../../data/select/selectFile.js');
  const { table } = await import('../tables.js');
  await runCommand(async ({ narrator, signal }) => {
    const selected = await selectFile({ ...asked, log: narrator.log, signal });
    narrator.end();
    if (options.json) return printJson(selected);
    const { buckets, short } = selected;
    const head = [selected.target, 'share', 'wanted', 'there', 'taken', ''];
    console.log(
      table([
        head,
        ...buckets.map(({ name, share, wanted, there, taken }) => [
          name,
          `${(100 * share).toFixed(1)}%`,
          ...[wanted, there, taken].map(String),
          short.includes(name) ? (asked.size === undefined ? 'limits the set' : 'too few') : '',
        ]),
      ]),
    );
    for (const line of summary(selected, asked.size)) console.log(line);
  });
}

function summary(selected: SelectedFile, size: number | undefined): string[] {
  const { rows, pool, bad, unknown, unlabelled, solved, unsolved, short, distance, targetLeftOut } = selected;
  const left = [
    [unsolved, 'never solved'],
    [solved, 'always solved'],
    [unlabelled, 'with too few valid rollouts'],
    [unknown, 'not in the profile'],
    [bad, 'bad rows'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, what]) => `${count} ${what}`);
  return [
    `${rows} of ${pool} problems; left out: ${left.join(', ') || 'none for their accuracy'}; distance from the target ${distance.toFixed(3)}`,
    ...(targetLeftOut > 0
      ? [`${(100 * targetLeftOut).toFixed(1)}% of the target are problems always or never solved: left out of it`]
      : []),
    ...(size !== undefined && short.length > 0
      ? [`The pool is too small in ${short.join(', ')}: ${rows < size ? `${size - rows} are missing` : 'the others make up for it'}.`]
      : []),
    `Set: ${selected.file}`,
    `Card: ${selected.card}`,
  ];
}
