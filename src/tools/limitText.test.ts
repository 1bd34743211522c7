import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenizerJson } from '../../test/support/modelFolder.js';
import { Tokenizer } from '../chat/tokenizer.js';
import { limitText } from './limitText.js';

const tokenizer = new Tokenizer(tokenizerJson(), {});

describe('limitText', () => {
  it('leaves a text that fits as it is', () => {
    expect(limitText('abc', 3, tokenizer)).toBe('abc');
  });

  it('keeps head and tail and says how many tokens are left out', () => {
    const text = `BEGIN${'x'.repeat(500)}END`;
    const shortened = limitText(text, 100, tokenizer);
    expect(shortened).toMatch(/^BEGINx+\n\[\.\.\. (\d+) tokens left out \.\.\.\]\nx+END$/);
    const [, left] = /(\d+) tokens/.exec(shortened)!;
    expect(text.length - Number(left)).toBe(shortened.replace(/\n\[.*\]\n/, '').length);
  });

  it('never exceeds the limit, whatever the text, and leaves no broken characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.nat(120), (text, limit) => {
        const shortened = limitText(text, limit, tokenizer);
        expect(tokenizer.encode(shortened).length).toBeLessThanOrEqual(limit);
        if (!text.includes('\uFFFD')) expect(shortened).not.toContain('\uFFFD');
      }),
    );
  });

  it('does not encode a huge text whole, and says so', () => {
    let encoded = 0;
    const counting = {
      decode: (ids: readonly number[]) => tokenizer.decode(ids),
      encode: (text: string) => {
        encoded += text.length;
        return tokenizer.encode(text);
      },
    };
    const shortened = limitText(`A${'y'.repeat(1_000_000)}Z`, 200, counting);
    expect(shortened).toMatch(/^Ay+\n\[\.\.\. about 999\d{3} tokens left out \.\.\.\]\ny+Z$/);
    expect(encoded).toBeLessThan(20_000);
  });
});
