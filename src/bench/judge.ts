/**
 * Programs a second of the code judge, twice over the same programs: both times every verdict has to be the same, and nothing may be left
 * running. Right and wrong programs of all three kinds of tests, in equal parts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { openCodeJudge } from '../reward/code/codeJudge.js';
import type { CodeTests } from '../reward/code/codeTests.js';
import { type CodeVerdict, gradeCode } from '../reward/code/gradeCode.js';
import { readCodeTests } from '../reward/code/readCodeTests.js';

export interface JudgeBenchmark {
  readonly runner: string;
  readonly workers: number;
  readonly programs: number;
  /** By kind of tests, over both passes. */
  readonly perSecond: Readonly<Record<CodeTests['kind'], number>>;
  /** Programs whose two verdicts differ. */
  readonly disagreements: number;
  /** Verdicts that are not what the program deserves. */
  readonly misjudged: number;
  /** Processes below this one after the judge was closed. */
  readonly left: number;
}

interface Submission {
  readonly response: string;
  readonly tests: CodeTests;
  readonly right: boolean;
}

/** Short programs; each is asked for a number of its own, so that no two are the same. */
const BODIES: readonly { code: (n: number) => string; right: boolean }[] = [
  { code: (n) => `def f(x):\n    return x * x + ${n}`, right: true },
  {
    code: (n) => `from collections import Counter\nimport math, heapq\ndef f(x):\n    return int(math.pow(x, 2)) + sum(Counter([${n}]))`,
    right: true,
  },
  { code: (n) => `def f(x):\n    return sum(x for _ in range(x)) + ${n}`, right: true },
  { code: (n) => `def f(x):\n    return x * x - ${n + 1}`, right: false },
  { code: (n) => `def f(x):\n    raise ValueError(${n})`, right: false },
];

function submission(kind: CodeTests['kind'], index: number): Submission {
  const { code, right } = BODIES[index % BODIES.length]!;
  const input = (index % 50) + 1;
  const expected = String(input * input + index);
  const tests: Record<CodeTests['kind'], unknown> = {
    stdio: { inputs: [`${input}\n`], outputs: [`${expected}\n`] },
    calls: { fn_name: 'f', inputs: [String(input)], outputs: [expected] },
    assertions: { entry_point: 'f', test_code: `def check(candidate):\n    assert candidate(${input}) == ${expected}` },
  };
  const program = code(index) + (kind === 'stdio' ? '\nprint(f(int(input())))' : '');
  return { response: `\`\`\`python\n${program}\n\`\`\``, tests: readCodeTests(tests[kind]), right };
}

/** @param programs of each kind */
export async function benchmarkJudge(workers = 2, programs = 334): Promise<JudgeBenchmark> {
  const before = new Set(childrenOfThis());
  const judge = await openCodeJudge({ workers });
  const perSecond = { stdio: 0, calls: 0, assertions: 0 };
  let [disagreements, misjudged] = [0, 0];
  try {
    for (const kind of ['stdio', 'calls', 'assertions'] as const) {
      const all = Array.from({ length: programs }, (_, index) => submission(kind, index));
      const judgeAll = () => inParallel(all, 2 * workers, ({ response, tests }) => gradeCode(response, tests, { judge }));
      await inParallel(all.slice(0, 8 * workers), workers, ({ response, tests }) => gradeCode(response, tests, { judge }));
      const started = performance.now();
      const passes = [await judgeAll(), await judgeAll()] as const;
      perSecond[kind] = (2 * programs) / ((performance.now() - started) / 1000);
      disagreements += all.filter((_, index) => JSON.stringify(passes[0][index]) !== JSON.stringify(passes[1][index])).length;
      misjudged += all.filter(({ right }, index) => passes[0][index]!.kind !== 'graded' || isCorrect(passes[0][index]!) !== right).length;
    }
  } finally {
    await judge.close();
  }
  const left = childrenOfThis().filter((pid) => !before.has(pid)).length;
  return { runner: judge.name, workers, programs: 3 * programs, perSecond, disagreements, misjudged, left };
}

const isCorrect = (verdict: CodeVerdict): boolean => verdict.kind === 'graded' && verdict.correct;

async function inParallel<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** Process ids whose parent is this process; none where there is no /proc. */
function childrenOfThis(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => parentOf(pid) === process.pid);
  } catch {
    return [];
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) \S /s, '')
        .split(' ')[0],
    );
  } catch {
    return undefined;
  }
}
