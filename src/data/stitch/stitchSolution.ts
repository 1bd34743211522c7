/**
 * A text solution as a conversation in which a tool seems to have been used: each calculation is cut out and a call put in its place, which
 * is really executed. This is the baseline that real trajectories are measured against. Does not read or write files.
 */
import type { Message } from '../../domain/message.js';
import type { Problem } from '../../domain/problem.js';
import { findSteps, type SolutionSteps, type Step } from './findSteps.js';
import { type Agreement, agreement } from './statedValue.js';

export type CallsPlacement =
  /** A call for each calculation. */
  | 'each'
  /** One program with all of them, in place of the first. */
  | 'one';

export interface Stitched {
  readonly kind: 'stitched';
  readonly messages: readonly Message[];
  readonly calls: number;
  readonly checks: readonly StepCheck[];
  readonly unreadable: readonly string[];
}

/** One calculation against what the sandbox says. */
export interface StepCheck {
  readonly step: Step;
  /** What was printed, or the error. */
  readonly output: string;
  readonly agreement: Agreement | 'error';
}

export type StitchOutcome = Stitched | { readonly kind: 'noStep' | 'noAnswer' | 'noSolution'; readonly unreadable: readonly string[] };

export interface StitchOptions {
  readonly calls: CallsPlacement;
  /** Runs a program as the tool does, and gives the text that a model would read. */
  readonly execute: (code: string) => Promise<{ readonly ok: boolean; readonly text: string }>;
}

export const TOOL_NAME = 'code_interpreter';

/** @throws what `execute` throws */
export async function stitchSolution(problem: Problem, solution: string | undefined, options: StitchOptions): Promise<StitchOutcome> {
  if (solution === undefined || solution.trim() === '') return { kind: 'noSolution', unreadable: [] };
  if (problem.kind === 'code' || problem.answer === undefined) return { kind: 'noAnswer', unreadable: [] };
  const found = findSteps(withoutFinalLine(solution));
  const { steps, unreadable } = found;
  if (steps.length === 0) return { kind: 'noStep', unreadable };
  const { messages, checks } = options.calls === 'each' ? await callEach(found, options) : await callOnce(found, options);
  const texts = options.calls === 'each' ? found.texts.at(-1)! : joined(found.texts.slice(1));
  const last: Message = { role: 'assistant', content: withBox(texts, problem.answer) };
  return {
    kind: 'stitched',
    messages: [{ role: 'user', content: problem.question }, ...messages, last],
    calls: messages.length / 2,
    checks,
    unreadable,
  };
}

interface Called {
  readonly messages: readonly Message[];
  readonly checks: readonly StepCheck[];
}

async function callEach({ texts, steps }: SolutionSteps, { execute }: StitchOptions): Promise<Called> {
  const messages: Message[] = [];
  const checks: StepCheck[] = [];
  for (const [i, step] of steps.entries()) {
    const code = `${step.math ? 'import math\n' : ''}print(${step.python})`;
    const { ok, text } = await execute(code);
    messages.push(...exchange(texts[i]!, code, text));
    checks.push({ step, output: text, agreement: ok ? agreement(text, step.stated) : 'error' });
  }
  return { messages, checks };
}

async function callOnce({ texts, steps }: SolutionSteps, { execute }: StitchOptions): Promise<Called> {
  const imports = steps.some(({ math }) => math) ? ['import math'] : [];
  const code = [...imports, ...steps.map(({ python }) => `print(${python})`)].join('\n');
  const { ok, text } = await execute(code);
  const lines = text.split('\n');
  const checks = steps.map((step, i): StepCheck => {
    const output = lines[i] ?? '';
    return { step, output: ok ? output : text, agreement: ok ? agreement(output, step.stated) : 'error' };
  });
  return { messages: exchange(texts[0]!, code, text), checks };
}

const exchange = (before: string, code: string, result: string): Message[] => [
  { role: 'assistant', content: before.trim(), toolCalls: [{ name: TOOL_NAME, arguments: { code } }] },
  { role: 'tool', name: TOOL_NAME, content: result },
];

const joined = (texts: readonly string[]): string => texts.join('');

/** GSM8K's last line says the answer once more. */
function withoutFinalLine(solution: string): string {
  const at = solution.lastIndexOf('####');
  return at === -1 || solution.slice(at).trim().includes('\n') ? solution : solution.slice(0, at).trimEnd();
}

/** The last turn ends in the answer in its box. */
function withBox(text: string, answer: string): string {
  const trimmed = text.trim();
  if (trimmed.includes('\\boxed{')) return trimmed;
  const lineStart = trimmed.lastIndexOf('\n') + 1;
  const said = /^The (?:final )?answer is:? (\S+)$/i.exec(trimmed.slice(lineStart));
  const body = said !== null && bare(said[1]!) === bare(answer) ? trimmed.slice(0, lineStart).trimEnd() : trimmed;
  return `${body}${body === '' ? '' : '\n'}The answer is \\boxed{${answer}}.`;
}

const bare = (answer: string): string => answer.replace(/[\s$,]|\.$/g, '');
