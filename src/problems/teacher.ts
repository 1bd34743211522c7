/**
 * A scripted teacher: conversations that solve calc problems with the code interpreter. Every call really runs, and its result is what the
 * tool would tell a model. Some meet a fault and mend it. Only conversations whose answer is right are kept. Writes no system message.
 */
import type { Message } from '../domain/message.js';
import { deriveSeed, Random } from '../random.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { codeInterpreter } from '../tools/codeInterpreter.js';
import type { CalcProblem } from './calc.js';

export interface TaughtConversation {
  /** The problem's id. */
  readonly id: string;
  readonly problem: CalcProblem;
  /** From the user's question to the final answer. */
  readonly messages: readonly Message[];
  readonly variant: TeacherVariant;
}

export type TeacherVariant =
  | 'straight'
  /** The result is assigned and not printed; seen, and run again. */
  | 'forgottenPrint'
  /** The program fails; the error is read and mended. */
  | 'error'
  /** A second program confirms the first one's result. */
  | 'check';

export interface TeacherOptions {
  /** Any number, also an endless stream. */
  readonly problems: Iterable<CalcProblem>;
  readonly runner: CodeRunner;
  readonly seed: number;
  /** Share of conversations that are not straight. Default 0.3. */
  readonly faults?: number;
  /** Share of conversations with an analysis before the first call, where there is room for one. Default 0.85. */
  readonly analysis?: number;
  /** Programs that run at once. Default 4. */
  readonly concurrency?: number;
}

/** One conversation a problem, in the problems' order; a problem on which no right one came about is left out.
 * @throws Error when the sandbox itself fails */
export async function* demonstrations(options: TeacherOptions): AsyncGenerator<TaughtConversation, void, void> {
  const { concurrency = 4 } = options;
  let batch: CalcProblem[] = [];
  const teachAll = async (): Promise<(TaughtConversation | undefined)[]> => {
    const taught = await Promise.all(batch.map((problem) => teach(problem, options)));
    batch = [];
    return taught;
  };
  for (const problem of options.problems) {
    batch.push(problem);
    if (batch.length === concurrency) for (const taught of await teachAll()) if (taught !== undefined) yield taught;
  }
  for (const taught of await teachAll()) if (taught !== undefined) yield taught;
}

const ATTEMPTS = 4;
const ANALYSIS_SHARE = 0.85;
/** Share of first programs that are the plainest one. */
const PLAINEST_SHARE = 0.8;
/** Expressions longer than this (characters) are taught straight and printed at once: two such calls are more than the limits of a small
 * model's turns hold. */
const LONG = 41;
/** Two calls of longer ones leave no room for an analysis. */
const LONG_WITH_ANALYSIS = 24;
/** The longest for an error, whose traceback is long as well, and for one whose traceback repeats the expression. */
const LONG_WITH_ERROR = 20;
const LONG_IN_TRACEBACK = 19;
const FORGOT = ['Nothing was printed, so I print the result.', 'I forgot to print it.'];
const MENDED = ['A bracket is missing.', 'I close the bracket.'];
const IMPORT = ['The import is missing.', 'I add the import.'];
const CHECK = ['I check this with a second program.', 'Let me confirm it.'];
const FINAL = [
  (answer: string) => `The answer is \\boxed{${answer}}.`,
  (answer: string) => `So the result is \\boxed{${answer}}.`,
  (answer: string) => `The program gives \\boxed{${answer}}.`,
];

async function teach(problem: CalcProblem, options: TeacherOptions): Promise<TaughtConversation | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const random = new Random(deriveSeed('teacher', options.seed, problem.id, attempt));
    const variant = fitting(problem, drawVariant(random, options.faults ?? 0.3));
    const calls = callsOf(problem, variant, random, options.analysis ?? ANALYSIS_SHARE);
    const messages: Message[] = [{ role: 'user', content: problem.question }];
    let last = '';
    for (const { before, code } of calls) {
      last = await runCode(code, problem, options.runner);
      messages.push({ role: 'assistant', content: before, toolCalls: [{ name: 'code_interpreter', arguments: { code } }] });
      messages.push({ role: 'tool', name: 'code_interpreter', content: last });
    }
    if (last !== problem.answer) continue;
    messages.push({ role: 'assistant', content: random.pick(FINAL)(last) });
    return { id: problem.id, problem, messages, variant };
  }
  return undefined;
}

function drawVariant(random: Random, faults: number): TeacherVariant {
  if (!random.chance(faults)) return 'straight';
  const kind = random.next();
  return kind < 0.4 ? 'forgottenPrint' : kind < 0.7 ? 'error' : 'check';
}

interface PlannedCall {
  readonly before: string;
  readonly code: string;
}

function callsOf(problem: CalcProblem, variant: TeacherVariant, random: Random, analysis: number): PlannedCall[] {
  const [plainest, ...others] = problem.programs.map(splitProgram);
  const other = others.length === 0 ? plainest! : random.pick(others);
  const [first, second] = random.chance(PLAINEST_SHARE) ? [plainest!, other] : [other, plainest!];
  const { setup, expression } = first;
  const room = variant === 'straight' || expression.length <= LONG_WITH_ANALYSIS;
  const before = random.chance(analysis) && room ? random.pick(problem.explanation) : '';
  const direct = `${setup}print(${expression})`;
  switch (variant) {
    case 'straight':
      return [{ before, code: printing(first, random) }];
    case 'forgottenPrint':
      return [
        { before, code: `${setup}x = ${expression}` },
        { before: random.pick(FORGOT), code: direct },
      ];
    case 'error': {
      if (setup !== '') {
        return [
          { before: '', code: `print(${expression})` },
          { before: random.pick(IMPORT), code: direct },
        ];
      }
      const failing = `x = ${expression}\nprint(x`;
      return [
        { before: '', code: failing },
        { before: random.pick(MENDED), code: `${failing})` },
      ];
    }
    case 'check':
      return [
        { before, code: direct },
        { before: random.pick(CHECK), code: `${second.setup}print(${second.expression})` },
      ];
  }
}

/** The variant, or the nearest one that the problem's programs are short enough for. */
function fitting(problem: CalcProblem, variant: TeacherVariant): TeacherVariant {
  const longest = Math.max(...problem.programs.map((program) => splitProgram(program).expression.length));
  if (longest > LONG) return 'straight';
  const most = problem.programs[0]!.includes('\n') ? LONG_IN_TRACEBACK : LONG_WITH_ERROR;
  return variant === 'error' && longest > most ? 'forgottenPrint' : variant;
}

interface SplitProgram {
  /** Lines before the last, with their line breaks. */
  readonly setup: string;
  readonly expression: string;
}

function splitProgram(program: string): SplitProgram {
  const at = program.lastIndexOf('\n') + 1;
  return { setup: program.slice(0, at), expression: program.slice(at) };
}

/** In most programs the value is printed at once, in some it gets a name first. */
function printing({ setup, expression }: SplitProgram, random: Random): string {
  const kind = random.next();
  if (kind < 0.65 || expression.length > LONG) return `${setup}print(${expression})`;
  const name = kind < 0.85 ? 'x' : 'result';
  return `${setup}${name} = ${expression}\nprint(${name})`;
}

async function runCode(code: string, problem: CalcProblem, runner: CodeRunner): Promise<string> {
  const outcome = await codeInterpreter(runner).execute(
    { code },
    { problem, trajectoryId: `teacher:${problem.id}`, state: undefined, signal: new AbortController().signal },
  );
  if (typeof outcome === 'string') return outcome;
  if (outcome.kind === 'infra') throw new Error(`the sandbox failed: ${outcome.error}`);
  return outcome.text;
}
