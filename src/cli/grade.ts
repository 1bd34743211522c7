/** `toolwise grade`: parses, calls the graders, prints. Verdicts go to standard output, everything else to standard error. */
import { once, setMaxListeners } from 'node:events';
import { cpus } from 'node:os';
import type { Command } from 'commander';
import type { RowGrader } from '../grading/rowGrader.js';
import type { SandboxOnDemand } from '../grading/sandboxOnDemand.js';
import type { SandboxKind } from '../sandbox/open.js';
import { UserError } from '../userError.js';
import type { Heartbeat } from './heartbeat.js';
import { endInterrupted, interruptible } from './interrupt.js';
import type { Narrator } from './narrator.js';

interface Options {
  readonly run?: string;
  readonly changed?: boolean;
  readonly grader: string;
  readonly judge?: string;
  readonly judgeModel?: string;
  readonly apiKeyEnv: string;
  readonly phrase?: boolean;
  readonly stopEarly?: boolean;
  readonly strict?: boolean;
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
    .option(
      '--judge <openai:URL#MODEL>',
      'a model that judges mathematics and choice, for example openai:http://127.0.0.1:8000/v1#my-model',
    )
    .option('--judge-model <name>', "the judge's model, where the address does not name it")
    .option('--api-key-env <name>', "the variable that holds the judge's key", 'OPENAI_API_KEY')
    .option('--phrase', 'also take what follows "the final answer is" where there is no box')
    .option('--stop-early', 'stop the tests of a program at the first that fails')
    .option('--strict', 'stop at the first row that cannot be used, before anything is graded')
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
  const { grader, probe, close } = await graderOf(options, sandbox);
  const { Heartbeat } = await import('./heartbeat.js');
  const heartbeat = new Heartbeat(narrator, 'graded');
  try {
    await interruptible((signal) => {
      setMaxListeners(0, signal); // every row in work listens
      const work: Work = { options, grader, probe, sandbox, narrator, heartbeat, parallel, signal };
      return options.run === undefined ? gradeRows(file!, work) : gradeRun(options.run, work);
    });
  } catch (error) {
    narrator.end();
    endInterrupted(error);
  } finally {
    heartbeat.end();
    narrator.end();
    await close();
  }
}

interface Work extends Graders {
  readonly options: Options;
  readonly sandbox: SandboxOnDemand;
  readonly narrator: Narrator;
  readonly heartbeat: Heartbeat;
  readonly parallel: number;
  readonly signal: AbortSignal;
}

async function gradeRows(file: string, { options, grader, probe, sandbox, narrator, heartbeat, parallel, signal }: Work): Promise<void> {
  const { gradeFile } = await import('../grading/gradeFile.js');
  const { Tally } = await import('../grading/graded.js');
  const tally = new Tally();
  let sample: string | undefined;
  const rows = gradeFile(file, tally, {
    grader,
    parallel,
    signal,
    strict: options.strict ?? false,
    onProgress: heartbeat.update,
    // What is missing is told before anything is graded, where the rows need it.
    onChecked: async ({ all, code, bad, firstBad }) => {
      if (firstBad?.hint !== undefined) narrator.line(`${bad} of ${all} rows cannot be used. ${firstBad.hint}`);
      if (code > 0) await sandbox.open();
      if (all > code + bad) await probe(signal);
      heartbeat.update(0, all);
    },
  });
  for await (const { row, line } of rows) {
    if (row.kind !== 'bad') sample ??= row.given.text;
    await print(line);
  }
  narrator.line(tally.text());
  for (const warning of tally.warnings()) narrator.log(warning, 'warning');
  if (tally.unanswered > 0 && tally.unanswered === tally.right + tally.wrong)
    narrator.log(`no row has an answer that could be read; the first ends: ${JSON.stringify((sample ?? '').slice(-160))}`, 'warning');
  process.exitCode = tally.exitCode();
}

async function gradeRun(folder: string, { options, grader, probe, narrator, heartbeat, parallel, signal }: Work): Promise<void> {
  const { openRun } = await import('../runs/reader.js');
  const { ChangeTally, regradeRun } = await import('../grading/regradeRun.js');
  const stored = openRun(folder);
  const tally = new ChangeTally();
  try {
    await probe(signal);
    for await (const one of regradeRun(stored, { grader, parallel, signal, onProgress: heartbeat.update })) {
      tally.add(one);
      if (!options.changed || one.change !== 'same') await print(one.line);
    }
  } finally {
    stored.close();
  }
  narrator.line(tally.text());
  for (const warning of tally.tally.warnings()) narrator.log(warning, 'warning');
  process.exitCode = tally.tally.exitCode();
}

interface Graders {
  readonly grader: RowGrader;
  /** Whether what grades is there. @throws UserError */
  probe(signal: AbortSignal): Promise<void>;
}

async function graderOf(options: Options, sandbox: SandboxOnDemand): Promise<Graders & { close: () => Promise<void> }> {
  const alone = { probe: async () => undefined, close: () => sandbox.close() };
  if (options.grader !== 'default' && options.grader !== 'reference')
    throw new UserError(`--grader ${JSON.stringify(options.grader)}: expected "default" or "reference"`);
  if (options.grader === 'reference') {
    if (options.judge !== undefined) throw new UserError('--judge and --grader reference exclude each other');
    const { referenceRowGrader } = await import('../grading/referenceRowGrader.js');
    return { grader: referenceRowGrader(sandbox), ...alone };
  }
  const { rowGrader } = await import('../grading/rowGrader.js');
  const own = rowGrader({ sandbox, phrase: options.phrase ?? false, stopEarly: options.stopEarly ?? false });
  if (options.judge === undefined) return { grader: own, ...alone };
  const { isEndpoint, parseEndpoint } = await import('../engine/openaiEndpoint.js');
  const { openJudge } = await import('../grading/judgeChat.js');
  const { judgeRowGrader } = await import('../grading/judgeRowGrader.js');
  const named = isEndpoint(options.judge) ? parseEndpoint(options.judge) : { url: options.judge, model: undefined };
  const model = options.judgeModel ?? named.model;
  if (model === undefined)
    throw new UserError('--judge needs the name of a model', `Name it behind the address: --judge openai:${named.url}#MODEL`);
  const key = process.env[options.apiKeyEnv];
  const chat = openJudge({
    url: named.url,
    model,
    concurrency: whole('--parallel', options.parallel),
    ...(key !== undefined && key !== '' && { key }),
  });
  return {
    grader: judgeRowGrader(chat, own),
    probe: (signal) => chat.probe(signal),
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
