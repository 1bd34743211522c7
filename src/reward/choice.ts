/**
 * Grades a multiple-choice answer: which option does the boxed text name? Does not find the box (see `extract.ts`). Pure.
 *
 * A letter counts where it stands alone or before a delimiter (`B`, `(B)`, `\text{B}`, `B) 42 m`, `Option B`), never as a letter of a word
 * or of a formula (`A=\pi r^2`, `AB`). Without a letter, the text of exactly one option counts. A letter with the text of another option
 * names nothing.
 */
import type { Graded } from '../domain/verdict.js';
import { deriveSeed, Random } from '../random.js';
import { UserError } from '../userError.js';
import { sameAnswer } from './math/gradeAnswer.js';

export interface ChoiceQuestion {
  /** The options' texts in order, without their letters; absent: any letter is possible. */
  readonly options?: readonly string[];
  /** The right option's letter, capital. */
  readonly gold: string;
}

/** @param answer what was extracted; undefined where nothing was. @throws UserError when the gold letter names no option */
export function gradeChoice(answer: string | undefined, { options, gold }: ChoiceQuestion): Graded {
  const right = gold.trim().toUpperCase();
  if (!/^[A-Z]$/.test(right) || (options !== undefined && indexOfLetter(right) >= options.length)) {
    throw new UserError(
      `${JSON.stringify(gold)} names no option`,
      'Give the letter of the right option as the gold answer, A for the first.',
    );
  }
  if (answer === undefined) return { kind: 'graded', correct: false, score: 0, reason: 'noAnswer' };
  const letter = readChoice(answer, options);
  if (letter === undefined) return { kind: 'graded', correct: false, score: 0, reason: 'noAnswer', extracted: answer };
  const correct = letter === right;
  return { kind: 'graded', correct, score: correct ? 1 : 0, reason: correct ? 'match' : 'mismatch', extracted: letter };
}

const indexOfLetter = (letter: string): number => letter.charCodeAt(0) - 65;
const letterAt = (index: number): string => String.fromCharCode(65 + index);

/** The letter of the option that the text names; undefined where it names none, or more than one. */
export function readChoice(answer: string, options?: readonly string[]): string | undefined {
  const text = plain(answer);
  const byText = options === undefined ? undefined : optionOf(text, options);
  const found = letterOf(text);
  if (found === undefined || (options !== undefined && indexOfLetter(found.letter) >= options.length)) return byText;
  if (found.rest === '') return found.letter;
  // A letter and a text: they must not contradict each other.
  const named = options === undefined ? undefined : optionOf(found.rest, options);
  if (named !== undefined) return named === found.letter ? named : undefined;
  return byText ?? (ANOTHER_LETTER.test(found.rest) ? undefined : found.letter);
}

const WRAPPER =
  /\\(?:text|textbf|textit|textrm|textsf|texttt|mathrm|mathbf|mathit|mathsf|mathbb|boldsymbol|mbox|boxed|fbox)\s*\{([^{}]*)\}/g;
const WRAPPERS_WITHIN = 5;
/** What is longer names no option. */
const LONGEST = 20_000;

/** Without the marks that only change how it looks: \text{}, dollars, bold, braces, spacing, a full stop. */
function plain(text: string): string {
  let form = text.slice(0, LONGEST).normalize('NFKC');
  for (let i = 0; i < WRAPPERS_WITHIN && form.includes('\\'); i++) form = form.replace(WRAPPER, '$1');
  form = form
    .replace(/\\(?:left|right|displaystyle|quad|qquad)(?![A-Za-z])/g, ' ')
    .replace(/\\[,;:! ]|~/g, ' ')
    .replace(/\\[()[\]]|\$/g, ' ')
    .replace(/\*\*|__/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  for (let i = 0; i < WRAPPERS_WITHIN; i++) {
    const inner = form
      .replace(/^\{(.*)\}$/s, (whole, within: string) => (balanced(within) ? within : whole))
      .replace(/^(.+[^.])\.$/s, '$1');
    if (inner.trim() === form) break;
    form = inner.trim();
  }
  return form;
}

function balanced(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === '{') depth++;
    else if (char === '}' && --depth < 0) return false;
  }
  return depth === 0;
}

const LEAD = '(?:(?:the )?(?:correct |right |final |best )?(?:answer|option|choice)(?: is)?:? ?)*';
/** `B`, `(B)`, `[B]`, `{B}`: alone, or with something behind a delimiter. */
const LETTER = new RegExp(`^${LEAD}(?:[({[] ?([A-Z]) ?[)}\\]]|\\{?([A-Z])\\}?(?= ?(?:$|[).:,;\\u2013\\u2014]|- | - |\\})))(.*)$`, 'is');

/** A second letter in a list of them: `A, B`, `A; (B) and C`. */
const ANOTHER_LETTER = /^(?:and |or |& ?)?[([{]?[a-z][)\]}]?(?: ?(?:$|[.,;&/])| and | or )/i;
const BEHIND_LETTER = /^[\s).:,;\u2013\u2014-]+/;

function letterOf(text: string): { letter: string; rest: string } | undefined {
  const found = LETTER.exec(text);
  const letter = found?.[1] ?? found?.[2];
  if (found === null || letter === undefined) return undefined;
  const behind = found[3]!;
  const rest = behind.replace(BEHIND_LETTER, '').trim();
  const small = letter !== letter.toUpperCase();
  // A small letter with something behind it is one only in brackets, or before one.
  if (small && rest !== '' && found[1] === undefined && !behind.startsWith(')')) return undefined;
  return { letter: letter.toUpperCase(), rest };
}

/** The one option that is written so; else, without regard to case; else, of equal value. */
function optionOf(text: string, options: readonly string[]): string | undefined {
  const form = normal(text);
  if (form === '') return undefined;
  const ways: readonly ((option: string) => boolean)[] = [
    (option) => normal(option) === form,
    (option) => normal(option).toLowerCase() === form.toLowerCase(),
    (option) => sameAnswer(text, option),
  ];
  for (const equal of ways) {
    const found = options.flatMap((option, index) => (equal(option) ? [index] : []));
    if (found.length > 0) return found.length === 1 ? letterAt(found[0]!) : undefined;
  }
  return undefined;
}

const normal = (text: string): string =>
  plain(text)
    .replace(/[{}\s]+/g, ' ')
    .replace(/ ?([^\p{L}\p{N} ]) ?/gu, '$1')
    .trim();

/**
 * The options in an order that the seed decides, and the letter of the right one in it.
 * @param goldIndex the right option's place in `options`
 */
export function shuffleOptions(options: readonly string[], goldIndex: number, seed: number): { options: string[]; gold: string } {
  if (!Number.isInteger(goldIndex) || goldIndex < 0 || goldIndex >= options.length || options.length > 26) {
    throw new RangeError(`option ${goldIndex} of ${options.length}`);
  }
  const order = new Random(deriveSeed(seed, 'options')).shuffle(options.map((_, index) => index));
  return { options: order.map((index) => options[index]!), gold: letterAt(order.indexOf(goldIndex)) };
}
