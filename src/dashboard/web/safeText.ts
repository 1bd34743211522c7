/**
 * Hostile text made fit to be seen: characters that hide, move or turn text are shown as signs; long lines and long texts are cut.
 * Gives pieces, no markup: see `components/SafeText.tsx`.
 */

export interface TextPiece {
  readonly text: string;
  /** What the sign stands for, where this piece is one: `RIGHT-TO-LEFT OVERRIDE`. */
  readonly name?: string;
}

/**
 * Controls but newline and tab, lone halves, format characters but Arabic's visible ones, separators of lines and paragraphs, fillers that
 * look like nothing, variation selectors but emoji's, tags, and what is no character.
 */
const SIGNS =
  /[^\P{Cc}\t\n]|\p{Cs}|(?![\u0600-\u0605\u06dd\u08e2])\p{Cf}|[\u115f\u1160\u2028\u2029\u3164\uffa0\ufffe\uffff]|[\ufe00-\ufe0e]|[\u{e0000}-\u{e0fff}]/gu;

const NAMES: Readonly<Record<number, readonly [sign: string, name: string]>> = {
  7: ['␇', 'BELL'],
  8: ['␈', 'BACKSPACE'],
  13: ['␍', 'CARRIAGE RETURN'],
  27: ['␛', 'ESCAPE'],
  127: ['␡', 'DELETE'],
  173: ['⟨SHY⟩', 'SOFT HYPHEN'],
  1564: ['⟨ALM⟩', 'ARABIC LETTER MARK'],
  8203: ['⟨ZWSP⟩', 'ZERO WIDTH SPACE'],
  8204: ['⟨ZWNJ⟩', 'ZERO WIDTH NON-JOINER'],
  8205: ['⟨ZWJ⟩', 'ZERO WIDTH JOINER'],
  8206: ['⟨LRM⟩', 'LEFT-TO-RIGHT MARK'],
  8207: ['⟨RLM⟩', 'RIGHT-TO-LEFT MARK'],
  8232: ['⟨LS⟩', 'LINE SEPARATOR'],
  8233: ['⟨PS⟩', 'PARAGRAPH SEPARATOR'],
  8234: ['⟨LRE⟩', 'LEFT-TO-RIGHT EMBEDDING'],
  8235: ['⟨RLE⟩', 'RIGHT-TO-LEFT EMBEDDING'],
  8236: ['⟨PDF⟩', 'POP DIRECTIONAL FORMATTING'],
  8237: ['⟨LRO⟩', 'LEFT-TO-RIGHT OVERRIDE'],
  8238: ['⟨RLO⟩', 'RIGHT-TO-LEFT OVERRIDE'],
  8288: ['⟨WJ⟩', 'WORD JOINER'],
  8294: ['⟨LRI⟩', 'LEFT-TO-RIGHT ISOLATE'],
  8295: ['⟨RLI⟩', 'RIGHT-TO-LEFT ISOLATE'],
  8296: ['⟨FSI⟩', 'FIRST STRONG ISOLATE'],
  8297: ['⟨PDI⟩', 'POP DIRECTIONAL ISOLATE'],
  65279: ['⟨BOM⟩', 'BYTE ORDER MARK'],
};

/** Joiners that writing needs: within an emoji, and between letters of scripts that join. */
const JOINS_EMOJI = /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?$/u;
const JOINS_LETTERS = /(?!\p{Script=Latin}|\p{Script=Greek}|\p{Script=Cyrillic})[\p{L}\p{M}]$/u;

/** The pieces of `text`, signs apart. A joiner within an emoji or a word stays. Carriage returns before a newline are dropped. */
export function piecesOf(text: string): readonly TextPiece[] {
  const clean = text.replaceAll('\r\n', '\n');
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const match of clean.matchAll(SIGNS)) {
    const at = match.index;
    if (isJoiner(match[0]) && joins(clean, at)) continue;
    if (at > from) pieces.push({ text: clean.slice(from, at) });
    pieces.push(signOf(match[0].codePointAt(0)!));
    from = at + match[0].length;
  }
  if (from < clean.length) pieces.push({ text: clean.slice(from) });
  return pieces;
}

const isJoiner = (sign: string): boolean => sign === '\u200c' || sign === '\u200d';

function joins(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 4), at);
  const after = text.slice(at + 1, at + 3);
  return (
    (JOINS_EMOJI.test(before) && /^\p{Extended_Pictographic}/u.test(after)) || (JOINS_LETTERS.test(before) && /^[\p{L}\p{M}]/u.test(after))
  );
}

/** One line of text with signs in place, for titles and labels. */
export const safeLabel = (text: string): string =>
  piecesOf(text)
    .map((piece) => piece.text)
    .join('')
    .replace(/[\n\t]/g, ' ');

function signOf(code: number): TextPiece {
  const known = NAMES[code];
  if (known !== undefined) return { text: known[0], name: `${known[1]} (U+${hex(code)})` };
  if (code < 32) return { text: String.fromCodePoint(0x2400 + code), name: `CONTROL CHARACTER (U+${hex(code)})` };
  const name = code >= 0xd800 && code <= 0xdfff ? 'HALF OF A CHARACTER' : 'CHARACTER THAT IS NOT SEEN';
  return { text: `⟨${hex(code)}⟩`, name: `${name} (U+${hex(code)})` };
}

const hex = (code: number): string => code.toString(16).toUpperCase().padStart(4, '0');

export interface CutText {
  readonly text: string;
  /** Characters left out, 0 where it is whole. */
  readonly hidden: number;
}

export interface CutLimits {
  readonly lineLength?: number;
  readonly lines?: number;
  readonly length?: number;
}

/** Head of each line and head and tail of the text; what is left out is told by an ellipsis with the number of characters. */
export function cutText(text: string, { lineLength = 2000, lines = 400, length = 40_000 }: CutLimits = {}): CutText {
  let hidden = 0;
  const whole = text.length <= length ? text : middleCut(text, length, (left) => (hidden += left));
  const all = whole.split('\n');
  const kept =
    all.length <= lines
      ? all
      : [
          ...all.slice(0, Math.ceil(lines / 2)),
          leftOut(all.slice(Math.ceil(lines / 2), all.length - Math.floor(lines / 2)).join('\n'), (left) => (hidden += left)),
          ...all.slice(all.length - Math.floor(lines / 2)),
        ];
  const shown = kept.map((line) => (line.length <= lineLength ? line : middleCut(line, lineLength, (left) => (hidden += left))));
  return { text: shown.join('\n'), hidden };
}

function middleCut(text: string, length: number, tell: (left: number) => void): string {
  const head = wholeBefore(text, Math.ceil(length * 0.75));
  const tail = wholeBefore(text, text.length - Math.floor(length * 0.25));
  return `${text.slice(0, head)}${leftOut(text.slice(head, tail), tell)}${text.slice(tail)}`;
}

function leftOut(text: string, tell: (left: number) => void): string {
  tell(text.length);
  return ` … ${text.length.toLocaleString('en')} characters … `;
}

/** Does not split a pair of surrogates. */
const wholeBefore = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text[at] ?? '') ? at - 1 : at);
