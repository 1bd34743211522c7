/**
 * Grades rows as the released code does: see `reward/reference`. `score` is the released one, with the rule of turns where the row says how
 * many there were. Two things are ours: a sandbox that fails is no wrong answer, and an extracted answer without a box is put into one.
 */
import type { Graded } from '../domain/verdict.js';
import { goldKind, type ReferenceVerdict } from '../reward/reference/codeScore.js';
import { computeScore, type ReferenceInput } from '../reward/reference/computeScore.js';
import type { ReferenceScore } from '../reward/reference/referenceScore.js';
import { runReferenceTests, SandboxFailure } from '../reward/reference/runTests.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import type { RowResult } from './graded.js';
import type { GradingRow } from './gradingRow.js';
import { programText, type RowGrader } from './rowGrader.js';

/** Turns of a response without a tool round. */
const TURNS_WITHOUT_TOOLS = 2;

/** A sandbox that the first program opens. */
interface Programs {
  readonly runner: CodeRunner;
  /** @throws UserError where there is no sandbox */
  open(): Promise<unknown>;
}

export function referenceRowGrader(sandbox: Programs): RowGrader {
  return async (row, signal): Promise<RowResult> => {
    if (row.kind === 'code') await sandbox.open();
    const input = inputOf(row);
    if (row.kind === 'code' && goldKind(input.gold as string) === 'plain')
      return { kind: 'refused', error: `${row.where}: the reference grader knows no tests without "inputs" or "import_prefix"` };
    let verdicts: readonly ReferenceVerdict[] = [];
    try {
      const score = await computeScore(input, {
        runner: sandbox.runner,
        signal,
        verdicts: async (program, gold) => {
          verdicts = await runReferenceTests(program, gold, sandbox.runner, signal);
          return verdicts;
        },
      });
      return { kind: 'verdict', verdict: verdictOf(row, score, verdicts) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SandboxFailure) return { kind: 'verdict', verdict: { kind: 'infra', error: error.message } };
      throw error;
    }
  };
}

function inputOf(row: GradingRow): ReferenceInput {
  const gold = row.kind === 'code' ? (typeof row.tests === 'string' ? row.tests : JSON.stringify(row.tests)) : row.gold;
  return {
    dataSource: row.kind === 'code' ? 'code' : null,
    solution: solutionOf(row),
    gold,
    extraInfo: { num_turns: row.turns ?? TURNS_WITHOUT_TOOLS },
  };
}

function solutionOf(row: GradingRow): string {
  const { given } = row;
  if (row.kind === 'code') return programText(given);
  if (given.kind === 'response') return given.text;
  if (given.text === undefined) return '';
  return given.text.includes('\\boxed{') ? given.text : `\\boxed{${given.text}}`;
}

function verdictOf(row: GradingRow, { score, acc, pred }: ReferenceScore, verdicts: readonly ReferenceVerdict[]): Graded {
  const extracted = pred === '' ? {} : { extracted: pred };
  const base = { kind: 'graded', correct: acc, score, ...extracted } as const;
  if (acc) return { ...base, reason: 'match' };
  if (row.kind !== 'code') return { ...base, reason: pred === '' ? 'noAnswer' : 'mismatch' };
  if (pred === '') return { ...base, reason: 'noProgram' };
  return { ...base, reason: REASONS.get(verdicts.find((verdict) => verdict !== true) ?? false) ?? 'wrongOutput' };
}

const REASONS: ReadonlyMap<ReferenceVerdict, Graded['reason']> = new Map<ReferenceVerdict, Graded['reason']>([
  [-2, 'runtimeError'],
  [-3, 'timeout'],
  [-4, 'compileError'],
]);
