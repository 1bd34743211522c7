/**
 * A plain right answer under the released grader of code: there Math-Verify compares the last box, here our own comparison does. `pred` is
 * the answer in Math-Verify's spelling, for the usual kinds of answers; it decides nothing.
 */
import { sameAnswer } from '../math/gradeAnswer.js';
import { boxContent } from './boxed.js';
import { strip } from './pythonText.js';
import type { ReferenceScore } from './referenceScore.js';

export function mathVerifyScore(solution: string, gold: string): ReferenceScore {
  const answer = boxContent(solution);
  const pred = answer === undefined ? '' : mathVerifySpelling(answer);
  if (answer === undefined || pred === '' || pred.endsWith('.')) return { score: -1, acc: false, pred: '' };
  const right = pred === gold || sameAnswer(answer, gold);
  return { score: right ? 1 : -1, acc: right, pred };
}

const REWRITTEN: readonly (readonly [RegExp, string])[] = [
  [/\\boxed\{([^{}]*)\}/g, '$1'],
  [/\\(?:left|right)(?![A-Za-z])/g, ''],
  [/\\displaystyle(?![A-Za-z])|\\!\s*|\\\$|\$/g, ''],
  [/\\math(?:rm|it|bf)(?![A-Za-z])|\\text(?:normal|bf|it|rm)(?![A-Za-z])/g, '\\text'],
  [/\\[dtc]frac(?![A-Za-z])/g, '\\frac'],
  [/\s*\bpercent(?:age)?\b/g, '\\%'],
  [/\\frac\s*(\d)\s*(\d)/g, '\\frac{$1}{$2}'],
  [/\\sqrt\s*(\d)/g, '\\sqrt{$1}'],
  [/^(-?\d+)\/(-?\d+)$/, '\\frac{$1}{$2}'],
  [/^0?\.5$/, '\\frac{1}{2}'],
  [/\s*\{\s*,\s*\}/g, ','],
  [/,?\s*\\text\{\s*(?:and|or)\s*\}|(?<![A-Za-z]),?\s*(?:and|or)(?![A-Za-z])/g, ','],
  [/(?<!\\)sqrt\s?\(([^()]*)\)/g, '\\sqrt{$1}'],
  // A unit that follows something.
  [/(?<=\S)(?:\\[ ,;]|\s)*\\(?:text|mbox)\{[^{}]*\}(?:\^\d|\^\{\d\})?$/, ''],
  [/(?<=[\d}])\s+(?:[kcm]?m|inch(?:es)?|feet|ft|miles?|hours?|minutes?|seconds?|days?|units?|[km]?g|degrees?|cents?|apples?|[ap]m)$/, ''],
];

function mathVerifySpelling(answer: string): string {
  let form = strip(answer);
  for (const [pattern, to] of REWRITTEN) form = strip(form.replace(pattern, to));
  return form;
}
