/**
 * Grades a multiple-choice answer: which option does the boxed text name? Does not find the box (see `extract.ts`). Pure.
 *
 * A letter counts where it stands alone or before a delimiter (`B`, `(B)`, `\text{B}`, `B) 42 m`, `Option B`), never as a letter of a word
 * or of a formula (`A=\pi r^2`, `AB`). Without a letter, the text of exactly one option counts. With a letter, whatever else is there must be
 * the text of its option (`B: false`, `B - no, C` and `B: 24 m` name nothing, unless the option says so); where the options are not known, it
 * must neither name another letter nor take the letter back.
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
  const found = letterOf(text);
  if (options === undefined) return found === undefined || contradicts(found) ? undefined : found.letter;
  if (found !== undefined && indexOfLetter(found.letter) < options.length && followsItself(found, options)) return found.letter;
  const named = optionsOf(text, options);
  return named.length === 1 ? letterAt(named[0]!) : undefined;
}

/** Whether nothing stands behind the letter but its option's text, or the letter once more. */
function followsItself({ letter, rest }: Letter, options: readonly string[]): boolean {
  for (let behind = rest; ; ) {
    if (behind === '' || optionsOf(behind, options).includes(indexOfLetter(letter))) return true;
    const again = letterOf(behind);
    if (again?.letter !== letter) return false;
    behind = again.rest;
  }
}

const WRAPPER =
  /\\(?:text|textbf|textit|textrm|textsf|texttt|mathrm|mathbf|mathit|mathsf|mathbb|boldsymbol|mbox|boxed|fbox)\s*\{([^{}]*)\}/g;
const WRAPPERS_WITHIN = 5;
/** At the end: a closing tag, or a mark of the model's template. */
const TAG_BEHIND = /(?:<\/([A-Za-z][\w-]*)>|<\|[^<>|]*\|>|<br ?\/?>)\s*$/;
/** What is longer names no option. */
const LONGEST = 20_000;

/** Without the marks that only change how it looks: tags around it, \text{}, dollars, bold, braces, spacing, a full stop. */
function plain(text: string): string {
  let form = withoutTags(text.slice(0, LONGEST).normalize('NFKC'));
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

function withoutTags(text: string): string {
  let form = text;
  for (let found = TAG_BEHIND.exec(form); found !== null; found = TAG_BEHIND.exec(form)) {
    form = form.slice(0, found.index);
    const opening = `<${found[1]}>`;
    if (form.trimStart().startsWith(opening)) form = form.trimStart().slice(opening.length);
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

/** A letter, and what stands behind it and its delimiter. */
interface Letter {
  readonly letter: string;
  readonly rest: string;
}

const BEHIND_LETTER = /^[\s).:,;\u2013\u2014-]+/;

function letterOf(text: string): Letter | undefined {
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

/** A second letter in a list of them, small or not: `A, B`, `A; (B) and C`. */
const SECOND_LETTER = /^(?:and |or |& ?)?[([{]?[a-z][)\]}]?(?: ?(?:$|[.,;&/])| and | or )/i;
/** Takes back what it follows. */
const TAKES_BACK =
  /(?<![\p{L}\p{N}])(?:no|not|nope|none|nor|neither|never|cannot|false|untrue|wrong|incorrect|mistaken|wait|actually|instead|rather|unless|\p{L}+n['\u2019]t)(?![\p{L}\p{N}])/iu;
const LONE_CAPITAL = /(?<![\p{L}\p{N}])([A-Z])(?![\p{L}\p{N}'\u2019]|-\p{L})/gu;
/** `(c)`; not the argument of `f(c)` */
const BRACKETED_SMALL = /(?<![\p{L}\p{N}\\}])\(([a-z])\)/gu;
/** `3 N`, `20 °C` */
const BEFORE_UNIT = /\d ?(?:°|\^?\{?\\circ\}?)? ?$/;
/** `E = mc^2`, `F(x)` */
const BEHIND_NAME = /^ ?[=+^_*<>(\\]/;
/** `A cell`; not `A is right` */
const BEHIND_ARTICLE = /^ (?!(?:is|was|it|and|or|not|then|too)\b)\p{Ll}/u;

/** Whether what follows a letter names another, or takes it back: all that can be said where the options are not known. */
function contradicts({ letter, rest }: Letter): boolean {
  if (rest === '') return false;
  const again = letterOf(rest);
  if (again?.letter === letter) return contradicts(again);
  if (SECOND_LETTER.test(rest) || TAKES_BACK.test(rest)) return true;
  if ([...rest.matchAll(BRACKETED_SMALL)].some(([, small]) => small!.toUpperCase() !== letter)) return true;
  return [...rest.matchAll(LONE_CAPITAL)].some(({ 1: other, index }) => {
    const [before, behind] = [rest.slice(0, index), rest.slice(index + 1)];
    if (other === letter || BEFORE_UNIT.test(before) || BEHIND_NAME.test(behind)) return false;
    return !(index === 0 && other === 'A' && BEHIND_ARTICLE.test(behind));
  });
}

/** Places of the options that are written so; where none is, without regard to case; else, of equal value. */
function optionsOf(text: string, options: readonly string[]): readonly number[] {
  const form = normal(text);
  if (form === '') return [];
  const ways: readonly ((option: string) => boolean)[] = [
    (option) => normal(option) === form,
    (option) => normal(option).toLowerCase() === form.toLowerCase(),
    (option) => sameAnswer(text, option),
  ];
  for (const equal of ways) {
    const found = options.flatMap((option, index) => (equal(option) ? [index] : []));
    if (found.length > 0) return found;
  }
  return [];
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
