/** `toolwise train`: parses, calls the trainer, prints. */
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { endInterrupted, interruptible } from './interrupt.js';

interface Options {
  readonly set: string[];
  readonly out?: string;
  readonly resume?: boolean;
  readonly acceptChanges?: boolean;
  readonly dryRun?: boolean;
  readonly model?: string;
  readonly seed?: string;
  readonly sandbox?: string;
  readonly track: string[];
}

export function register(program: Command): void {
  program
    .command('train')
    .description('train a model by a recipe')
    .argument('[recipe]', 'a packaged recipe (demo, nano, ra-sft, grpo-t, grpo-tcr, grpo-scr, demyagent-4b) or a YAML file')
    .option('--set <path=value>', 'change a value of the recipe, for example rl.steps=20 (repeatable)', collect, [])
    .option('--model <name>', 'short for --set model=…')
    .option('--seed <number>', 'short for --set seed=…')
    .option('--sandbox <kind>', 'short for --set sandbox.kind=…; "none" runs the model\'s code without a sandbox')
    .option('--out <folder>', "the run's folder (default: runs/<recipe>-<time>)")
    .option('--resume', 'go on with the run in --out')
    .option('--accept-changes', 'with --resume: although the recipe changed since')
    .option('--track <where>', 'send numbers to tensorboard, mlflow:URL, wandb:PROJECT or webhook:URL (repeatable)', collect, [])
    .option('--dry-run', 'show the resolved recipe, and what it takes: tokens, memory, time, disk; start nothing')
    .action(async (recipe: string | undefined, options: Options) => run(recipe, options));
}

const collect = (value: string, all: string[]): string[] => [...all, value];

async function run(name: string | undefined, options: Options): Promise<void> {
  const { UserError } = await import('../userError.js');
  if (options.resume && options.out === undefined) throw new UserError('--resume needs the folder of the run', 'Add --out FOLDER.');
  if (options.acceptChanges && !options.resume) throw new UserError('--accept-changes goes with --resume');
  const recipe = name ?? (options.resume ? `${options.out}/recipe.yaml` : undefined);
  if (recipe === undefined) throw new UserError('which recipe?', 'For example: npx toolwise train nano');
  const set = [
    ...options.set,
    ...(options.model === undefined ? [] : [`model=${options.model}`]),
    ...(options.seed === undefined ? [] : [`seed=${options.seed}`]),
    ...(options.sandbox === undefined ? [] : [`sandbox.kind=${options.sandbox}`]),
  ];
  const { loadRecipe } = await import('../recipe/load.js');
  const { recipe: resolved, sources } = await loadRecipe(recipe, { set });
  if (options.dryRun) return dryRun(resolved, sources, options.out);

  const { Narrator } = await import('./narrator.js');
  const { train } = await import('../training/train.js');
  const { parseTracker } = await import('../trackers/parseTracker.js');
  const trackers = options.track.map(parseTracker);
  const narrator = new Narrator();
  for (const line of await deviationLines(resolved)) narrator.line(line);
  let folder = options.out;
  try {
    const result = await interruptible((signal) =>
      train({
        recipe,
        set,
        ...(folder !== undefined && { out: folder }),
        resume: options.resume ?? false,
        acceptChanges: options.acceptChanges ?? false,
        log: narrator.log,
        onEvent: narrator.event,
        trackers,
        onProgress: narrator.progress,
        onFolder: (path) => {
          folder = path;
          narrator.line(`run folder: ${path}`);
        },
        signal,
      }),
    );
    narrator.end();
    const { reportTable } = await import('./tables.js');
    console.log(reportTable(result.report));
    console.log(`Run: ${result.folder}`);
  } catch (error) {
    narrator.end();
    endInterrupted(error, (message) =>
      console.error(`${message}.${folder === undefined ? '' : ` Go on with: npx toolwise train --resume --out ${resolve(folder)}`}`),
    );
  }
}

async function dryRun(recipe: import('../recipe/schema.js').Recipe, sources: readonly string[], out?: string): Promise<void> {
  const { describeRecipe } = await import('../recipe/describe.js');
  const { modelFacts } = await import('../session/modelFacts.js');
  const { stringify } = await import('yaml');
  console.log(stringify(recipe));
  console.log(`From: ${sources.join(', ')}`);
  const facts = await modelFacts(recipe);
  for (const line of describeRecipe(recipe, facts)) console.log(line);
  const { planLines } = await import('../recipe/plan.js');
  const { measuredSpeed } = await import('../runs/measuredSpeed.js');
  const { freeDisk } = await import('../setup/machine.js');
  const runs = resolve(out === undefined ? 'runs' : dirname(out));
  const { hasNvidiaGpu } = await import('../setup/pythonEnv.js');
  const gpu = await hasNvidiaGpu();
  const measured = measuredSpeed(runs, recipe, gpu);
  const machine = { cores: availableParallelism(), gpu, freeDisk: await freeDisk(runs), folder: runs };
  for (const line of planLines(recipe, machine, facts, measured)) console.log(line);
  for (const line of await deviationLines(recipe)) console.log(line);
}

export async function deviationLines(recipe: import('../recipe/schema.js').Recipe): Promise<string[]> {
  const { deviations } = await import('../recipe/deviations.js');
  if (recipe.follows === undefined) return [];
  const found = deviations(recipe);
  if (found.length === 0) return [`Follows the paper's ${recipe.follows} in every value.`];
  return [
    `Differs from the paper's ${recipe.follows} (paper -> here):`,
    ...found.map(
      ({ path, paper, here, note }) => `  ${path}: ${paper} -> ${here}${note === undefined ? '' : styleText('dim', `  ${note}`)}`,
    ),
  ];
}
