/** `toolwise data import`: parses, calls, prints. */
import type { Command } from 'commander';
import type { ImportReport } from '../../data/trajectories/importTraces.js';
import { UserError } from '../../userError.js';
import { type CommonOptions, forceOption, jsonOption, outOption, printJson, runCommand, strictOption } from './common.js';

interface Options extends Omit<CommonOptions, 'seed'> {
  readonly out: string;
  readonly allowPrivate?: boolean;
  readonly redact?: boolean;
}

export function register(data: Command): void {
  const command = data
    .command('import')
    .description('make a set of conversations from logs of chat completions')
    .argument('<files...>', 'lines of {"messages", "tools"} or {"request", "response"}: JSON Lines, JSON, Parquet or CSV')
    .option('--redact', 'write a stand-in for each e-mail address and key that is found')
    .option('--allow-private', 'write them as they are');
  for (const add of [outOption, forceOption, strictOption, jsonOption]) add(command);
  command.action(async (files: string[], options: Options) => run(files, options));
}

async function run(files: readonly string[], options: Options): Promise<void> {
  const { out, force = false, strict = false, redact, allowPrivate } = options;
  if (redact && allowPrivate) throw new UserError('--redact and --allow-private exclude each other');
  const { importTraces } = await import('../../data/trajectories/importTraces.js');
  await runCommand(async ({ narrator, signal }) => {
    const report = await importTraces({
      files,
      out,
      force,
      strict,
      ...(redact && { private: 'redact' as const }),
      ...(allowPrivate && { private: 'keep' as const }),
      log: narrator.log,
      onProgress: narrator.progress,
      signal,
    });
    narrator.end();
    if (options.json) printJson(report);
    else console.log(textOf(report));
  });
}

function textOf(report: ImportReport): string {
  const line = (name: string, count: number): string => `  ${name.padEnd(46)}${String(count).padStart(7)}`;
  const kinds = Object.entries(report.private);
  return [
    ...report.sources.map(({ name, rows }) => `${name}: ${rows} rows`),
    line('no readable conversation', report.unreadable),
    line('a longer row begins with it', report.stages),
    line('an earlier row says the same', report.repeated),
    line('messages and calls do not fit together', report.faulty),
    line('conversations kept', report.rows),
    line('calls in them', report.calls),
    line('of them without a call', report.rowsWithoutCall),
    line('with calls that their tools do not allow', report.doubtfulCalls),
    ...(report.otherChoices > 0 ? [line('further answers of a response, left out', report.otherChoices)] : []),
    ...kinds.map(([kind, count]) => line(`private: ${kind}, ${report.redacted ? 'replaced' : 'kept'}`, count)),
    '',
    `Set: ${report.file}`,
    `Card: ${report.card}`,
  ].join('\n');
}
