/**
 * A problem's text as words, so that layout, case, punctuation and the ways to write a formula make no difference: numbers, words, and the
 * signs of arithmetic. Does not compare (`sameProblem.ts`).
 */

/** Lower-case words, numbers in one spelling (`1,250.0` is `1250`), and `+ - * / ^ = < > <= >= != %`, in the order of the text. */
export type Words = readonly string[];

const NUMBER_WORDS: ReadonlyMap<string, string> = new Map([
  ...'zero - two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
    .split(' ')
    .flatMap((word, value) => (word === '-' ? [] : [[word, String(value)] as const])),
  ...Object.entries({
    hundred: 100,
    thousand: 1000,
    million: 1_000_000,
    dozen: 12,
    half: 0.5,
    halves: 0.5,
    quarter: 0.25,
    quarters: 0.25,
    twice: 2,
    double: 2,
    doubled: 2,
    doubles: 2,
    thrice: 3,
    triple: 3,
    tripled: 3,
    triples: 3,
  }).map(([word, value]) => [word, String(value)] as const),
  ...'third fourth fifth sixth seventh eighth ninth tenth'
    .split(' ')
    .flatMap((word, index) => [word, `${word}s`].map((form) => [form, `${index + 3}th`] as const)),
  ...'thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, index) => [word, String(10 * (index + 3))] as const),
]);

/** A number or a label that only counts the problem among others: `Problem 7.`, `12)`, `Question 3:`. */
const COUNTER = /^\s*(?:(?:problem|question|exercise|example|task|q|no|nr)\s*[.:#]?\s*\d+\s*[.:)\]]*|[([]?\d{1,3}[.)\]](?=[\s*]))\s*/;
const MARKS = /[([]\s*\d+\s*(?:points?|marks?|pts)\s*[)\]]/g;

const COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/\\[dt]frac/g, '\\frac'],
  [/\\frac\s*(\d)\s*(\d)/g, ' $1/$2 '],
  [/\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, ' $1/$2 '],
  [/\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, ' $1/$2 '],
  [/\\(?:cdot|times|ast)(?![a-z])/g, ' * '],
  [/\\div(?![a-z])/g, ' / '],
  [/\\(?:le|leq|leqslant)(?![a-z])/g, ' <= '],
  [/\\(?:ge|geq|geqslant)(?![a-z])/g, ' >= '],
  [/\\(?:ne|neq)(?![a-z])/g, ' != '],
  [/\\(?:lt)(?![a-z])/g, ' < '],
  [/\\(?:gt)(?![a-z])/g, ' > '],
  [/\\(?:left|right|big|bigl|bigr|displaystyle|quad|qquad|text|textbf|textit|mathrm|mathbf|operatorname|mbox|begin|end)(?![a-z])/g, ' '],
];

/** Everything that a command of LaTeX can be recognised by, so that plain texts skip them. */
const HAS_COMMANDS = /\\/;
const DASHES = /[-\u2010-\u2015\u2212]/;
const SIGNS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '^', '=', '<', '>', '<=', '>=', '!=']);
const TOKEN =
  /\d+(?:\.\d+)?|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|\p{L}[\p{L}\p{M}]*|<=|>=|!=|[+*/^=<>%\u2212]/gu;
/** Stands for a dash that is a sign, while the others become blanks. */
const MINUS = '\u2212';

export function wordsOf(text: string): string[] {
  let plain = (isPlain(text) ? text : text.normalize('NFKC')).toLowerCase().replace(/^[\s*#>_]+/, '');
  plain = plain.replace(COUNTER, '').replace(MARKS, ' ');
  if (HAS_COMMANDS.test(plain)) for (const [from, to] of COMMANDS) plain = plain.replace(from, to);
  plain = plain
    .replace(/(?<=\d)(?:,|\{,\}|\\,)(?=\d{3}(?!\d))/g, '')
    .replace(/(?<=\p{L})['\u2018\u2019](?=\p{L})/gu, '')
    .replace(/\*\*+/g, ' ')
    .replace(/[\u00d7\u22c5]/g, '*')
    .replace(/\u00f7/g, '/')
    .replace(/\u2264/g, '<=')
    .replace(/\u2265/g, '>=')
    .replace(/\u2260/g, '!=');
  if (DASHES.test(plain)) plain = signedDashes(plain);
  const words: string[] = [];
  for (const [token] of plain.matchAll(TOKEN)) words.push(spelling(token));
  return words;
}

/** ASCII needs no normal form. */
const isPlain = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** A dash is a sign before a number that it belongs to, and between numbers, brackets and single letters; elsewhere it joins or parts words. */
function signedDashes(text: string): string {
  return text
    .replace(/(?<=[\d)}\]|]\s*|(?<!\p{L})\p{L}\s*)[-\u2010-\u2015\u2212](?=\s*(?:[\d({[\\|]|\p{L}(?!\p{L})))/gu, MINUS)
    .replace(/(?<![\p{L}\d][-\u2010-\u2015\u2212]?)[-\u2212](?=\d)/gu, MINUS);
}

function spelling(token: string): string {
  const first = token.charCodeAt(0);
  if (first >= 48 && first <= 57) return number(token);
  if (token === MINUS) return '-';
  return NUMBER_WORDS.get(token) ?? token;
}

function number(digits: string): string {
  let plain = digits.replace(/^0+(?=\d)/, '');
  if (plain.includes('.')) plain = plain.replace(/\.?0+$/, '');
  return plain;
}

export const isNumber = (word: string): boolean => {
  const first = word.charCodeAt(0);
  return first >= 48 && first <= 57;
};

/** Whether it is a sign of arithmetic or comparison. */
export const isSign = (word: string): boolean => SIGNS.has(word);
