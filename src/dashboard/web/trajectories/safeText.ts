/**
 * Text that a model, a tool or a file wrote, made visible: characters that cannot be seen, that turn the direction of what is around them,
 * or that are no characters at all become marks with a name. Long texts are cut in the middle, and very long ones come in blocks. Pure;
 * nothing here makes markup.
 */

export type TextPiece =
  | { readonly kind: 'plain'; readonly text: string }
  /** `text` is what stands there, `label` what is shown instead, `name` what it is. */
  | { readonly kind: 'mark'; readonly text: string; readonly label: string; readonly name: string };

/** Controls but tab and newline, what has no width or turns direction, lone surrogates, and code points that are no characters. */
const UNSEEN =
  /[^\P{Cc}\t\n]|\p{Cs}|\u034f|\u17b4|\u17b5|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffc\ufffe\uffff]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]|(?<![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]/gu;

/** The pieces in order; their texts joined are the text. */
export function visiblePieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > at) pieces.push({ kind: 'plain', text: text.slice(at, match.index) });
    pieces.push(markOf(match[0]));
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ kind: 'plain', text: text.slice(at) });
  return pieces;
}

/** The text as it is shown, as one string: labels stand for what cannot be seen. */
export const visibleText = (text: string): string =>
  visiblePieces(text)
    .map((piece) => (piece.kind === 'plain' ? piece.text : piece.label))
    .join('');

function markOf(text: string): TextPiece {
  const code = text.codePointAt(0)!;
  const hex = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const picture = code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '\u2421' : undefined;
  return { kind: 'mark', text, label: picture ?? `\u27e8${SHORT[code] ?? hex}\u27e9`, name: `${hex} ${nameOf(code)}`.trim() };
}

const SHORT: Readonly<Record<number, string>> = {
  173: 'SHY',
  1564: 'ALM',
  8203: 'ZWSP',
  8204: 'ZWNJ',
  8205: 'ZWJ',
  8206: 'LRM',
  8207: 'RLM',
  8232: 'LS',
  8233: 'PS',
  8234: 'LRE',
  8235: 'RLE',
  8236: 'PDF',
  8237: 'LRO',
  8238: 'RLO',
  8288: 'WJ',
  8294: 'LRI',
  8295: 'RLI',
  8296: 'FSI',
  8297: 'PDI',
  65279: 'BOM',
  65532: 'OBJ',
};

function nameOf(code: number): string {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return CONTROLS[code] ?? 'control character';
  if (code >= 0xd800 && code <= 0xdfff) return 'half of a surrogate pair: not a character';
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code === 0x200e || code === 0x200f || code === 0x61c)
    return 'turns the direction of the text';
  if (code >= 0xe0000 && code <= 0xe007f) return 'tag: an invisible letter';
  if (code === 0xfffe || code === 0xffff) return 'not a character';
  return 'invisible character';
}

const CONTROLS: Readonly<Record<number, string>> = {
  0: 'null',
  7: 'bell',
  8: 'backspace',
  11: 'vertical tab',
  12: 'form feed',
  13: 'carriage return',
  27: 'escape',
  127: 'delete',
};

export interface CutText {
  readonly head: string;
  /** Empty where nothing is left out. */
  readonly tail: string;
  /** Characters between head and tail. */
  readonly left: number;
}

/** Keeps three quarters of the limit from the start and one quarter from the end; never parts a surrogate pair. */
export function cutText(text: string, limit: number): CutText {
  if (text.length <= limit) return { head: text, tail: '', left: 0 };
  const headEnd = wholeBefore(text, Math.ceil(limit * 0.75));
  const tailStart = wholeBefore(text, text.length - Math.floor(limit / 4));
  return { head: text.slice(0, headEnd), tail: text.slice(tailStart), left: tailStart - headEnd };
}

/** Blocks of at most `size` characters, parted after a newline where there is one in the second half; joined they are the text. */
export function blocksOf(text: string, size: number): string[] {
  const blocks: string[] = [];
  let at = 0;
  while (text.length - at > size) {
    const newline = text.lastIndexOf('\n', at + size - 1);
    const end = newline >= at + size / 2 ? newline + 1 : Math.max(at + 1, wholeBefore(text, at + size));
    blocks.push(text.slice(at, end));
    at = end;
  }
  if (at < text.length || blocks.length === 0) blocks.push(text.slice(at));
  return blocks;
}

/** The index, or the one before it where it would part a surrogate pair. */
function wholeBefore(text: string, index: number): number {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return index > 0 && before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff ? index - 1 : index;
}

/** One line for a table or a tooltip: white space folded, invisible characters labelled, cut at the end. */
export function oneLine(text: string, limit = 160): string {
  const flat = visibleText(
    text
      .slice(0, limit * 4)
      .replace(/\s+/gu, ' ')
      .trim(),
  );
  return flat.length <= limit && text.length <= limit * 4
    ? flat
    : `${flat.slice(0, wholeBefore(flat, Math.min(limit, flat.length)))}\u2026`;
}
