import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, piecesOf, safeLabel } from '../safeText.js';
import { HOSTILE_TEXTS } from './hostileTexts.js';

const shown = (text: string): string =>
  piecesOf(text)
    .map((piece) => piece.text)
    .join('');

/** Controls but tab and newline, half characters, marks of direction, and what has no width. */
const UNSEEN = /[^\P{Cc}\t\n]|\p{Cs}|[\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]|[\u{e0000}-\u{e007f}]/u;

describe('hostile text', () => {
  it.each(HOSTILE_TEXTS)('leaves nothing unseen, and nothing that acts: $name', ({ text }) => {
    expect(UNSEEN.test(shown(text))).toBe(false);
    expect(UNSEEN.test(safeLabel(text))).toBe(false);
    expect(UNSEEN.test(shown(cutText(text).text))).toBe(false);
  });

  it.each(HOSTILE_TEXTS)('keeps whatever can be seen: $name', ({ text }) => {
    const visible = text.replaceAll('\r\n', '\n').replace(new RegExp(`${UNSEEN.source}|[\u00ad\u3164\u200c\u200d]`, 'gu'), '');
    const plain = piecesOf(text)
      .filter((piece) => piece.name === undefined)
      .map((piece) => piece.text)
      .join('')
      .replace(/[\u200c\u200d]/g, '');
    expect(plain === visible).toBe(true);
  });

  it('is never longer on the page than the limits say, whatever it is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...HOSTILE_TEXTS), ({ text }) => {
        const { text: cut, hidden } = cutText(text);
        expect(cut.length).toBeLessThan(60_000);
        expect(hidden > 0).toBe(cut !== text);
      }),
    );
  });

  it('leaves no unseen character of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (a, b) => {
        expect(UNSEEN.test(shown(a + b))).toBe(false);
      }),
    );
  });
});
