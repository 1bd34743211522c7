import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tokenizer } from '../../chat/tokenizer.js';
import { packageRoot } from '../../setup/paths.js';
import { textsOf } from './tokens.js';

/** One token a byte. */
const bytes = { decode: (ids: readonly number[]): string => Buffer.from(ids).toString('utf8') };
const idsOf = (text: string): number[] => [...Buffer.from(text)];

describe('texts of tokens', () => {
  it('give a character that is split over tokens to the last of them', () => {
    expect(textsOf(idsOf('aé€😀b'), bytes)).toEqual(['a', '', 'é', '', '', '€', '', '', '', '😀', 'b']);
  });

  it('show bytes that are no character, and go on behind them', () => {
    expect(textsOf([0x61, 0xff, 0x62], bytes)).toEqual(['a', '\ufffd', 'b']);
    expect(textsOf([0x61, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0x62], bytes)).toEqual(['a', ...Array(5).fill('\ufffd'), 'b']);
    expect(textsOf([0xf0, 0x9f], bytes)).toEqual(['\ufffd', '\ufffd']);
    expect(textsOf([0xff, 0xff, 0xff, 0xff, 0xff, 0x61], bytes).at(-1)).toBe('a');
  });

  it('keep the space that begins a word, also of tokenizers that drop it at the start of a text', () => {
    const words = [' one', ' two', 'three', ' four'];
    const dropping = {
      decode: (ids: readonly number[]): string =>
        ids
          .map((id) => words[id])
          .join('')
          .replace(/^ /, ''),
    };
    expect(textsOf([0, 1, 2, 3], dropping)).toEqual([' one', ' two', 'three', ' four']);
  });

  it('are those of a real tokenizer', async () => {
    const tokenizer = await Tokenizer.load(join(packageRoot(), 'models', 'nano'));
    const text = 'How many 1f600 is 6 * 7?\n';
    const ids = tokenizer.encode(text);
    expect(textsOf(ids, tokenizer).join('')).toBe(text);
    expect(textsOf([...ids, 1_000_000], tokenizer)).toHaveLength(ids.length + 1);
  });

  it('are as many as the tokens, and together what was written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (any) => {
        // the mark of broken bytes, written as a character, cannot be told from broken bytes
        const text = any.replaceAll('\ufffd', '');
        const texts = textsOf(idsOf(text), bytes);
        expect(texts).toHaveLength(idsOf(text).length);
        expect(texts.join('')).toBe(text);
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 255 })), (ids) => {
        expect(textsOf(ids, bytes)).toHaveLength(ids.length);
      }),
    );
  });
});
