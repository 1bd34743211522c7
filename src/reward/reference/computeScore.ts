/** The released reward as a whole: which grader a data source gets, and the rule of turns on top. */
import type { CodeRunner } from '../../sandbox/codeRunner.js';
import { codePart, goldKind, type ReferenceVerdict, referenceProgram, scoreOfRuns } from './codeScore.js';
import { strictBoxScore } from './mathScore.js';
import { mathVerifyScore } from './mathVerifyScore.js';
import { pythonString } from './pythonText.js';
import { type ReferenceScore, withTurns } from './referenceScore.js';

export interface ReferenceInput {
  /** A name that holds "code" in any case gets the grader of code. */
  readonly dataSource: string | null;
  readonly solution: string;
  /** As the data set has it: a text, or what is turned into one. */
  readonly gold: unknown;
  /** Where `num_turns` is looked up; without it the reference fails. */
  readonly extraInfo: Readonly<Record<string, unknown>> | null | undefined;
}

export interface ReferenceContext {
  /** Parses programs. */
  readonly runner: CodeRunner;
  /** Runs the tests of a program. */
  readonly verdicts: (program: string, gold: string) => readonly ReferenceVerdict[] | Promise<readonly ReferenceVerdict[]>;
  readonly signal?: AbortSignal;
}

/** What the reference throws there. */
export class ReferenceFailure extends Error {
  override readonly name = 'ReferenceFailure';
}

/** @throws ReferenceFailure where the reference fails: no extra info, a turn count that is no whole number */
export async function computeScore(input: ReferenceInput, context: ReferenceContext): Promise<ReferenceScore> {
  const score = usesCode(input.dataSource)
    ? await codeScore(input.solution, pythonString(input.gold), context)
    : strictBoxScore(input.solution, input.gold);
  return { ...score, score: withTurns(score.score, turnsOf(input.extraInfo)) };
}

export const usesCode = (dataSource: string | null | undefined): boolean => (dataSource ?? '').toLowerCase().includes('code');

async function codeScore(solution: string, gold: string, context: ReferenceContext): Promise<ReferenceScore> {
  if (goldKind(gold) === 'plain') return mathVerifyScore(codePart(solution), gold);
  const found = await referenceProgram(solution, gold, context.runner, context.signal);
  return 'score' in found ? found : scoreOfRuns(found, await context.verdicts(found.source, gold));
}

/** As Python's `int(extra_info.get("num_turns", 0))`. */
function turnsOf(extraInfo: ReferenceInput['extraInfo']): number {
  if (extraInfo === null || extraInfo === undefined) throw new ReferenceFailure('there is no extra info to look up num_turns in');
  const turns = Object.hasOwn(extraInfo, 'num_turns') ? extraInfo.num_turns : 0;
  if (typeof turns === 'boolean') return Number(turns);
  if (typeof turns === 'number' && Number.isFinite(turns)) return Math.trunc(turns);
  if (typeof turns === 'string' && /^\s*[-+]?\d+(?:_\d+)*\s*$/.test(turns)) return Number(turns.replaceAll('_', ''));
  throw new ReferenceFailure(`num_turns is no whole number: ${JSON.stringify(turns)}`);
}
