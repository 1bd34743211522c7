/** `toolwise demo`: makes ready what is missing, plays the acts, prints. */
import type { Command } from 'commander';
import { UserError } from '../userError.js';
import { endInterrupted, interruptible } from './interrupt.js';

interface Options {
  readonly quick?: boolean;
  readonly seed: string;
  readonly set: string[];
  readonly out?: string;
}

export function register(program: Command): void {
  program
    .command('demo')
    .description('two small models learn to reason with a tool, before your eyes')
    .option('--quick', 'act 1 alone: about three minutes')
    .option('--seed <number>', 'seed of problems, sampling and order', '1')
    .option('--set <path=value>', 'change a value of both recipes (repeatable)', (value: string, all: string[]) => [...all, value], [])
    .option('--out <folder>', 'where the runs are kept (default: runs/demo-<time>)')
    .action(async (options: Options) => {
      const seed = Number(options.seed);
      if (!Number.isInteger(seed) || seed < 0) throw new UserError(`--seed ${JSON.stringify(options.seed)}: expected a whole number`);
      const { setUp } = await import('../setup/setUp.js');
      const { runDemo } = await import('../demo/demo.js');
      const { Narrator } = await import('./narrator.js');
      const { deviationLines } = await import('./train.js');
      const { loadRecipe } = await import('../recipe/load.js');
      const { reportTable } = await import('./tables.js');
      const narrator = new Narrator(process.stdout);
      const quick = options.quick ?? false;
      await setUp({ models: quick ? ['nano'] : ['nano', 'smollm2-135m'], sandbox: true, extras: [], log: (line) => narrator.line(line) });
      for (const name of quick ? ['nano'] : ['nano', 'demo']) {
        for (const line of await deviationLines((await loadRecipe(name, { set: options.set })).recipe)) narrator.line(line);
      }
      try {
        const acts = await interruptible((signal) =>
          runDemo({
            quick,
            seed,
            set: options.set,
            ...(options.out !== undefined && { out: options.out }),
            say: (line) => narrator.line(line),
            table: (report) => reportTable(report).split('\n'),
            log: narrator.log,
            onEvent: narrator.event,
            onProgress: narrator.progress,
            signal,
          }),
        );
        narrator.end();
        narrator.line(`Total: ${Math.round(acts.reduce((sum, { seconds }) => sum + seconds, 0))} s, seed ${seed}.`);
      } catch (error) {
        narrator.end();
        endInterrupted(error, (message) => narrator.line(`${message}. What was done is kept in the run's folder.`));
      }
    });
}
