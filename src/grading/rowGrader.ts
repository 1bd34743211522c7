/** Grades one row by the grader of its kind. */
import type { Verdict } from '../domain/verdict.js';
import { gradeChoice } from '../reward/choice.js';
import { gradeCode, isBrokenTests } from '../reward/code/gradeCode.js';
import { readCodeTests } from '../reward/code/readCodeTests.js';
import { type Extraction, extractAnswer } from '../reward/extract.js';
import { checkGold } from '../reward/math/gradeAnswer.js';
import { gradeMath } from '../reward/math/gradeMath.js';
import { UserError } from '../userError.js';
import type { RowResult } from './graded.js';
import type { ChoiceRow, CodeRow, Given, GradingRow, MathRow } from './gradingRow.js';
import type { SandboxOnDemand } from './sandboxOnDemand.js';

/** Never throws for what a row holds. @throws UserError where a row needs a sandbox and there is none; the signal's reason */
export type RowGrader = (row: GradingRow, signal: AbortSignal) => Promise<RowResult>;

export interface RowGraderOptions {
  readonly sandbox: SandboxOnDemand;
  /** Also take what follows "the final answer is" where a response has no box. */
  readonly phrase?: boolean;
  /** Stop at the first test that fails: faster, and the share of passed tests is then a lower bound. */
  readonly stopEarly?: boolean;
}

export function rowGrader({ sandbox, phrase = false, stopEarly = false }: RowGraderOptions): RowGrader {
  return async (row, signal) => {
    switch (row.kind) {
      case 'math':
        return mathRow(row, phrase, sandbox, signal);
      case 'choice':
        return choiceRow(row, phrase);
      case 'code':
        return codeRow(row, await sandbox.judge(), stopEarly, signal);
    }
  };
}

/** What a row's grader reads, and why. An extracted answer that still holds a box is what is in it. */
export function answerOf(given: Given, phrase = false): Extraction {
  if (given.kind === 'response') return extractAnswer(given.text, { phrase });
  if (given.text === undefined) return { from: 'none', note: 'the row has no answer' };
  if (given.text.includes('\\boxed')) return extractAnswer(given.text);
  return { from: 'none', answer: given.text };
}

async function mathRow(row: MathRow, phrase: boolean, sandbox: SandboxOnDemand, signal: AbortSignal): Promise<RowResult> {
  const unusable = checkGold(row.gold);
  if (unusable !== undefined) return refused(row, `the right answer ${shown(row.gold)} cannot be used: ${unusable}`);
  const { answer, note } = answerOf(row.given, phrase);
  const runner = sandbox.secondOpinion;
  const verdict = await gradeMath(answer, row.gold, { signal, ...(runner && { runner }) });
  return withNote(verdict, note);
}

function choiceRow(row: ChoiceRow, phrase: boolean): RowResult {
  const { answer, note } = answerOf(row.given, phrase);
  try {
    return withNote(gradeChoice(answer, { gold: row.gold, ...(row.options && { options: row.options }) }), note);
  } catch (error) {
    if (error instanceof UserError) return refused(row, error.message);
    throw error;
  }
}

async function codeRow(
  row: CodeRow,
  judge: Awaited<ReturnType<SandboxOnDemand['judge']>>,
  stopEarly: boolean,
  signal: AbortSignal,
): Promise<RowResult> {
  let tests: ReturnType<typeof readCodeTests>;
  try {
    tests = readCodeTests(row.tests);
  } catch (error) {
    if (error instanceof UserError) return refused(row, error.message);
    throw error;
  }
  const verdict = await gradeCode(programText(row.given), tests, { judge, signal, stopEarly });
  if (isBrokenTests(verdict)) return refused(row, verdict.error);
  if (verdict.kind === 'infra') return { kind: 'verdict', verdict };
  const { passed, total, detail, ...graded } = verdict;
  return { kind: 'verdict', verdict: graded, details: { passed, total, ...(detail !== undefined && { detail }) } };
}

/** An extracted answer is the program itself, unless it has fences of its own. */
export function programText(given: Given): string {
  const text = given.text ?? '';
  if (given.kind === 'response' || text.trim() === '' || /^[ \t>]*(?:`{3,}|~{3,})/m.test(text)) return text;
  return `\`\`\`python\n${text}\n\`\`\``;
}

function withNote(verdict: Verdict, note: string | undefined): RowResult {
  return { kind: 'verdict', verdict, ...(note !== undefined && { details: { note } }) };
}

const refused = (row: GradingRow, error: string): RowResult => ({ kind: 'refused', error: `${row.where}: ${error}` });

const shown = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
