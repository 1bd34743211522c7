/**
 * The written form of an answer: what surrounds it is taken off, one spelling is chosen for spaces and signs, and prose around one formula
 * or a box gives way to it. Linear in the text. Does not know what the text is worth: see `readAnswer.ts`.
 */
import { lastBoxed } from '../extract.js';
import { isCaseless } from './words.js';

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
const WRAPPER =
  /\\(?:text|textbf|textit|textrm|textsf|texttt|textnormal|emph|mathrm|mathbf|mathit|mathsf|mbox|fbox|boxed|underline|ensuremath|boldsymbol|bm|bf|rm)\s{0,8}\{/y;
const STRAY_ENDS = ['\\)', '\\]', '</answer>', '。'];
/** Colours change nothing; what they colour stays. */
const COLOUR = /\\(?:text)?color(?:box)?\s{0,8}(?:\[[^[\]]{0,20}\]\s{0,8})?\{[^{}]{0,40}\}/g;

/** The answer inside `text`, without surrounding marks; spaces and minus signs in one spelling. */
export function plainForm(text: string): string {
  const peeled = peel(halfWidth(text.includes('color') ? text.replace(COLOUR, ' ') : text));
  if (peeled.length > MAX_LENGTH) return peeled;
  const inner = insideProse(peeled);
  return spelling(inner === undefined ? peeled : peel(inner));
}

/** Full-width characters and mathematical letters and digits as the plain ones they show; a backslash is never made. */
function halfWidth(text: string): string {
  if (!/[\uff01-\uff5e\uffe1\uffe5\ud835]/.test(text)) return text;
  return text
    .replace(/[\uff5b\uff5d]/g, (brace) => (brace === '\uff5b' ? '\\{' : '\\}'))
    .replace(/[\uffe1\uffe5]/g, (mark) => mark.normalize('NFKC'))
    .replace(/[\uff01-\uff3b\uff3d-\uff5e]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0))
    .replace(/[\u{1d400}-\u{1d7ff}]/gu, (char) => char.normalize('NFKC'));
}

/** Without dollars, bold, braces, \text{}, \boxed{}, a full stop, a semicolon, over the whole text, however deep. */
function peel(text: string): string {
  let [low, high] = [0, text.length];
  const matches = matchBraces(text);
  const opened = (open: string): boolean => text.lastIndexOf(open, high) >= low;
  const openers = { '\\)': opened('\\('), '\\]': opened('\\[') };
  const closes = (open: number): boolean => matches.get(open) === high - 1;
  for (;;) {
    while (low < high && isSpace(text, low)) low++;
    while (high > low && isSpace(text, high - 1)) high = isSlashedSpace(text, low, high) ? high - 2 : high - 1;
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
    const last = text[high - 1]!;
    if (high - low > 1 && '.;,'.includes(last) && text[high - 2] !== last && text[high - 2] !== '\\') {
      high--;
      continue;
    }
    const ended = endsInBreak(text, low, high);
    if (ended < high) {
      high = ended;
      continue;
    }
    return text.slice(low, high);
  }
}

/** Where the text ends without a line break (`\\`) or a space of LaTeX (`\;`) behind it; at least one character stays. */
function endsInBreak(text: string, low: number, high: number): number {
  if (high - low < 3 || text[high - 2] !== '\\' || !'\\;,:!'.includes(text[high - 1]!)) return high;
  // Backslashes pair off from the left: after an odd number of others, this one is no command.
  let slashes = 0;
  while (high - 2 - slashes > low && slashes < MAX_SLASHES && text[high - 3 - slashes] === '\\') slashes++;
  return slashes % 2 === 0 && slashes < MAX_SLASHES ? high - 2 : high;
}

const MAX_SLASHES = 8;

/** Whether the last space is one of LaTeX, `\ `, and not behind a line break. */
const isSlashedSpace = (text: string, low: number, high: number): boolean =>
  high - 2 > low && text[high - 2] === '\\' && text[high - 3] !== '\\';

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
      .replace(/\\[dt]binom(?![A-Za-z])/g, '\\binom')
      .replace(BARE_ARGUMENT, '\\$1{$2}');
  }
  return form.replace(/ {2,}/g, ' ').trim();
}

/** A letter or digit behind a command for a face or an accent, without braces. */
const BARE_ARGUMENT = /\\(math(?:bb|bf|cal|frak|rm|it|sf)|vec|hat|bar|tilde|overline)\s*([A-Za-z](?<=\s[A-Za-z])|\d)/g;

/** For comparing texts as texts: spaces around signs do not count, nor does case in words. */
export function textForm(plain: string): string {
  if (plain.length > MAX_LENGTH) return plain;
  const unwrapped = plain
    .replace(/\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox)\s*\{([^{}]*)\}/g, ' $1 ')
    .replace(/\\frac\s*(\d)\s*(\d)/g, '\\frac{$1}{$2}')
    .replace(/([_^]|\\pmod)\s*\{\s*(\w+)\s*\}(?!\w)/g, '$1 $2')
    .replace(/\s+/g, ' ')
    .replace(/(?<=\d) (?=\.\d)|(?<=\d\.) (?=\d)/g, '\u00a0')
    .replace(/ ?(\\[{}]|[^\p{L}\p{N}\s\\]) ?/gu, '$1')
    .replace(/ \\/g, '\\')
    .replace(/(\\[A-Za-z]+) (?![A-Za-z])/g, '$1')
    .trim();
  if (!isWords(unwrapped)) return unwrapped;
  return unwrapped.replace(/\b([ap])\.m\b\.?/gi, '$1m').replace(/\p{L}+/gu, (run) => (isCaseless(run) ? run.toLowerCase() : run));
}

/** Whether a text is words (dates and times among them), so that case may say nothing. */
function isWords(text: string): boolean {
  if (/[=+*/^_<>|\\{}[\]]|\d\p{L}|\p{L}\d/u.test(text)) return false;
  return !text.includes('-') || /\p{L}{2}-\p{L}{2}/u.test(text);
}
