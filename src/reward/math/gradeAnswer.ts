/**
 * Compares an answer with the right one: as texts, and as what they say. Pure, total and bounded: any text has its verdict, by counted work
 * and not by time. Knows no problem and no sandbox: see `gradeMath.ts`.
 *
 * Conventions, besides those of `readAnswer.ts`, `sameValue.ts` and `equalNodes.ts`:
 * - Numbers are exact. A finite decimal is its own exact value on both sides, and is never rounded: 0.333333 is not 1/3, 3.14 is not pi, and a
 *   right answer of 3.14 is not met by pi. There is no tolerance of any kind.
 * - 50% equals 0.5 and 1/2, not 50.
 * - Words are compared without regard to case, variables (one letter is one) with it. What cannot be read as mathematics as a whole equals only the same text: no number is ever
 *   picked out of it.
 */
import type { Graded } from '../../domain/verdict.js';
import { Budget, OutOfBudget } from './budget.js';
import { exactValue } from './exact.js';
import { NAMES } from './notation.js';
import { MAX_LENGTH, plainForm, textForm } from './plainText.js';
import type { Question } from './question.js';
import { readAnswer } from './readAnswer.js';
import { type Comparison, sameValue } from './sameValue.js';
import type { Value } from './value.js';

export { answerKey } from './answerKey.js';

/** Work of one comparison: a few tenths of a second at most. */
const BUDGET = 12_000_000;
/** Of the look at a right answer for whether it has a value at all. */
const LOOK_BUDGET = 1_000_000;

/** How two answers compare; `open` is what would have to hold for them to be equal, empty where no question expresses it. */
export type Sameness =
  | { readonly kind: 'equal' }
  | { readonly kind: 'different' }
  | { readonly kind: 'undecided'; readonly open: readonly Question[] };

/**
 * @param answer what was extracted; undefined where nothing was
 * @param gold   the right answer, as text or LaTeX; one that `checkGold` refuses is met by nothing
 */
export function gradeAnswer(answer: string | undefined, gold: string): Graded {
  if (answer === undefined) return { kind: 'graded', correct: false, score: 0, reason: 'noAnswer' };
  if (answer.trim() === '') return { kind: 'graded', correct: false, score: 0, reason: 'noAnswer', extracted: answer };
  return verdictOf(checkGold(gold) === undefined && sameAnswer(answer, gold), answer);
}

export const verdictOf = (correct: boolean, answer: string): Graded => ({
  kind: 'graded',
  correct,
  score: correct ? 1 : 0,
  reason: correct ? 'match' : 'mismatch',
  extracted: answer,
});

export const sameAnswer = (a: string, b: string): boolean => compareAnswers(a, b).kind === 'equal';

/** What BigInt reads as it stands. */
const WHOLE = /^-?\d{1,1000}$/;

export function compareAnswers(a: string, b: string): Sameness {
  const [left, right] = [plainForm(a), plainForm(b)];
  if (left === '' || right === '') return { kind: a.trim() === b.trim() ? 'equal' : 'different' };
  if (left === right) return { kind: 'equal' };
  if (WHOLE.test(left) && WHOLE.test(right)) return { kind: BigInt(left) === BigInt(right) ? 'equal' : 'different' };
  if (left.length > MAX_LENGTH || right.length > MAX_LENGTH) return { kind: 'different' };
  const [x, y] = [isTextWord(a) ? undefined : readAnswer(left), isTextWord(b) ? undefined : readAnswer(right)];
  const digitsApart = x !== undefined && y !== undefined && DIGITS_BY_COMMA.test(left);
  if (!digitsApart && textForm(left) === textForm(right)) return { kind: unitsDiffer(x, y) ? 'different' : 'equal' };
  if (x === undefined || y === undefined) return { kind: 'different' };
  const comparison: Comparison = { budget: new Budget(BUDGET), open: [], unclear: false };
  const kind = sameValue(x, y, comparison);
  return kind === 'undecided' ? { kind, open: comparison.unclear ? [] : comparison.open } : { kind };
}

/** The same characters with a space after the comma are a list instead of a number. */
const DIGITS_BY_COMMA = /\d ?, ?\d/;
/** What is set as text is a word, and no product of its letters. */
const TEXT_WORD = /^\s*\\text(?:bf|it|rm|normal)?\s*\{\s*([A-Za-z]{2,30})\s*\}\s*$/;
const isTextWord = (text: string): boolean => {
  const word = text.length < 60 ? TEXT_WORD.exec(text)?.[1] : undefined;
  return word !== undefined && !NAMES.has(word);
};

/** `mg` and `Mg` are one text, but not one unit. */
const unitsDiffer = (a: Value | undefined, b: Value | undefined): boolean =>
  a?.kind === 'quantity' && b?.kind === 'quantity' && a.unit !== '' && b.unit !== '' && a.unit !== b.unit;

const MAX_REMEMBERED = 500;
const remembered = new Map<string, string | undefined>();

/** Why a text cannot serve as the right answer; undefined where it can. */
export function checkGold(gold: string): string | undefined {
  if (gold.length > 2000) return problemOf(gold);
  if (!remembered.has(gold)) {
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(gold, problemOf(gold));
  }
  return remembered.get(gold);
}

function problemOf(gold: string): string | undefined {
  if (gold.trim() === '') return 'it is empty';
  if (!bracesBalance(gold)) return 'its braces do not balance';
  const plain = plainForm(gold);
  if (!/[^\s$.,;:?*`()[\]{}\\]/.test(plain) && !/\\\{\s*\\\}|\(\s*\)/.test(plain)) return 'it holds nothing but punctuation';
  if (/[^\P{Cc}\s]|\ufffd/u.test(plain)) return 'it holds control characters';
  if (/\\$/.test(plain) && !/\\\\$/.test(plain)) return 'it ends in a backslash';
  if (countOf(plain, /\\begin\s*\{/g) !== countOf(plain, /\\end\s*\{/g)) return 'a \\begin or \\end is missing';
  if (/\\(?:frac|sqrt|binom)\s*(?:$|[}&,)])/.test(plain) || /\\(?:frac|binom)\s*(?:\{[^{}]*\}|\d)\s*(?:$|[}&,)])/.test(plain)) {
    return 'a command lacks its argument';
  }
  const value = readAnswer(plain);
  if (value !== undefined && hasNoValue(value, new Budget(LOOK_BUDGET))) return 'it has no value: it divides by zero, or the like';
  return undefined;
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

function bracesBalance(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length && depth >= 0; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '{') depth++;
    else if (text[i] === '}') depth--;
  }
  return depth === 0;
}

function hasNoValue(value: Value, budget: Budget): boolean {
  try {
    return value.kind === 'quantity' && exactValue(value.node, budget) === 'noValue';
  } catch (error) {
    if (error instanceof OutOfBudget) return false;
    throw error;
  }
}
