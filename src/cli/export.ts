/** `toolwise export`: parses, calls the export, prints. */
import type { Command } from 'commander';
import { UserError } from '../userError.js';
import { endInterrupted, interruptible } from './interrupt.js';

interface Options {
  readonly to: string;
  readonly format: string;
  readonly dtype?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command('export')
    .description('write a trained model for other programs')
    .argument('<run>', "a run's folder (its last checkpoint), RUN@sft, RUN@rl, RUN@CHECKPOINT, or RUN@base")
    .requiredOption('--to <folder>', 'the folder to write')
    .option('--format <hf|peft|gguf>', 'a Hugging Face folder, a LoRA adapter for peft, or a GGUF file for llama.cpp', 'hf')
    .option('--dtype <bfloat16|float16|float32>', 'precision of the weights (default: that of the run; of an adapter float32)')
    .option('--force', 'replace an earlier export in that folder')
    .option('--json', 'print one JSON object')
    .action(async (run: string, options: Options) => write(run, options));
}

async function write(run: string, options: Options): Promise<void> {
  const { EXPORT_DTYPES, EXPORT_FORMATS, exportRun } = await import('../export/exportRun.js');
  const format = oneOf('--format', options.format, EXPORT_FORMATS);
  const dtype = options.dtype === undefined ? undefined : oneOf('--dtype', options.dtype, EXPORT_DTYPES);
  const { to, force = false, json = false } = options;
  try {
    const made = await interruptible((signal) =>
      exportRun({ run, to, format, ...(dtype && { dtype }), force, log: (line) => console.error(line), signal }),
    );
    if (json) {
      console.log(JSON.stringify(made, null, 2));
      return;
    }
    const from = made.checkpoint ? `${made.checkpoint.stage} step ${made.checkpoint.step}` : 'untrained';
    console.log(`${made.format} of ${made.baseModel}, ${from}, ${made.dtype}: ${(made.bytes / 1e6).toFixed(1)} MB in ${made.folder}`);
    for (const file of made.files) console.log(`  ${file}`);
  } catch (error) {
    endInterrupted(error, (message) => console.error(`${message}; nothing was written`));
  }
}

/** @throws UserError naming the option */
function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((one) => one === text);
  if (found === undefined) throw new UserError(`${option} ${JSON.stringify(text)}: expected ${known.join(', ')}`);
  return found;
}
