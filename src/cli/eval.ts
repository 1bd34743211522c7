/** `toolwise eval`: parses, calls the evaluation, prints. */
import type { Command } from 'commander';
import { UserError } from '../userError.js';
import { Interrupted, interruptible } from './interrupt.js';

interface Options {
  readonly problems?: string;
  readonly samples: string;
  readonly count?: string;
  readonly temperature: string;
  readonly topP: string;
  readonly recipe?: string;
  readonly set: string[];
  readonly out?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command('eval')
    .description('evaluate a model, or the last checkpoint of a run, on problems')
    .argument('<model-or-run>', 'a model as in a recipe, or the folder of a run')
    .option('--problems <file|calc|calc-small>', 'a JSON Lines file or a generator (default: those of the recipe)')
    .option('-n, --samples <number>', 'rollouts a problem', '8')
    .option('--count <number>', 'how many problems (default: 128 of a generator, all of a file)')
    .option('--temperature <number>', 'sampling temperature; 0 is greedy', '1')
    .option('--top-p <number>', 'sampling top-p', '1')
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
  const samples = whole('--samples', options.samples);
  const narrator = new Narrator();
  try {
    const { folder, result } = await interruptible((signal) =>
      evaluate({
        model,
        samples,
        temperature: real('--temperature', options.temperature, 0, 10),
        topP: real('--top-p', options.topP, 1e-6, 1),
        ...(options.problems !== undefined && { problems: options.problems }),
        ...(options.count !== undefined && { count: whole('--count', options.count) }),
        ...(options.recipe !== undefined && { recipe: options.recipe }),
        set: options.set,
        ...(options.out !== undefined && { out: options.out }),
        log: narrator.log,
        onProgress: (done, all) => narrator.progress('evaluation', done, all),
        signal,
      }),
    );
    narrator.end();
    const metrics = metricsOf(result);
    if (options.json) {
      console.log(JSON.stringify({ folder, ...metrics }, null, 2));
      return;
    }
    const { evaluationTable } = await import('./tables.js');
    console.log(evaluationTable(result));
    console.log(`Trajectories: ${folder}`);
  } catch (error) {
    narrator.end();
    if (!(error instanceof Interrupted)) throw error;
    console.error(error.message);
    process.exitCode = 130;
  }
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
