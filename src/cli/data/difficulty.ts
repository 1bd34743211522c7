/** `toolwise data difficulty`: parses, measures, writes the profile, shows its histogram. */
import type { Command } from 'commander';
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
  readonly problems: string;
  readonly count?: string;
  readonly samples: string;
  readonly temperature: string;
  readonly topP: string;
  readonly minValid?: string;
  readonly recipe?: string;
  readonly set: string[];
  readonly cache?: string;
  readonly apiKeyEnv?: string;
  readonly concurrency?: string;
}

export function register(data: Command): void {
  const command = data
    .command('difficulty')
    .description('how often a model solves each problem of a set: a profile, and its histogram')
    .argument('<model-or-run>', 'a model, the folder of a run (RUN, RUN@sft, RUN@rl, RUN@base), or openai:http://127.0.0.1:8000/v1#model')
    .requiredOption('--problems <file|calc|calc-small>', 'a file or a generator')
    .option('--count <number>', 'how many problems, from the first; a generator must be told')
    .option('-n, --samples <number>', 'rollouts a problem', '8')
    .option('--temperature <number>', 'sampling temperature', '1')
    .option('--top-p <number>', 'sampling top-p', '1')
    .option('--min-valid <number>', 'rollouts of a problem that must not be lost, else it stays without a label (default: half)')
    .option('--recipe <name|file>', 'prompt, tools and limits (default: those of the run)')
    .option('--set <path=value>', 'change a value of that recipe (repeatable)', (value: string, all: string[]) => [...all, value], [])
    .option('--cache <folder>', 'where measured problems are kept (default: in the folder that set-up writes to)')
    .option('--api-key-env <name>', "the variable that holds an endpoint's key (default: OPENAI_API_KEY)")
    .option('--concurrency <number>', 'rollouts in flight at once');
  for (const add of [outOption, forceOption, strictOption, seedOption, jsonOption]) add(command);
  command.action(async (model: string, options: Options) => run(model, options));
}

async function run(model: string, options: Options): Promise<void> {
  const samples = wholeNumber('--samples', options.samples);
  const asked = {
    model,
    problems: options.problems,
    samples,
    temperature: realNumber('--temperature', options.temperature, 0, 10),
    topP: realNumber('--top-p', options.topP, 1e-6, 1),
    seed: wholeNumber('--seed', options.seed, 0),
    set: options.set,
    out: options.out,
    force: options.force ?? false,
    strict: options.strict ?? false,
    ...(options.count !== undefined && { count: wholeNumber('--count', options.count) }),
    ...(options.minValid !== undefined && { enough: wholeNumber('--min-valid', options.minValid) }),
    ...(options.recipe !== undefined && { recipe: options.recipe }),
    ...(options.cache !== undefined && { cache: options.cache }),
    ...(options.concurrency !== undefined && { concurrency: wholeNumber('--concurrency', options.concurrency) }),
    ...(options.apiKeyEnv !== undefined && { keyName: options.apiKeyEnv }),
  };
  const { profileDifficulty } = await import('../../data/difficulty/profileDifficulty.js');
  const { drawHistogram } = await import('../../data/difficulty/histogram.js');
  await runCommand(async ({ narrator, signal }) => {
    const profile = await profileDifficulty({ ...asked, log: narrator.log, onProgress: narrator.progress, signal });
    narrator.end();
    if (options.json) return printJson(profile);
    console.log(`${profile.model} on ${profile.problems} problems of ${profile.pool}, ${samples} rollouts each`);
    for (const line of drawHistogram(profile.histogram)) console.log(line);
    console.log(`Profile: ${profile.file}`);
    console.log(`Card: ${profile.card}`);
  });
}
