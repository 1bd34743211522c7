import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXTS } from './hostileTexts.js';
import { blocksOf, cutText, oneLine, visiblePieces, visibleText } from './safeText.js';

/** Any string, lone surrogates and controls among it. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.string(),
  ),
});

describe('visible text', () => {
  it('keeps every character: the pieces joined are the text', () => {
    fc.assert(
      fc.property(
        anyText,
        (text) =>
          visiblePieces(text)
            .map((piece) => piece.text)
            .join('') === text,
      ),
    );
  });

  it.each(HOSTILE_TEXTS)('loses nothing of: $name', ({ text }) => {
    expect(
      visiblePieces(text)
        .map((piece) => piece.text)
        .join('') === text,
    ).toBe(true);
  });

  it.each(HOSTILE_TEXTS)('leaves no control, direction mark or half character in: $name', ({ text }) => {
    expect(/[^\P{Cc}\t\n]|\p{Cs}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u.test(visibleText(text))).toBe(false);
  });

  it('shows what is hidden by a label and a name', () => {
    expect(visibleText('a\rb\u202ec\ud800d\u0000')).toBe('a\u240db\u27e8RLO\u27e9c\u27e8U+D800\u27e9d\u2400');
    expect(visiblePieces('\u202e')).toEqual([
      { kind: 'mark', text: '\u202e', label: '\u27e8RLO\u27e9', name: 'U+202E turns the direction of the text' },
    ]);
  });

  it('leaves words, emoji and joined scripts as they are', () => {
    for (const text of ['line\n\ttab', '\u{1f469}\u200d\u{1f4bb}', '\u0928\u094d\u200d\u092e', '\u05d0\u05d1', 'e\u0301', '\u{1f600}'])
      expect(visibleText(text)).toBe(text);
  });
});

describe('cut text', () => {
  it('keeps head and tail, counts what is between, and parts no character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, limit) => {
        const { head, tail, left } = cutText(text, limit);
        expect(text.startsWith(head) && text.endsWith(tail) && head.length + left + tail.length === text.length).toBe(true);
        expect(!/\p{Cs}/u.test(head + tail)).toBe(true);
      }),
    );
    expect(cutText('short', 10)).toEqual({ head: 'short', tail: '', left: 0 });
  });

  it('makes blocks that joined are the text, none longer than asked, parted at newlines where there are some', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 30 }), (text, size) => {
        const blocks = blocksOf(text, size);
        return blocks.join('') === text && blocks.every((block) => block.length <= size) && blocks.length >= 1;
      }),
    );
    expect(blocksOf('aaaa\nbbbb\ncccc', 8)).toEqual(['aaaa\n', 'bbbb\n', 'cccc']);
  });

  it('makes one line of many', () => {
    expect(oneLine(' a\n\tb\u202e ')).toBe('a b\u27e8RLO\u27e9');
    expect(oneLine('x'.repeat(1_000_000), 10)).toBe(`${'x'.repeat(10)}\u2026`);
  });
});
