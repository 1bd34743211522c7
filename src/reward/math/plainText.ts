/**
 * The written form of an answer: what surrounds it is taken off, one spelling is chosen for spaces and signs, and prose around one formula
 * or a box gives way to it. Linear in the text. Does not know what the text is worth: see `readAnswer.ts`.
 */
import { lastBoxed } from '../extract.js';

/** Longer answers, after what surrounds them is taken off, are compared as they stand. */
export const MAX_LENGTH = 20_000;

/** Thin space (LaTeX `\,`): the only space that may group digits. */
export const THIN_SPACE = '\u2009';

const PAIRS: readonly (readonly [string, string])[] = [
  ['\\(', '\\)'],
  ['\\[', '\\]'],
  ['$$', '$$'],
  ['$', '$'],
  ['**', '**'],
  ['`', '`'],
  ['<answer>', '</answer>'],
];
const WRAPPER = /\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mathit|mathsf|mbox|boxed|boldsymbol|bf|rm)\s{0,8}\{/y;
const STRAY_ENDS = ['\\)', '\\]', '</answer>', '。', '．'];

/** The answer inside `text`, without surrounding marks; spaces and minus signs in one spelling. */
export function plainForm(text: string): string {
  const peeled = peel(text);
  if (peeled.length > MAX_LENGTH) return peeled;
  const inner = insideProse(peeled);
  return spelling(inner === undefined ? peeled : peel(inner));
}

/** Without dollars, bold, braces, \text{}, \boxed{}, a full stop, over the whole text, however deep. */
function peel(text: string): string {
  let [low, high] = [0, text.length];
  const matches = matchBraces(text);
  const opened = (open: string): boolean => text.lastIndexOf(open, high) >= low;
  const openers = { '\\)': opened('\\('), '\\]': opened('\\[') };
  const closes = (open: number): boolean => matches.get(open) === high - 1;
  for (;;) {
    while (low < high && isSpace(text, low)) low++;
    while (high > low && isSpace(text, high - 1)) high--;
    if (low >= high) return '';
    if (text[low] === '{' && closes(low)) {
      [low, high] = [low + 1, high - 1];
      continue;
    }
    WRAPPER.lastIndex = low;
    if (text[low] === '\\' && WRAPPER.test(text) && closes(WRAPPER.lastIndex - 1)) {
      [low, high] = [WRAPPER.lastIndex, high - 1];
      continue;
    }
    const pair = PAIRS.find(([open, close]) => {
      if (high - low <= open.length + close.length || !text.startsWith(open, low) || !text.endsWith(close, high)) return false;
      if (text[high - close.length - 1] === '\\') return false;
      const inner = text.slice(low + open.length, high - close.length);
      return !inner.includes(open) && !inner.includes(close);
    });
    if (pair) {
      [low, high] = [low + pair[0].length, high - pair[1].length];
      continue;
    }
    const stray = STRAY_ENDS.find((end) => high - low > end.length && text.endsWith(end, high));
    if (stray !== undefined && !(stray.startsWith('\\') && openers[stray as keyof typeof openers])) {
      high -= stray.length;
      continue;
    }
    if (high - low > 1 && text[high - 1] === '.' && text[high - 2] !== '.' && text[high - 2] !== '\\') {
      high--;
      continue;
    }
    return text.slice(low, high);
  }
}

const isSpace = (text: string, at: number): boolean => /\s/.test(text[at]!);

/** Where each brace closes; escaped ones do not count. */
export function matchBraces(text: string): ReadonlyMap<number, number> {
  const matches = new Map<number, number>();
  const open: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 92) i++;
    else if (code === 123) open.push(i);
    else if (code === 125) {
      const start = open.pop();
      if (start !== undefined) matches.set(start, i);
    }
  }
  return matches;
}

/** A box in prose, or the one formula that prose leads up to: "The answer is $42$". Never a number without such marks. */
function insideProse(text: string): string | undefined {
  if (text.includes('\\boxed')) return lastBoxed(text);
  const end = text.endsWith('$') ? '$' : text.endsWith('\\)') ? '\\)' : undefined;
  if (end === undefined) return undefined;
  const open = end === '$' ? '$' : '\\(';
  const start = text.indexOf(open);
  const inner = text.slice(start + open.length, -end.length);
  if (start <= 0 || inner.trim() === '' || inner.includes('$') || inner.includes('\\(') || text[start - 1] === '\\') return undefined;
  const before = text.slice(0, start).trim();
  return /^[\p{L}\s,.:'-]+$/u.test(before) &&
    /(?:\b(?:is|are|be|equals|equal to|to|get|gives|answer)|:)$/iu.test(before) &&
    !/\b(?:not|never)\b/i.test(before)
    ? inner
    : undefined;
}

function spelling(text: string): string {
  let form = text;
  if (/[^\x20-\x7e]/.test(form)) {
    form = form
      .normalize('NFC')
      .replace(/[\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d]/g, '-')
      .replace(/[\t\n\r\f\v\u00a0\u2002-\u2008\u200a\u202f\u3000]/g, ' ');
  }
  if (form.includes('\\') || form.includes('~')) {
    form = form
      .replace(
        /\\\\|\\[\n ]|\\[;:>]|~|\\(?:quad|qquad|displaystyle|textstyle|limits|nolimits|hspace\{[^{}]{0,20}\})(?![A-Za-z])/g,
        (space) => (space === '\\\\' ? space : ' '),
      )
      .replace(/\\!/g, '')
      .replace(/\\,|\\thinspace(?![A-Za-z])/g, THIN_SPACE)
      .replace(/\\(?:left|right|big|Big|bigg|Bigg|bigl|bigr|Bigl|Bigr|biggl|biggr)(?![A-Za-z])\.?/g, '')
      .replace(/\\[dtc]frac(?![A-Za-z])/g, '\\frac')
      .replace(/\\[dt]binom(?![A-Za-z])/g, '\\binom');
  }
  return form.replace(/ {2,}/g, ' ').trim();
}

/** For comparing texts as texts: spaces around signs do not count, nor does case where there are only words. */
export function textForm(plain: string): string {
  if (plain.length > MAX_LENGTH) return plain;
  const unwrapped = plain
    .replace(/\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox)\s*\{([^{}]*)\}/g, ' $1 ')
    .replace(/\\frac\s*(\d)\s*(\d)/g, '\\frac{$1}{$2}')
    .replace(/\s+/g, ' ')
    .replace(/ ?(\\[{}]|[^\p{L}\p{N}\s\\]) ?/gu, '$1')
    .replace(/ \\/g, '\\')
    .trim();
  return isWords(unwrapped) ? unwrapped.toLowerCase() : unwrapped;
}

/** Whether a text is words (dates and times among them), so that case says nothing. */
function isWords(text: string): boolean {
  if (/[=+*/^_<>|\\{}[\]]|\d\p{L}|\p{L}\d/u.test(text)) return false;
  return !text.includes('-') || /\p{L}{2}-\p{L}{2}/u.test(text);
}
