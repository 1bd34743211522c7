/** `toolwise data check`: parses, calls, prints. Faults go to standard output as they are found, everything else to standard error. */
import { once } from 'node:events';
import type { Command } from 'commander';
import type { Fault } from '../../data/check/fault.js';
import type { SandboxKind } from '../../sandbox/open.js';
import { UserError } from '../../userError.js';
import { jsonOption, printJson, runCommand, strictOption, wholeNumber } from './common.js';

interface Options {
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly limit?: string;
  readonly run: boolean;
  readonly parallel?: string;
  readonly timeout: string;
  readonly memory: string;
  readonly sandbox: string;
}

export function register(data: Command): void {
  const command = data
    .command('check')
    .description('whether right answers can be graded, tests run, and conversations are whole')
    .argument('<file>', 'Parquet, JSON Lines, JSON or CSV, or hf:owner/name/path')
    .option('--limit <number>', 'check so many rows, from the first (default: all)')
    .option('--no-run', 'run no reference solutions')
    .option('--parallel <number>', 'rows in work at once (default: two a processor)')
    .option('--timeout <seconds>', 'limit of one test of a program', '10')
    .option('--memory <MB>', 'limit of one test of a program', '1024')
    .option('--sandbox <kind>', 'auto, zygote, oneshot, or none: without a sandbox', 'auto');
  strictOption(jsonOption(command)).action(async (file: string, options: Options) => run(file, options));
}

/** In the JSON object; all are counted. */
const MOST_IN_JSON = 1000;

async function run(file: string, options: Options): Promise<void> {
  const limits = {
    ...(options.limit !== undefined && { limit: wholeNumber('--limit', options.limit) }),
    ...(options.parallel !== undefined && { parallel: wholeNumber('--parallel', options.parallel) }),
  };
  const judging = {
    timeoutSeconds: wholeNumber('--timeout', options.timeout),
    memoryMb: wholeNumber('--memory', options.memory),
    sandbox: sandboxKind(options.sandbox),
  };
  const { checkSet } = await import('../../data/check/checkSet.js');
  const { openCodeJudge } = await import('../../reward/code/codeJudge.js');
  type Judge = Awaited<ReturnType<typeof openCodeJudge>>;
  await runCommand(async ({ narrator, progress, signal }) => {
    let opened: Promise<Judge> | undefined;
    const judge = (): Promise<Judge> => {
      opened ??= openCodeJudge(judging).then((one) => {
        for (const note of one.notes) narrator.line(`sandbox: ${note}`);
        return one;
      });
      return opened;
    };
    const faults: Fault[] = [];
    try {
      const result = await checkSet(file, {
        ...limits,
        ...(options.run && { judge }),
        strict: options.strict ?? false,
        signal,
        onFault: (fault) => {
          if (options.json) faults.length < MOST_IN_JSON && faults.push(fault);
          else print(`${fault.where}: ${fault.kind}: ${fault.detail}`);
        },
        onProgress: progress('checked'),
      });
      narrator.end();
      if (options.json) printJson({ file, ok: result.rowsWithFaults === 0, ...result, first: faults });
      else narrator.line(summary(file, result, options.strict ?? false));
      if (result.rowsWithFaults > 0) process.exitCode = 2;
      else if (result.solutions.infra > 0) process.exitCode = 1;
      if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
    } finally {
      await (await opened?.catch(() => undefined))?.close();
    }
  });
}

type Result = Awaited<ReturnType<typeof import('../../data/check/checkSet.js').checkSet>>;

function summary(file: string, { rows, rowsWithFaults, faults, solutions, kind, schema }: Result, strict: boolean): string {
  const what = `${file}: ${rows} rows, ${kind}${schema === undefined ? '' : `, schema ${schema}`}`;
  const kinds = Object.entries(faults)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
  const verdict =
    rowsWithFaults === 0 ? 'nothing wrong' : `${rowsWithFaults} with faults (${kinds})${strict ? '; ended at the first' : ''}`;
  const { rows: having, passed, notRun, infra, infraError } = solutions;
  const ran =
    having === 0
      ? ''
      : notRun > 0
        ? `\n${notRun} rows have a reference solution; none was run`
        : `\n${having} rows have a reference solution: ${passed} pass${infra > 0 ? `, ${infra} could not be judged (${infraError})` : ''}`;
  return `${what}: ${verdict}${ran}`;
}

/** Control characters of a file must not reach the terminal. */
const print = (line: string): void => void process.stdout.write(`${line.replace(/\p{Cc}/gu, ' ')}\n`);

const SANDBOXES: readonly string[] = ['auto', 'zygote', 'oneshot', 'none'] satisfies SandboxKind[];

function sandboxKind(text: string): SandboxKind {
  if (!SANDBOXES.includes(text)) throw new UserError(`--sandbox ${JSON.stringify(text)}: expected one of ${SANDBOXES.join(', ')}`);
  return text as SandboxKind;
}
