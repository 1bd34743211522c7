/** `toolwise data trajectories`: parses, calls, prints. */
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
  readonly problems: string;
  readonly teacher: string;
  readonly samples: string;
  readonly count?: string;
  readonly topK?: string;
  readonly scorer?: string;
  readonly temperature: string;
  readonly topP: string;
  readonly recipe?: string;
  readonly set: string[];
  readonly apiKeyEnv?: string;
  readonly scorerKeyEnv?: string;
  readonly concurrency?: string;
  readonly work?: string;
  readonly resume?: boolean;
  readonly out: string;
}

export function register(data: Command): void {
  const command = data
    .command('trajectories')
    .description('let a teacher solve problems with its tools; keep what is right, distinct and did use a tool')
    .requiredOption('--problems <file|calc|calc-small>', 'a file of problems, or a generator')
    .requiredOption('--teacher <model|run|endpoint>', 'a model, RUN, RUN@sft, RUN@rl, or openai:http://127.0.0.1:8000/v1#model')
    .option('-n, --samples <number>', 'rollouts a problem', '4')
    .option('--count <number>', 'how many problems (default: all of a file, 128 of a generator)')
    .option('--top-k <number>', 'at most so many trajectories of each source, the best first')
    .option('--scorer <endpoint>', 'a model that ranks them: openai:http://127.0.0.1:8000/v1#model')
    .option('--temperature <number>', 'sampling temperature', '1')
    .option('--top-p <number>', 'sampling top-p', '1')
    .option('--recipe <name|file>', "prompt, tools and limits (default: the run's own; else those of eval)")
    .option('--set <path=value>', 'change a value of that recipe (repeatable)', (value: string, all: string[]) => [...all, value], [])
    .option('--api-key-env <name>', "the variable that holds the teacher's key (default: OPENAI_API_KEY)")
    .option('--scorer-key-env <name>', "the variable that holds the scorer's key (default: OPENAI_API_KEY)")
    .option('--concurrency <number>', 'requests to an endpoint at once (default: 32 to a teacher, 8 to a scorer)')
    .option('--work <folder>', 'where the rollouts are kept (default: <out>.rollouts)')
    .option('--resume', 'go on with the rollouts that are there');
  for (const add of [outOption, forceOption, strictOption, seedOption, jsonOption]) add(command);
  command.action(async (options: Options) => run(options));
}

async function run(options: Options): Promise<void> {
  const concurrency = options.concurrency === undefined ? undefined : wholeNumber('--concurrency', options.concurrency);
  const settings = {
    problems: options.problems,
    teacher: options.teacher,
    samples: wholeNumber('--samples', options.samples),
    temperature: realNumber('--temperature', options.temperature, 0, 10),
    topP: realNumber('--top-p', options.topP, 1e-6, 1),
    seed: wholeNumber('--seed', options.seed, 0),
    set: options.set,
    endpoint: {
      ...(options.apiKeyEnv !== undefined && { keyName: options.apiKeyEnv }),
      ...(concurrency !== undefined && { concurrency }),
    },
    out: options.out,
    force: options.force ?? false,
    resume: options.resume ?? false,
    strict: options.strict ?? false,
    ...(options.count !== undefined && { count: wholeNumber('--count', options.count) }),
    ...(options.topK !== undefined && { topK: wholeNumber('--top-k', options.topK) }),
    ...(options.recipe !== undefined && { recipe: options.recipe }),
    ...(options.work !== undefined && { work: options.work }),
    ...(concurrency !== undefined && { scorerConcurrency: concurrency }),
  };
  const { collectTrajectories } = await import('../../data/trajectories/collect.js');
  const { openScorer } = await import('../../data/trajectories/scorer.js');
  const { trajectoriesText } = await import('../../data/trajectories/reportText.js');
  await runCommand(async ({ narrator, signal }) => {
    const keyName = options.scorerKeyEnv;
    const opened =
      options.scorer === undefined
        ? undefined
        : openScorer(options.scorer, { ...(keyName !== undefined && { keyName }), concurrency: concurrency ?? 8 });
    try {
      const report = await collectTrajectories({
        ...settings,
        ...(opened && { scorer: opened.scorer }),
        log: narrator.log,
        onProgress: narrator.progress,
        signal,
      });
      narrator.end();
      if (options.json) printJson(report);
      else console.log(trajectoriesText(report));
    } finally {
      await opened?.close();
    }
  });
}
