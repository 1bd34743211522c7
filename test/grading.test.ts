/**
 * The golden pairs against the graders: nothing wrong is ever right; what is right and not seen as right is named here and in
 * `docs/grading.md`, and is at most one in a hundred.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GOLDEN_FILES, type GoldenPair, goldenPairs } from '../src/bench/goldenPairs.js';
import type { Graded } from '../src/domain/verdict.js';
import { Random } from '../src/random.js';
import { gradeChoice } from '../src/reward/choice.js';
import { type CodeJudge, openCodeJudge } from '../src/reward/code/codeJudge.js';
import { gradeCode } from '../src/reward/code/gradeCode.js';
import { readCodeTests } from '../src/reward/code/readCodeTests.js';
import { extractAnswer } from '../src/reward/extract.js';
import { checkGold, compareAnswers, gradeAnswer, sameAnswer } from '../src/reward/math/gradeAnswer.js';
import { gradeMath } from '../src/reward/math/gradeMath.js';
import { openCodeRunner } from '../src/sandbox/open.js';
import { hasBubblewrap } from '../src/sandbox/testSupport.js';

/** Right answers that the graders do not see as right without SymPy. */
const NOT_SEEN: readonly string[] = [];

const pairs = GOLDEN_FILES.flatMap((name) => goldenPairs(name));
const of = (...kinds: GoldenPair['kind'][]): GoldenPair[] => pairs.filter(({ kind }) => kinds.includes(kind));

const answerOf = ({ answer, response }: GoldenPair): string | undefined =>
  response === undefined ? answer : extractAnswer(response).answer;

function graded(pair: GoldenPair): boolean {
  const answer = answerOf(pair);
  const gold = pair.gold!;
  const { options } = pair;
  return (pair.kind === 'choice' ? gradeChoice(answer, { gold, ...(options && { options }) }) : gradeAnswer(answer, gold)).correct;
}

const shown = ({ id, gold, answer, response }: GoldenPair): string =>
  `${id}: ${JSON.stringify((answer ?? response ?? '').slice(0, 120))} against ${JSON.stringify(gold?.slice(0, 120))}`;

describe('the golden pairs', () => {
  it('are as many as they should be, over all kinds, each once', () => {
    const written = pairs.filter(({ id }) => !id.startsWith('sympy'));
    expect(written.length).toBeGreaterThanOrEqual(600);
    expect(written.filter(({ equal }) => !equal).length).toBeGreaterThanOrEqual(150);
    expect(pairs.length - written.length).toBe(1000);
    expect(new Set(pairs.map(({ id }) => id)).size).toBe(pairs.length);
    for (const kind of ['math', 'choice', 'code'] as const) {
      for (const equal of [true, false]) {
        expect(of(kind).filter((pair) => pair.equal === equal).length, `${kind} ${equal}`).toBeGreaterThanOrEqual(20);
      }
    }
  });
});

describe('mathematics and multiple choice', () => {
  const asked = of('math', 'choice');

  it('never take a wrong answer for a right one', () => {
    const wrong = asked.filter((pair) => !pair.equal);
    expect(wrong.filter(graded).map(shown)).toEqual([]);
  });

  it('see right answers as right, but for those that are named', () => {
    const right = asked.filter((pair) => pair.equal);
    const missed = right.filter((pair) => !graded(pair));
    expect(missed.filter(({ id }) => !NOT_SEEN.includes(id)).map(shown)).toEqual([]);
    expect(NOT_SEEN.filter((id) => !missed.some((pair) => pair.id === id))).toEqual([]);
    expect(NOT_SEEN.length).toBeLessThanOrEqual(right.length / 100);
  });

  it('name what is not seen on the page about grading', () => {
    const page = readFileSync(fileURLToPath(new URL('../docs/grading.md', import.meta.url)), 'utf8');
    expect(NOT_SEEN.filter((id) => !page.includes(`\`${id}\``))).toEqual([]);
  });

  it('answer the same with gold and answer exchanged', () => {
    const unlike = of('math').filter(
      ({ gold, answer }) =>
        answer !== undefined && sameAnswer(answer, gold!) !== sameAnswer(gold!, answer) && checkGold(answer) === undefined,
    );
    expect(unlike.map(shown)).toEqual([]);
  });

  it('can use every gold, and find it equal to itself', () => {
    const golds = [...new Set(of('math').map(({ gold }) => gold!))];
    expect(golds.filter((gold) => checkGold(gold) !== undefined || !gradeAnswer(gold, gold).correct)).toEqual([]);
  });
});

