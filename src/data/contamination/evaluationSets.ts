/** The texts of evaluation sets, from files of problems and from benchmarks by name. Does not compare (`evaluationIndex.ts`). */
import { BENCHMARKS, loadBenchmark } from '../../benchmarks/loadBenchmark.js';
import { openProblems } from '../../problems/readProblems.js';
import type { EvaluationText } from './evaluationIndex.js';

/** `aime24`, `aime24=FILE`, or a file of problems. */
export interface EvaluationSet {
  readonly name: string;
  readonly benchmark?: string;
  readonly file?: string;
}

export function parseEvaluationSet(text: string): EvaluationSet {
  const [, name, file] = /^([\w-]+)(?:=(.+))?$/.exec(text) ?? [];
  if (name !== undefined && BENCHMARKS.some(({ id }) => id === name)) return { name, benchmark: name, ...(file !== undefined && { file }) };
  return { name: text, file: text };
}

export interface LoadedEvaluationSet {
  readonly name: string;
  readonly texts: readonly EvaluationText[];
}

/** @throws UserError where it cannot be read: an evaluation set with bad rows would be only half looked for */
export async function loadEvaluationSet(set: EvaluationSet, signal?: AbortSignal): Promise<LoadedEvaluationSet> {
  if (set.benchmark !== undefined) {
    const { problems, file } = await loadBenchmark({ name: set.benchmark, file: set.file, mode: 'plain' });
    // What a benchmark asks for after the question is ours, not the problem's.
    const texts = problems.map(({ id, question }) => ({
      set: set.name,
      where: `${file}: ${id}`,
      text: question.slice(0, question.lastIndexOf('\n\n')),
    }));
    return { name: set.name, texts };
  }
  const file = await openProblems(set.file!, { strict: true, ...(signal && { signal }) });
  const texts: EvaluationText[] = [];
  for await (const { problem, row } of file.rows()) texts.push({ set: file.name, where: row.where, text: problem.question });
  return { name: file.name, texts };
}
