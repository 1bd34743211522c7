import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TokensView } from '../../api.js';
import {
  describeToken,
  leastLikely,
  legendOf,
  MEASURES,
  type Measure,
  measuresOf,
  scaleClasses,
  shortValue,
  shownText,
  summaryOf,
  swatchOf,
  type Token,
  tokensOf,
} from './tokenScale.js';

const view: TokensView = {
  prompt: { ids: [1, 2], texts: ['<|im_start|>', 'user\n'], special: [true, false] },
  response: {
    ids: [10, 11, 12, 13],
    texts: ['4', '2', '<|im_end|>', ' 12'],
    special: [false, false, true, false],
    mask: [1, 1, 1, 0],
    logProbs: [-0.01, -5, null, 0],
    ratios: [1, 0.5, 2.5, null],
  },
  advantage: -1.25,
};
const token = (over: Partial<Token> = {}): Token => ({ index: 0, id: 7, text: 'x', special: false, from: 'model', ...over });

describe('colours of tokens', () => {
  it('gives every token its values, and a token that is not the model\u2019s none', () => {
    const { prompt, response } = tokensOf(view);
    expect(prompt[0]).toEqual({ index: 0, id: 1, text: '<|im_start|>', special: true, from: 'prompt' });
    expect(response[1]).toEqual({ index: 1, id: 11, text: '2', special: false, from: 'model', logProb: -5, ratio: 0.5, advantage: -1.25 });
    expect(response[2]).toEqual({ index: 2, id: 12, text: '<|im_end|>', special: true, from: 'model', ratio: 2.5, advantage: -1.25 });
    expect(response[3]).toEqual({ index: 3, id: 13, text: ' 12', special: false, from: 'given' });
  });

  it('offers only measures that there are values of', () => {
    expect(measuresOf(view)).toEqual(['mask', 'logProb', 'probability', 'ratio', 'advantage']);
    const { advantage: _, ...without } = view;
    expect(measuresOf({ ...without, response: { ids: [1], mask: [0], logProbs: [null] } })).toEqual(['mask']);
  });

  it('steps with the value: the less likely the stronger, below and above one told apart', () => {
    expect([-0.01, -0.1, -0.5, -1, -3, -9].map((logProb) => swatchOf(token({ logProb }), 'logProb'))).toEqual([
      's0',
      's1',
      's2',
      's3',
      's4',
      's5',
    ]);
    expect([0.99, 0.9, 0.6, 0.3, 0.05, 0.001].map((p) => swatchOf(token({ logProb: Math.log(p) }), 'probability'))).toEqual([
      's0',
      's1',
      's2',
      's3',
      's4',
      's5',
    ]);
    expect([0, 0.3, 0.9, 1, 1.1, 4, Number.POSITIVE_INFINITY].map((ratio) => swatchOf(token({ ratio }), 'ratio'))).toEqual([
      'n5',
      'n5',
      'n2',
      'z',
      'p2',
      'p5',
      'p5',
    ]);
    expect([-3, -0.2, 0, 0.7, 2.1].map((advantage) => swatchOf(token({ advantage }), 'advantage'))).toEqual(['n5', 'n1', 'z', 'p2', 'p5']);
    expect(swatchOf(token({ from: 'given' }), 'mask')).toBe('given');
    expect(swatchOf(token({ from: 'given' }), 'logProb')).toBe('none');
  });

  it('carries its step on every scale that it has values of', () => {
    expect(scaleClasses(token({ logProb: -3, ratio: 0.25, advantage: 1.2 }))).toBe('logProb-s4 probability-s4 ratio-n5 advantage-p3');
    expect(scaleClasses(token({ from: 'given' }))).toBe('');
  });

  it('shows in its legend exactly the steps that it gives', () => {
    const value = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(value, fc.constantFrom(...(Object.keys(MEASURES) as Measure[])), (x, measure) => {
        const own = token({ logProb: -Math.abs(x), ratio: Math.abs(x), advantage: x });
        expect(legendOf(measure).map(({ swatch }) => swatch)).toContain(swatchOf(own, measure));
      }),
    );
  });
});

describe('words about tokens', () => {
  it('writes white space out and keeps special tokens', () => {
    expect(shownText(token({ text: ' a\tb\n' }))).toBe('\u00b7a\u21e5b\u21b5');
    expect(shownText(token({ text: '<|im_end|>', special: true }))).toBe('<|im_end|>');
    expect(shownText(token({ text: '' }))).toBe('\u2205');
    const { text: _, ...unknown } = token();
    expect(shownText(unknown)).toBe('#7');
  });

  it('says every exact value', () => {
    expect(describeToken(tokensOf(view).response[1]!)).toEqual([
      ['token', '"2"'],
      ['id', '11'],
      ['place', '1'],
      ['from', 'the model (mask 1)'],
      ['log-prob', '\u22125 nats'],
      ['probability', '0.674 %'],
      ['ratio', '0.5'],
      ['advantage', '\u22121.25'],
    ]);
    expect(describeToken(tokensOf(view).response[2]!).map(([, value]) => value)).toContain('not a number');
    expect(shortValue(token({ logProb: -0.001 }), 'logProb')).toBe('0');
    expect(shortValue(token({ logProb: -12.34 }), 'logProb')).toBe('\u221212.3');
    expect(shortValue(token({ from: 'given' }), 'probability')).toBe('');
  });

  it('finds the least likely tokens of the model, in order', () => {
    const response = [-0.5, undefined, -7, -7, -0.1].map((logProb, index) =>
      token({ index, ...(logProb === undefined ? { from: 'given' as const } : { logProb }) }),
    );
    expect(leastLikely(response, 3).map(({ index }) => index)).toEqual([2, 3, 0]);
  });

  it('sums up: mean log-prob and perplexity over the model\u2019s tokens alone', () => {
    const { response } = tokensOf(view);
    const summary = summaryOf(response);
    expect(summary).toMatchObject({ tokens: 4, model: 3, meanLogProb: -2.505 });
    expect(summary.perplexity).toBeCloseTo(Math.exp(2.505));
    expect(summaryOf([token({ from: 'given' })])).toEqual({ tokens: 1, model: 0 });
  });
});
