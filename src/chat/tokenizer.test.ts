import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenizerJson } from '../../test/support/modelFolder.js';
import { Tokenizer } from './tokenizer.js';

const tokenizer = new Tokenizer(tokenizerJson(), { eos_token: { content: '<|im_end|>' } });

describe('Tokenizer', () => {
  it('gives any text back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      }),
    );
  });

  it('knows the most bytes of a token, so that the length of a text bounds its tokens', () => {
    expect(tokenizer.longestToken).toBe('<|endoftext|>'.length);
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'é', '<|im_end|>', '<tool_call>', '<|im_start|>')), (parts) => {
        const text = parts.join('');
        expect(tokenizer.encode(text).length).toBeGreaterThanOrEqual(Buffer.byteLength(text) / tokenizer.longestToken!);
      }),
    );
  });

  it('does not tell it of a vocabulary that reshapes texts', () => {
    expect(new Tokenizer({ ...tokenizerJson(), normalizer: { type: 'NFKC' } }, {}).longestToken).toBeUndefined();
  });

  it('decodes nothing to nothing', () => {
    expect(tokenizer.decode([])).toBe('');
    expect(tokenizer.decode([258], { skipSpecial: true })).toBe('');
    expect(tokenizer.encode('')).toEqual([]);
  });

  it('reads control tokens as one token each, and skips only special ones', () => {
    const ids = tokenizer.encode('a<|im_end|><tool_call>');
    expect(ids).toEqual([97, 258, 259]);
    expect(tokenizer.decode(ids, { skipSpecial: true })).toBe('a<tool_call>');
    expect([tokenizer.isSpecial(258), tokenizer.isSpecial(259), tokenizer.isAdded(259), tokenizer.isAdded(97)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('keeps spaces before punctuation', () => {
    expect(tokenizer.decode(tokenizer.encode("do n't , he said ."))).toBe("do n't , he said .");
  });

  it('names the end token in either form', () => {
    expect(tokenizer.namedToken('eos_token')).toBe('<|im_end|>');
    expect(tokenizer.namedToken('bos_token')).toBeUndefined();
  });
});
