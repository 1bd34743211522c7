/**
 * Pairs a second of the grader for mathematics beside Math-Verify, on the same texts in one run, and where graders differ. The hostile
 * pairs are in neither rate (Math-Verify runs into its time limits there); the slowest of ours is told apart.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { extractAnswer } from '../reward/extract.js';
import { gradeAnswer } from '../reward/math/gradeAnswer.js';
import { strictBoxScore } from '../reward/reference/mathScore.js';
import { homeFolder, pythonIn } from '../setup/paths.js';
import { GOLDEN_FILES, goldenPairs } from './goldenPairs.js';

export interface GradeBenchmark {
  readonly pairs: number;
  readonly ours: Rate;
  /** Milliseconds of the slowest hostile pair. */
  readonly slowestHostile: number;
  /** Absent where there is no Python with Math-Verify. */
  readonly mathVerify?: Rate & { readonly version: string };
  readonly verdicts: readonly Verdicts[];
}

export interface Rate {
  readonly pairsPerSecond: number;
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
}

/** What each grader said about one pair. */
export interface Verdicts {
  readonly id: string;
  readonly gold: string;
  readonly response: string;
  readonly note: string;
  readonly truth: boolean;
  readonly ours: boolean;
  /** The released grader of mathematics. */
  readonly reference: boolean;
  readonly mathVerify?: boolean;
}

interface MathPair {
  readonly id: string;
  readonly gold: string;
  readonly response: string;
  readonly note: string;
  readonly equal: boolean;
}

/** `--python`, else `TOOLWISE_MATH_VERIFY`, else the environment `math-verify` in the folder that set-up writes to. */
export function mathVerifyPython(given: string | undefined, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = given ?? env.TOOLWISE_MATH_VERIFY;
  if (named !== undefined) return named;
  const own = pythonIn(join(homeFolder(env), 'math-verify'));
  return existsSync(own) ? own : undefined;
}

export async function benchmarkGrade(python: string | undefined, seconds = 3): Promise<GradeBenchmark> {
  const all = mathPairs();
  const pairs = all.filter(({ id }) => !id.includes('-hostile-'));
  const hostile = all.filter(({ id }) => id.includes('-hostile-'));
  const found = pairs.map(graded);
  const ours = rateOf(timed(pairs, seconds));
  const slowestHostile = Math.max(...timed(hostile, 0));
  const theirs = python === undefined ? undefined : await mathVerify(python, pairs);
  return {
    pairs: pairs.length,
    ours,
    slowestHostile,
    ...(theirs && { mathVerify: { version: theirs.version, ...rateOf(theirs.milliseconds) } }),
    verdicts: pairs.map(({ equal, ...pair }, i) => ({
      ...pair,
      truth: equal,
      ours: found[i]!,
      reference: strictBoxScore(pair.response, pair.gold).acc,
      ...(theirs && { mathVerify: theirs.equal[i]! }),
    })),
  };
}

/** Both sides read a response with a box, so that finding the answer is part of the work. */
function mathPairs(): MathPair[] {
  return GOLDEN_FILES.flatMap((name) => goldenPairs(name)).flatMap(({ id, kind, gold, response, answer, note, equal }) =>
    kind === 'math' && gold !== undefined ? [{ id, gold, response: response ?? `\\boxed{${answer}}`, note, equal }] : [],
  );
}

const graded = ({ response, gold }: MathPair): boolean => gradeAnswer(extractAnswer(response).answer, gold).correct;

/** Milliseconds of every call, after one round that is not counted. */
function timed(pairs: readonly MathPair[], seconds: number): number[] {
  for (const pair of pairs) graded(pair);
  const milliseconds: number[] = [];
  const started = performance.now();
  do {
    for (const pair of pairs) {
      const before = performance.now();
      graded(pair);
      milliseconds.push(performance.now() - before);
    }
  } while (performance.now() - started < seconds * 1000);
  return milliseconds;
}

function rateOf(milliseconds: readonly number[]): Rate {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return { pairsPerSecond: (1000 * sorted.length) / sorted.reduce((sum, one) => sum + one, 0), median: at(0.5), p99: at(0.99) };
}

interface MathVerifyAnswers {
  readonly version: string;
  readonly equal: readonly boolean[];
  readonly milliseconds: readonly number[];
}

function mathVerify(python: string, pairs: readonly MathPair[]): Promise<MathVerifyAnswers> {
  return new Promise((resolve, reject) => {
    const script = fileURLToPath(new URL('mathVerify.py', import.meta.url));
    const child = spawn(python, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (part: Buffer) => {
      text += part.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code !== 0) return reject(new Error(`Math-Verify under ${python} ended with ${code}`));
      const [head, ...rows] = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { version: string; equal: boolean; seconds: number });
      if (head === undefined || rows.length !== pairs.length) return reject(new Error(`Math-Verify answered ${rows.length} pairs`));
      resolve({ version: head.version, equal: rows.map(({ equal }) => equal), milliseconds: rows.map(({ seconds }) => seconds * 1000) });
    });
    child.stdin.end(pairs.map(({ gold, response }) => `${JSON.stringify({ gold: `$${gold}$`, answer: response })}\n`).join(''));
  });
}
