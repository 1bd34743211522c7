/** `toolwise eval`: parses, calls the evaluation, prints. */
import type { Command } from 'commander';
import type { BenchmarkChoice } from '../benchmarks/loadBenchmark.js';
import { UserError } from '../userError.js';
import { endInterrupted, interruptible } from './interrupt.js';

interface Options {
  readonly problems?: string;
  readonly benchmark?: string;
  readonly file?: string;
  readonly mode: string;
  readonly prompt?: string;
  readonly samples?: string;
  readonly count?: string;
  readonly limit?: string;
  readonly temperature?: string;
  readonly topP?: string;
  readonly topK?: string;
  readonly recipe?: string;
  readonly set: string[];
  readonly out?: string;
  readonly apiKeyEnv?: string;
  readonly concurrency?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command('eval')
    .description('evaluate a model, the last checkpoint of a run, or an endpoint, on problems or a benchmark')
    .argument('<model-or-run>', 'a model as in a recipe, the folder of a run, or openai:http://127.0.0.1:8000/v1#model')
    .option('--problems <file|calc|calc-small>', 'a file or a generator (default: those of the recipe)')
    .option('--benchmark <name>', 'aime24, aime25, gpqa-diamond, livecodebench-v6 or gsm8k')
    .option('--file <path|hf:...>', "the benchmark's file (default: that of the hub)")
    .option('--mode <agentic|plain>', 'a benchmark with tools or without', 'agentic')
    .option('--prompt <file>', "the exact message of a benchmark's problem, {question} in it")
    .option('-n, --samples <number>', 'rollouts a problem (default: 8; of a benchmark 32)')
    .option('--count <number>', 'how many problems (default: 128 of a generator, all of a file)')
    .option('--limit <number>', 'the same as --count')
    .option('--temperature <number>', 'sampling temperature; 0 is greedy (default: 1)')
    .option('--top-p <number>', 'sampling top-p (default: 1; of a benchmark 0.6)')
    .option('--top-k <number>', 'sample among so many most likely tokens (default: all)')
    .option('--api-key-env <name>', "the variable that holds an endpoint's key (default: OPENAI_API_KEY)")
    .option('--concurrency <number>', 'requests to an endpoint at once (default: 32)')
    .option('--recipe <name|file>', 'prompt, tools and limits')
    .option('--set <path=value>', 'change a value of that recipe (repeatable)', (value: string, all: string[]) => [...all, value], [])
    .option('--out <folder>', 'where the trajectories are kept (default: runs/eval-<time>)')
    .option('--json', 'print one JSON object')
    .action(async (model: string, options: Options) => run(model, options));
}

async function run(model: string, options: Options): Promise<void> {
  const { evaluate } = await import('../evaluation/evaluateModel.js');
  const { metricsOf } = await import('../evaluation/evaluate.js');
  const { Narrator } = await import('./narrator.js');
  const numbers = numbersOf(options);
  const benchmark = benchmarkOf(options);
  const narrator = new Narrator();
  try {
    const {
      folder,
      result,
      benchmark: loaded,
    } = await interruptible((signal) =>
      evaluate({
        model,
        ...numbers,
        ...(benchmark && { benchmark }),
        ...(options.problems !== undefined && { problems: options.problems }),
        ...(options.recipe !== undefined && { recipe: options.recipe }),
        set: options.set,
        ...(options.out !== undefined && { out: options.out }),
        endpoint: {
          ...(options.apiKeyEnv !== undefined && { keyName: options.apiKeyEnv }),
          ...(options.concurrency !== undefined && { concurrency: whole('--concurrency', options.concurrency) }),
        },
        log: narrator.log,
        onProgress: (done, all) => narrator.progress('evaluation', done, all),
        signal,
      }),
    );
    narrator.end();
    const metrics = metricsOf(result);
    if (options.json) {
      const about = loaded && { benchmark: loaded.benchmark.id, mode: loaded.mode, file: loaded.file, warnings: loaded.warnings };
      console.log(JSON.stringify({ folder, ...about, ...metrics, ...(loaded && { published: loaded.benchmark.published }) }, null, 2));
      return;
    }
    const { evaluationTable, publishedTable } = await import('./tables.js');
    console.log(evaluationTable(result));
    const ours = { model, score: metrics.accuracy };
    if (loaded && loaded.benchmark.published.length > 0)
      console.log(`\n${publishedTable(loaded.benchmark.title, loaded.mode, loaded.benchmark.published, ours)}`);
    for (const warning of loaded?.warnings ?? []) console.log(`Note: ${warning}`);
    console.log(`Trajectories: ${folder}`);
  } catch (error) {
    narrator.end();
    endInterrupted(error);
  }
}

/** What the options say; what they do not say is left to the evaluation. */
function numbersOf(options: Options): { samples?: number; temperature?: number; topP?: number; topK?: number; count?: number } {
  if (options.count !== undefined && options.limit !== undefined)
    throw new UserError('--count and --limit are the same', 'Give one of them.');
  const { samples, temperature, topP, topK } = options;
  const count = options.count ?? options.limit;
  return {
    ...(samples !== undefined && { samples: whole('--samples', samples) }),
    ...(temperature !== undefined && { temperature: real('--temperature', temperature, 0, 10) }),
    ...(topP !== undefined && { topP: real('--top-p', topP, 1e-6, 1) }),
    ...(topK !== undefined && { topK: whole('--top-k', topK) }),
    ...(count !== undefined && { count: whole(options.count === undefined ? '--limit' : '--count', count) }),
  };
}

function benchmarkOf({ benchmark, file, mode, prompt, problems }: Options): BenchmarkChoice | undefined {
  if (benchmark === undefined) {
    if (file !== undefined || prompt !== undefined)
      throw new UserError('--file and --prompt go with --benchmark', 'Other problems: --problems FILE.');
    return undefined;
  }
  if (problems !== undefined) throw new UserError('--benchmark and --problems exclude each other', 'A file of the benchmark: --file FILE.');
  if (mode !== 'agentic' && mode !== 'plain') throw refuse('--mode', mode, 'agentic or plain');
  return { name: benchmark, file, mode, promptFile: prompt };
}

/** @throws UserError naming the option */
function whole(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw refuse(option, text, 'a whole number of at least 1');
  return value;
}

function real(option: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= low && value <= high)) throw refuse(option, text, `a number from ${low} to ${high}`);
  return value;
}

const refuse = (option: string, text: string, wanted: string): Error =>
  new UserError(`${option} ${JSON.stringify(text)}: expected ${wanted}`);
