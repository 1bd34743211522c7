import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXTS } from '../trajectories/hostileTexts.js';
import { type Diff, type DiffKind, diffTexts, linesOf, wordsOf } from './diff.js';

const without = ({ parts }: Diff, kind: DiffKind): string =>
  parts
    .filter((part) => part.kind !== kind)
    .map((part) => part.text)
    .join('');

const near = fc
  .array(fc.constantFrom('a', 'b', 'c', ' ', '\n', 'print', '(', '\ud83d', '\u{1f600}'), { maxLength: 40 })
  .map((parts) => parts.join(''));
const grain = fc.constantFrom('words' as const, 'lines' as const);

/** Least number of pieces to take out and put in, by the plain table. */
function distance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(a[i - 1] === b[j - 1] ? row[j - 1]! : 1 + Math.min(row[j]!, next[j - 1]!));
    row = next;
  }
  return row[b.length]!;
}

describe('difference of two texts', () => {
  it('applied to one gives the other, whatever the texts and the bound', () => {
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), fc.oneof(near, fc.string()), grain, fc.integer({ min: 0, max: 50 }), (a, b, by, bound) => {
        const diff = diffTexts(a, b, by, bound);
        expect(without(diff, 'right')).toBe(a);
        expect(without(diff, 'left')).toBe(b);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the shortest there is', () => {
    fc.assert(
      fc.property(near, near, grain, (a, b, by) => {
        const split = by === 'words' ? wordsOf : linesOf;
        const { parts } = diffTexts(a, b, by);
        const edits = parts.filter((part) => part.kind !== 'same').reduce((sum, part) => sum + split(part.text).length, 0);
        expect(edits).toBeLessThanOrEqual(distance(split(a), split(b)));
      }),
    );
  });

  it('never has two neighbours of one kind, and equal texts are one part', () => {
    fc.assert(
      fc.property(near, near, grain, (a, b, by) => {
        const { parts } = diffTexts(a, b, by);
        expect(parts.some((part, i) => part.kind === parts[i - 1]?.kind)).toBe(false);
      }),
    );
    expect(diffTexts('x y', 'x y', 'words')).toEqual({ parts: [{ kind: 'same', text: 'x y' }], coarse: false });
    expect(diffTexts('', '', 'words').parts).toEqual([]);
  });

  it('parts words, and lines', () => {
    expect(diffTexts('print(6532%104)', 'print(6532//104)', 'words').parts).toEqual([
      { kind: 'same', text: 'print(6532' },
      { kind: 'left', text: '%' },
      { kind: 'right', text: '//' },
      { kind: 'same', text: '104)' },
    ]);
    expect(diffTexts('a\nb\nc', 'a\nx\nc', 'lines').parts).toEqual([
      { kind: 'same', text: 'a\n' },
      { kind: 'left', text: 'b\n' },
      { kind: 'right', text: 'x\n' },
      { kind: 'same', text: 'c' },
    ]);
  });

  it('says where texts differ too much to be compared', () => {
    const diff = diffTexts('a b c d', 'w x y z', 'words', 3);
    expect(diff.coarse).toBe(true);
    expect(without(diff, 'right')).toBe('a b c d');
  });

  it('compares hostile texts of any size', () => {
    for (const [i, { text }] of HOSTILE_TEXTS.entries()) {
      const other = HOSTILE_TEXTS[(i + 1) % HOSTILE_TEXTS.length]!.text;
      const diff = diffTexts(text, other, 'words', 200);
      expect(without(diff, 'right') === text && without(diff, 'left') === other).toBe(true);
    }
  });
});
