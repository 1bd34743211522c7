/** `toolwise data inspect`: parses, calls, prints. */
import type { Command } from 'commander';
import { forceOption, jsonOption, printJson, runCommand, wholeNumber } from './common.js';

interface Options {
  readonly html?: string;
  readonly tokenizer?: string;
  readonly recipe: string;
  readonly limit?: string;
  readonly examples: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

export function register(data: Command): void {
  const command = data
    .command('inspect')
    .description('what is in a file: columns, counts, lengths, calls, broken rows, examples')
    .argument('<file>', 'Parquet, JSON Lines, JSON or CSV, or hf:owner/name/path')
    .option('--html <file>', 'also write it as a page')
    .option('--tokenizer <model>', 'measure real tokens: nano, smollm2-135m, a model folder, or organisation/name of the hub')
    .option('--recipe <name|file>', 'whose system text and tools are counted with --tokenizer', 'grpo-tcr')
    .option('--limit <number>', 'look at so many rows, from the first (default: all)')
    .option('--examples <number>', 'rows to show', '3');
  forceOption(jsonOption(command)).action(async (file: string, options: Options) => run(file, options));
}

async function run(file: string, options: Options): Promise<void> {
  const examples = wholeNumber('--examples', options.examples, 0);
  const limit = options.limit === undefined ? {} : { limit: wholeNumber('--limit', options.limit) };
  const { inspectSet } = await import('../../data/inspect/inspectSet.js');
  if (options.html !== undefined) (await import('../../tables/writeTable.js')).refuseOverwrite(options.html, options.force ?? false);
  await runCommand(async ({ narrator, progress, signal }) => {
    const tokens =
      options.tokenizer === undefined
        ? {}
        : {
            tokens: await (await import('../../data/inspect/tokenMeter.js')).openTokenMeter(
              options.tokenizer,
              options.recipe,
              narrator.log,
            ),
          };
    const inspection = await inspectSet(file, {
      ...limit,
      ...tokens,
      examples,
      signal,
      onProgress: progress('rows'),
    });
    narrator.end();
    if (options.html !== undefined) {
      const { inspectionPage } = await import('../../data/inspect/inspectionPage.js');
      const { writeWhole } = await import('../../data/writeWhole.js');
      await writeWhole(options.html, inspectionPage(inspection));
    }
    if (options.json) printJson(inspection);
    else console.log((await import('../../data/inspect/inspectionText.js')).inspectionText(inspection));
    if (options.html !== undefined) narrator.line(`Page: ${options.html}`);
  });
}
