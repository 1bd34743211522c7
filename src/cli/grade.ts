/** `toolwise grade`: parses, calls the graders, prints. Verdicts go to standard output, everything else to standard error. */
import { once } from 'node:events';
import { cpus } from 'node:os';
import type { Command } from 'commander';
import type { RowGrader } from '../grading/rowGrader.js';
import type { SandboxOnDemand } from '../grading/sandboxOnDemand.js';
import type { SandboxKind } from '../sandbox/open.js';
import { UserError } from '../userError.js';
import { Interrupted, interruptible } from './interrupt.js';

interface Options {
  readonly run?: string;
  readonly changed?: boolean;
  readonly grader: string;
  readonly judge?: string;
  readonly judgeModel?: string;
  readonly apiKeyEnv: string;
  readonly phrase?: boolean;
  readonly stopEarly?: boolean;
  readonly parallel: string;
  readonly timeout: string;
  readonly memory: string;
  readonly sandbox: string;
}

export function register(program: Command): void {
  program
    .command('grade')
    .description('grade answers of a file, or the stored rollouts of a run again; verdicts as JSON Lines')
    .argument('[file]', 'JSON Lines of {"id", "kind": "math"|"choice"|"code", "gold"|"options"|"tests", "response" or "answer"}')
    .option('--run <folder>', 'grade the rollouts of a run again, without inference, and say what changed')
    .option('--changed', 'with --run: print only those whose verdict changed')
    .option('--grader <name>', '"default", or "reference" for the released graders', 'default')
    .option('--judge <url>', 'an OpenAI-compatible endpoint that judges mathematics and choice, for example https://host/v1')
    .option('--judge-model <name>', "the judge's model")
    .option('--api-key-env <name>', "the variable that holds the judge's key", 'OPENAI_API_KEY')
    .option('--phrase', 'also take what follows "the final answer is" where there is no box')
    .option('--stop-early', 'stop the tests of a program at the first that fails')
    .option('--parallel <number>', 'rows in work at once', '16')
    .option('--timeout <seconds>', 'limit of one test of a program', '10')
    .option('--memory <MB>', 'limit of one test of a program', '1024')
    .option('--sandbox <kind>', 'auto, zygote, oneshot, or none: without a sandbox', 'auto')
    .action(async (file: string | undefined, options: Options) => run(file, options));
}

async function run(file: string | undefined, options: Options): Promise<void> {
  if ((file === undefined) === (options.run === undefined))
    throw new UserError('grade needs a file, or --run with the folder of a run', 'For example: npx toolwise grade answers.jsonl');
  if (options.changed && options.run === undefined) throw new UserError('--changed goes with --run');
  const parallel = whole('--parallel', options.parallel);
  const { Narrator } = await import('./narrator.js');
  const { SandboxOnDemand } = await import('../grading/sandboxOnDemand.js');
  process.stdout.on('error', endWithReader);
  const narrator = new Narrator();
  const sandbox = new SandboxOnDemand({
    kind: sandboxKind(options.sandbox),
    workers: cpus().length,
    timeoutSeconds: whole('--timeout', options.timeout),
    memoryMb: whole('--memory', options.memory),
    onNote: (note) => narrator.line(`sandbox: ${note}`),
  });
  const { grader, close } = await graderOf(options, sandbox);
  try {
    await interruptible(async (signal) => {
      const common = { grader, parallel, signal, onProgress: (done: number, all: number) => narrator.progress('graded', done, all) };
      if (options.run !== undefined) {
        const { openRun } = await import('../runs/reader.js');
        const { ChangeTally, regradeRun } = await import('../grading/regradeRun.js');
        const stored = openRun(options.run);
        const tally = new ChangeTally();
        try {
          for await (const one of regradeRun(stored, common)) {
            tally.add(one);
            if (!options.changed || one.change !== 'same') await print(one.line);
          }
        } finally {
          stored.close();
        }
        narrator.line(tally.text());
        if (tally.tally.refused > 0) process.exitCode = 2;
        return;
      }
      const { gradeFile } = await import('../grading/gradeFile.js');
      const { Tally } = await import('../grading/graded.js');
      const tally = new Tally();
      // A machine without a sandbox is told before anything is graded, where the rows need one.
      const onChecked = async ({ code }: { readonly code: number }): Promise<void> => void (code > 0 && (await sandbox.open()));
      let sample: string | undefined;
      for await (const { row, line } of gradeFile(file!, tally, { ...common, onChecked })) {
        sample ??= row.given.text;
        await print(line);
      }
      narrator.line(tally.text());
      if (tally.unanswered > 0 && tally.unanswered === tally.right + tally.wrong)
        narrator.log(`no row has an answer that could be read; the first ends: ${JSON.stringify((sample ?? '').slice(-160))}`, 'warning');
      if (tally.refused > 0) process.exitCode = 2;
    });
  } catch (error) {
    narrator.end();
    if (!(error instanceof Interrupted)) throw error;
    console.error(error.message);
    process.exitCode = 130;
  } finally {
    narrator.end();
    await close();
  }
}

async function graderOf(options: Options, sandbox: SandboxOnDemand): Promise<{ grader: RowGrader; close: () => Promise<void> }> {
  if (options.grader !== 'default' && options.grader !== 'reference')
    throw new UserError(`--grader ${JSON.stringify(options.grader)}: expected "default" or "reference"`);
  if (options.grader === 'reference') {
    if (options.judge !== undefined) throw new UserError('--judge and --grader reference exclude each other');
    const { referenceRowGrader } = await import('../grading/referenceRowGrader.js');
    return { grader: referenceRowGrader(sandbox), close: () => sandbox.close() };
  }
  const { rowGrader } = await import('../grading/rowGrader.js');
  const own = rowGrader({ sandbox, phrase: options.phrase ?? false, stopEarly: options.stopEarly ?? false });
  if (options.judge === undefined) return { grader: own, close: () => sandbox.close() };
  const { isEndpoint, parseEndpoint } = await import('../engine/openaiEndpoint.js');
  const { openJudge } = await import('../grading/judgeChat.js');
  const { judgeRowGrader } = await import('../grading/judgeRowGrader.js');
  const named = isEndpoint(options.judge) ? parseEndpoint(options.judge) : { url: options.judge, model: undefined };
  const model = options.judgeModel ?? named.model;
  if (model === undefined) throw new UserError('--judge needs the name of a model', 'Add --judge-model NAME.');
  const key = process.env[options.apiKeyEnv];
  const chat = openJudge({
    url: named.url,
    model,
    concurrency: whole('--parallel', options.parallel),
    ...(key !== undefined && key !== '' && { key }),
  });
  return {
    grader: judgeRowGrader(chat, own),
    close: async () => {
      await chat.close();
      await sandbox.close();
    },
  };
}

/** A reader that has seen enough, as `head` has, ends the command. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}

async function print(line: object): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain');
}

/** @throws UserError naming the option */
function whole(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new UserError(`${option} ${JSON.stringify(text)}: expected a whole number of at least 1`);
  return value;
}

const SANDBOXES: readonly string[] = ['auto', 'zygote', 'oneshot', 'none'] satisfies SandboxKind[];

function sandboxKind(text: string): SandboxKind {
  if (!SANDBOXES.includes(text)) throw new UserError(`--sandbox ${JSON.stringify(text)}: expected one of ${SANDBOXES.join(', ')}`);
  return text as SandboxKind;
}
