/** Markup that cannot hold unescaped text: whatever is put into a template is escaped, unless it is markup itself. Builds strings; no page. */

const MARKUP = Symbol('markup');

/** Made by `html` only. */
export interface Html {
  readonly [MARKUP]: string;
}

export type Piece = string | number | Html | readonly Piece[] | undefined | false;

/** `html\`<td>${text}</td>\``: texts and numbers are escaped, markup stands as it is, lists are put together, undefined and false are nothing. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return { [MARKUP]: parts.reduce((text, part, i) => text + markupOf(pieces[i - 1]) + part) };
}

export const toMarkup = (markup: Html): string => markup[MARKUP];

function markupOf(piece: Piece): string {
  if (piece === undefined || piece === false) return '';
  if (typeof piece === 'string' || typeof piece === 'number') return escapeText(String(piece));
  if (isList(piece)) return piece.map(markupOf).join('');
  return piece[MARKUP];
}

const isList = (piece: Piece): piece is readonly Piece[] => Array.isArray(piece);

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * Safe in elements and in quoted attributes. Characters that HTML does not allow, and marks that turn the direction of the text around them,
 * are shown as a replacement character.
 */
export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char]!).replace(UNPRINTABLE, '\ufffd');
}

/** Controls but tab and newline, lone surrogates, and marks of direction. */
const UNPRINTABLE = /[^\P{Cc}\t\n]|\p{Cs}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;
