/** What we say around a benchmark's question: our own wording, or exactly the user's. */
import { UserError } from '../userError.js';
import type { Benchmark, BenchmarkItem, EvalMode } from './benchmark.js';

/** Stands for the question in a user's own text. */
export const PLACEHOLDER = '{question}';

const TASK: Readonly<Record<Benchmark['kind'], string>> = {
  math: 'Solve the problem step by step.',
  choice: 'Answer the multiple-choice question; reason step by step.',
  code: 'Write a Python program that solves the problem; reason step by step.',
};

const TOOLS: Readonly<Record<Benchmark['kind'], string>> = {
  math: 'First analyse and plan; then let the tool calculate and check, one call a turn. When sure, stop calling and answer.',
  choice:
    'First analyse and plan; then let the tool calculate and check where that helps, one call a turn. When sure, stop calling and answer.',
  code: 'First analyse and plan; then let the tool try the program on the examples, one call a turn. When sure, stop calling and answer.',
};

/** System message of our own. */
export const systemOf = (kind: Benchmark['kind'], mode: EvalMode): string =>
  mode === 'plain' ? TASK[kind] : `${TASK[kind]} ${TOOLS[kind]}`;

/** The user's message: the question with what form the answer takes. */
export function questionOf(kind: Benchmark['kind'], item: BenchmarkItem): string {
  return `${item.question}\n\n${formOf(kind, item)}`;
}

function formOf(kind: Benchmark['kind'], item: BenchmarkItem): string {
  if (kind === 'math') return 'Give the final answer in \\boxed{}, the number alone.';
  if (kind === 'choice') return 'Give the capital letter of the right option in \\boxed{}.';
  const form = item.starter === true ? 'Complete the starter code.' : 'Read standard input and print to standard output.';
  return `${form} Give the whole program in one \`\`\`python block.`;
}

/** @throws UserError when the text has no place for the question */
export function checkTemplate(text: string, file: string): string {
  if (text.includes(PLACEHOLDER)) return text;
  throw new UserError(`${file} has no ${PLACEHOLDER}`, `Write ${PLACEHOLDER} where the question belongs.`);
}

export const fillTemplate = (template: string, item: BenchmarkItem): string => template.replaceAll(PLACEHOLDER, () => item.question);
