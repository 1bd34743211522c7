import { describe, expect, it } from 'vitest';
import { cutText, piecesOf, safeLabel } from './safeText.js';

const signs = (text: string): readonly string[] => piecesOf(text).flatMap(({ text: sign, name }) => (name === undefined ? [] : [sign]));

describe('signs for what cannot be seen', () => {
  it('stand for controls, marks of direction, zero width, halves of characters', () => {
    expect(signs('a\u0000b\u001b[31mc\u202ed\u200be\ufefff\ud800g\u0085')).toEqual([
      '␀',
      '␛',
      '⟨RLO⟩',
      '⟨ZWSP⟩',
      '⟨BOM⟩',
      '⟨D800⟩',
      '⟨0085⟩',
    ]);
    expect(piecesOf('x\u202ey')[1]!.name).toBe('RIGHT-TO-LEFT OVERRIDE (U+202E)');
  });

  it('leave newline, tab, accents, emoji and other scripts alone', () => {
    for (const text of ['a\n\tb', 'é e\u0301', '😀 👩\u200d💻 ❤️', 'שלום', 'می\u200cخواهم', 'क\u094d\u200dष', '𝛼²'])
      expect(signs(text)).toEqual([]);
  });

  it('show a joiner between letters that do not join', () => {
    expect(signs('pass\u200dword')).toEqual(['⟨ZWJ⟩']);
  });

  it('read a Windows newline as a newline, a lone carriage return as one', () => {
    expect(piecesOf('a\r\nb')).toEqual([{ text: 'a\nb' }]);
    expect(signs('a\rb')).toEqual(['␍']);
    expect(safeLabel('a\nb\u202e')).toBe('a b⟨RLO⟩');
  });
});

describe('cut text', () => {
  it('keeps short text as it is', () => {
    expect(cutText('a\nb')).toEqual({ text: 'a\nb', hidden: 0 });
  });

  it('keeps head and tail of a long line and says how much is gone', () => {
    const { text, hidden } = cutText(`start${'x'.repeat(5000)}end`, { lineLength: 100 });
    expect(text).toMatch(/^start.* … 4,908 characters … .*end$/);
    expect(hidden).toBe(4908);
  });

  it('keeps the first and the last of many lines', () => {
    const { text } = cutText(Array.from({ length: 1000 }, (_, i) => `line ${i}`).join('\n'), { lines: 4 });
    const lines = text.split('\n');
    expect([lines[0], lines[1], lines.at(-2), lines.at(-1)]).toEqual(['line 0', 'line 1', 'line 998', 'line 999']);
    expect(lines).toHaveLength(5);
  });

  it('does not halve a character', () => {
    for (let length = 10; length < 20; length++) expect(cutText('😀'.repeat(100), { lineLength: length }).text.isWellFormed()).toBe(true);
  });
});
