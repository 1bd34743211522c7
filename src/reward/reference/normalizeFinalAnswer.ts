/**
 * The released lenient path, which the recipe does not use: its normal form, and the score by an "Answer:" line. Known faults are kept:
 * "1,2,3" becomes 123, a repeating decimal loses its bar.
 */
import { isDigit, SPACE, strip, tail } from './pythonText.js';
import type { ReferenceScore } from './referenceScore.js';

const REPLACED: readonly (readonly [string, string])[] = [
  ['an ', ''],
  ['a ', ''],
  ['.$', '$'],
  ['\\$', ''],
  ['\\ ', ''],
  [' ', ''],
  ['mbox', 'text'],
  [',\\text{and}', ','],
  ['\\text{and}', ','],
  ['\\text{m}', '\\text{}'],
];

/** Deleted one after the other: the order matters. */
const DELETED: readonly string[] = [
  ...['square', 'ways', 'integers', 'dollars', 'mph', 'inches', 'hours', 'km', 'units', '\\ldots', 'sue', 'points', 'feet', 'minutes'],
  ...['digits', 'cents', 'degrees', 'cm', 'gm', 'pounds', 'meters', 'meals', 'edges', 'students', 'childrentickets', 'multiples'],
  ...['\\text{s}', '\\text{.}', '\\text{\ns}', '\\text{}^2', '\\text{}^3', '\\text{\n}', '\\text{}', '\\mathrm{th}', '^\\circ'],
  ...['^{\\circ}', '\\;', ',\\!', '{,}', '"', '\\dots'],
];

const REWRITTEN: readonly (readonly [RegExp, string])[] = [
  [/[^\n]*?\$([^\n]*?)\$[^\n]*/g, '$$$1$$'],
  [/\\text\{([^\n]*?)\}/g, '$1'],
  [/\\textbf\{([^\n]*?)\}/g, '$1'],
  [/\\overline\{([^\n]*?)\}/g, '$1'],
  [/\\boxed\{([^\n]*)\}/g, '$1'],
  [/frac([^{])([^\n])/gu, 'frac{$1}{$2}'],
  [/sqrt([^{])/gu, 'sqrt{$1}'],
];

export function normalizeFinalAnswer(text: string): string {
  let form = text.slice(text.lastIndexOf('=') + 1);
  for (const [from, to] of REPLACED) form = form.replaceAll(from, to);
  for (const gone of DELETED) form = form.replaceAll(gone, '');
  for (const [pattern, to] of REWRITTEN) form = form.replace(pattern, to);
  form = form.replaceAll('$', '');
  const withoutCommas = form.replaceAll(',', '');
  return strip(isDigit(withoutCommas) ? withoutCommas : form);
}

/** Characters of the end of a solution that are looked at. */
export const ANSWER_WINDOW = 300;

const ANSWER_LINE = new RegExp(`answer[${SPACE}]*:[${SPACE}]*([^\\n]+)`, 'giu');

/** What follows the last "Answer:" in the last 300 characters, against the right answer, both in normal form. */
export function answerLineScore(solution: string, gold: string): ReferenceScore {
  const found = [...tail(solution, ANSWER_WINDOW).matchAll(ANSWER_LINE)].at(-1)?.[1];
  const pred = normalizeFinalAnswer(found ?? '[INVALID]');
  const right = pred === normalizeFinalAnswer(gold);
  return { score: right ? 1 : -1, acc: right, pred };
}