describe.skipIf(!hasBubblewrap)('programs, in a sandbox of bubblewrap', () => {
  let judge: CodeJudge;
  beforeAll(async () => {
    judge = await openCodeJudge({ workers: 2, timeoutSeconds: 4, memoryMb: 512 });
  });
  afterAll(() => judge?.close());

  it.each(of('code').map((pair) => [`${pair.id} ${pair.equal ? 'passes' : 'fails'}: ${pair.note}`, pair] as const))(
    '%s',
    async (_, pair) => {
      const verdict = await gradeCode(pair.response!, readCodeTests(pair.tests), { judge });
      expect(verdict).toMatchObject({ kind: 'graded', correct: pair.equal });
    },
  );
});

describe.skipIf(!hasBubblewrap)('mathematics with the second opinion of SymPy, in a sandbox of bubblewrap', () => {
  it('takes no wrong answer for a right one where the first comparison is open', { timeout: 300_000 }, async () => {
    const open = of('math').filter((pair) => compareAnswers(answerOf(pair) ?? '', pair.gold!).kind === 'undecided');
    const runner = await openCodeRunner({ kind: 'auto', workers: 2 });
    try {
      const verdicts = await Promise.all(open.map((pair) => gradeMath(answerOf(pair), pair.gold!, { runner, timeoutSeconds: 5 })));
      expect(verdicts.filter(({ kind }) => kind !== 'graded')).toEqual([]);
      const taken = open.filter((pair, i) => !pair.equal && (verdicts[i] as Graded).correct);
      expect(taken.map(shown)).toEqual([]);
    } finally {
      await runner.close();
    }
  });
});

describe('any text', () => {
  const digits = fc.stringMatching(/^[1-9]\d{0,30}$/);
  const literal = fc.oneof(
    digits,
    digits.map((text) => `-${text}`),
    fc.tuple(digits, digits).map(([whole, part]) => `${whole}.${part}`),
    fc.tuple(digits, digits).map(([top, bottom]) => `\\frac{${top}}{${bottom}}`),
    fc.tuple(digits, digits).map(([top, bottom]) => `${top}/${bottom}`),
    digits.map((text) => `${text}\\%`),
    digits.map((text) => `${text}\\pi`),
  );

  it('with one digit changed is another number', () => {
    fc.assert(
      fc.property(literal, fc.nat(), fc.integer({ min: 1, max: 9 }), (text, at, by) => {
        const places = [...text.matchAll(/\d/g)].map(({ index }) => index);
        const place = places[at % places.length]!;
        const digit = (Number(text[place]) + by) % 10;
        const changed = text.slice(0, place) + digit + text.slice(place + 1);
        // A zero under the stroke leaves no number, and a leading zero none that is written so.
        fc.pre(!/(^|[^\d.])0/.test(changed));
        expect(gradeAnswer(text, text).correct).toBe(true);
        expect(gradeAnswer(changed, text).correct, `${changed} for ${text}`).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });

  it('is graded without throwing, alone and against golds', { timeout: 300_000 }, () => {
    const golds = of('math')
      .map(({ gold }) => gold!)
      .filter((gold) => gold.length < 60);
    const parts = golds.flatMap((gold) => gold.match(/\\[A-Za-z]+|\d+|./gsu) ?? []);
    const random = new Random(7);
    const draw = (below: number): number => Math.floor(random.next() * below);
    for (let i = 0; i < 100_000; i++) {
      const text = Array.from({ length: draw(24) }, () => parts[draw(parts.length)]!).join(draw(2) === 0 ? '' : ' ');
      const gold = golds[draw(golds.length)]!;
      try {
        gradeAnswer(extractAnswer(`\\boxed{${text}}`).answer, gold);
        gradeAnswer(text, gold);
        checkGold(text);
      } catch (error) {
        throw new Error(`${JSON.stringify(text)} against ${gold}`, { cause: error });
      }
    }
  });
});
