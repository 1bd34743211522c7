import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Transcript } from './transcript.js';

it('keeps tokens, mask and log-probs of one length, and sampled ids as they are', () => {
  const piece = fc.oneof(
    fc.record({ kind: fc.constant('sampled' as const), tokens: fc.array(fc.nat(1000)) }),
    fc.record({ kind: fc.constant('reply' as const), tokens: fc.array(fc.nat(1000)) }),
  );
  fc.assert(
    fc.property(fc.array(fc.nat(1000)), fc.array(piece), (prompt, pieces) => {
      const transcript = new Transcript(prompt);
      for (const { kind, tokens } of pieces) {
        if (kind === 'sampled') transcript.appendSampled({ tokens, logProbs: tokens.map(() => -1) });
        else transcript.appendReplies(tokens);
      }
      expect(transcript.tokens).toEqual(pieces.flatMap(({ tokens }) => tokens));
      expect(transcript.mask).toEqual(pieces.flatMap(({ kind, tokens }) => tokens.map(() => (kind === 'sampled' ? 1 : 0))));
      expect(transcript.logProbs.map((value) => (value === 0 ? 0 : 1))).toEqual(transcript.mask);
      expect(transcript.context()).toEqual([...prompt, ...transcript.tokens]);
    }),
  );
});

it('refuses a sample whose log-probs do not fit, and appends nothing', () => {
  const transcript = new Transcript([1]);
  expect(() => transcript.appendSampled({ tokens: [1, 2], logProbs: [-1] })).toThrow(/2 tokens and 1 log-probs/);
  expect(transcript.tokens).toEqual([]);
});
