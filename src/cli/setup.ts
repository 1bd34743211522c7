/** `toolwise setup`: installs the engine's Python environment, the sandbox's needs and a model's weights. */
import type { Command } from 'commander';

interface Options {
  readonly model?: string[];
  readonly models: boolean;
  readonly sandbox: boolean;
  readonly dev?: boolean;
  readonly quiet?: boolean;
}

export function register(program: Command): void {
  program
    .command('setup')
    .description("install the engine's Python environment, what the sandbox needs, and weights; repeatable")
    .option('--model <name...>', 'models to make ready (default: nano and smollm2-135m)')
    .option('--no-models', 'no weights')
    .option('--no-sandbox', 'leave the sandbox out')
    .option('--dev', "with what the engine's tests need")
    .option('--quiet', 'print only what is being done, not what is ready')
    .action(async (options: Options) => {
      const { setUp } = await import('../setup/setUp.js');
      const models = options.models ? (options.model ?? ['nano', 'smollm2-135m']) : [];
      const ready = await setUp({
        models,
        sandbox: options.sandbox,
        extras: options.dev ? ['dev'] : [],
        log: (line) => console.error(line),
      });
      if (options.quiet) return;
      for (const model of ready) console.log(`${model.name}: ${model.folder} (${model.source}; sha256 ${model.hash.slice(0, 12)})`);
      console.log('Ready.');
    });
}
