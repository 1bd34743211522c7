/**
 * The vectors of the released graders. `compute_score` has two answers: the reference grader's, which is always asked for, and ours, which
 * is asked for where a vector says what is right, and for answers of mathematics unless the vector is a quirk.
 */
import { finalText, parseTurn } from '../chat/parseTurn.js';
import { findProgram } from '../reward/code/findProgram.js';
import { extractAnswer, lastBoxed } from '../reward/extract.js';
import { gradeAnswer } from '../reward/math/gradeAnswer.js';
import { boxContent, lastBox } from '../reward/reference/boxed.js';
import { goldKind, type ReferenceVerdict } from '../reward/reference/codeScore.js';
import { computeScore, usesCode } from '../reward/reference/computeScore.js';
import { answerLineScore, normalizeFinalAnswer } from '../reward/reference/normalizeFinalAnswer.js';
import { preparedProgram } from '../reward/reference/preparedProgram.js';
import { pythonString } from '../reward/reference/pythonText.js';
import { withTurns } from '../reward/reference/referenceScore.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { openUnsafeRunner } from '../sandbox/unsafeRunner.js';
import { agrees, holdsNaN, toleranceOf } from './compare.js';
import { asNumber, type Inputs, isRecord, text, type Vector, VectorError } from './vector.js';

export interface TwoAnswers {
  readonly pass: boolean | null;
  readonly expected: unknown;
  readonly actual: unknown;
  /** The reference grader's, where `actual` is ours. */
  readonly reference?: unknown;
}

/** Never throws for what a grader does: that is its answer. */
export async function computeScoreVector(vector: Vector): Promise<TwoAnswers> {
  const tolerance = toleranceOf(vector.fn);
  const reference = await answerOf(() => referenceAnswer(vector.inputs));
  const asReleased = holdsNaN(vector.expected) ? null : agrees(reference, vector.expected, tolerance);
  if (vector.correct === undefined && vector.reference_quirk !== undefined)
    return { pass: asReleased, expected: vector.expected, actual: reference };
  const wanted = vector.correct ?? vector.expected;
  if (vector.correct === undefined && (isCode(vector.inputs) || (isRecord(wanted) && 'throws' in wanted)))
    return { pass: asReleased, expected: wanted, actual: reference };
  const actual = await answerOf(() => withPython((runner) => ourAnswer(vector, runner)));
  return { pass: agrees(actual, wanted, tolerance) && asReleased !== false, expected: wanted, actual, reference };
}

const isCode = (inputs: Inputs): boolean => usesCode(typeof inputs.dataSource === 'string' ? inputs.dataSource : null);

async function answerOf(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof VectorError) throw error;
    return error instanceof Error ? { throws: error.name, message: error.message } : { throws: 'unknown', message: String(error) };
  }
}

const referenceAnswer = (inputs: Inputs): Promise<unknown> =>
  withPython((runner) =>
    computeScore(
      {
        dataSource: typeof inputs.dataSource === 'string' ? inputs.dataSource : null,
        solution: text(inputs, 'solution'),
        gold: inputs.groundTruth,
        extraInfo: isRecord(inputs.extraInfo) ? inputs.extraInfo : null,
      },
      { runner, verdicts: () => verdictsOf(inputs) },
    ),
  );

/** A plain Python, which parses programs; what came of running them is given. It starts when it is asked first. */
async function withPython<T>(work: (runner: CodeRunner) => Promise<T>): Promise<T> {
  const runner = openUnsafeRunner({ workers: 1 });
  try {
    return await work(runner);
  } finally {
    await runner.close();
  }
}

function verdictsOf(inputs: Inputs): readonly ReferenceVerdict[] {
  if (!Array.isArray(inputs.sandboxVerdicts)) throw new VectorError('there are no sandboxVerdicts for a program');
  return inputs.sandboxVerdicts as ReferenceVerdict[];
}

async function ourAnswer(vector: Vector, runner: CodeRunner): Promise<unknown> {
  const { inputs } = vector;
  const solution = text(inputs, 'solution');
  const turns = isRecord(inputs.extraInfo) ? asNumber(numeric(inputs.extraInfo.num_turns)) : undefined;
  // Fewer than no tool rounds cannot be; the released rule, where it alone is asked for, takes them at their word.
  const counted = turns === undefined ? 2 : vector.correct === undefined ? turns : Math.max(2, turns);
  const gold = pythonString(inputs.groundTruth);
  if (isCode(inputs) && goldKind(gold) !== 'plain') return ourCodeAnswer(inputs, solution, counted, runner);
  const verdict = gradeAnswer(extractAnswer(finalText(parseTurn(solution))).answer, gold);
  return { score: withTurns(verdict.correct ? 1 : -1, counted), acc: verdict.correct, pred: verdict.extracted ?? '' };
}

/** On the released scale, given what the tests came to: a failure of the sandbox is no verdict. */
async function ourCodeAnswer(inputs: Inputs, solution: string, turns: number, runner: CodeRunner): Promise<unknown> {
  const program = findProgram(finalText(parseTurn(solution)));
  if (program === undefined || (await preparedProgram({ source: program }, runner)) === undefined)
    return { score: withTurns(-1, turns), acc: false, pred: program ?? '' };
  const verdicts = verdictsOf(inputs);
  if (verdicts.includes(-1)) return { kind: 'infra', infra: true, score: null, acc: null };
  const passed = verdicts.filter((verdict) => verdict === true || verdict === 1).length;
  const acc = verdicts.length > 0 && passed === verdicts.length;
  return { score: passed === 0 ? withTurns(-1, turns) : passed / verdicts.length, acc, pred: program };
}

const numeric = (value: unknown): unknown => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value);

/** As released; ours where the vector says what is right. */
export function lastBoxedVector(inputs: Inputs, vector: Vector): unknown {
  const whole = text(inputs, 'text');
  if (vector.correct === undefined) return { box: lastBox(whole) ?? null, content: boxContent(whole) ?? null };
  const content = lastBoxed(whole);
  return { box: content === undefined ? null : `\\boxed{${content}}`, content: content ?? null };
}

export const normalise = (inputs: Inputs): unknown => ({ normalised: normalizeFinalAnswer(text(inputs, 'text')) });

export const answerLine = (inputs: Inputs): unknown => answerLineScore(text(inputs, 'solution'), text(inputs, 'groundTruth'));
