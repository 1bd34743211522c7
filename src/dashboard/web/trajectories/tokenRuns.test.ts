import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from './tokenRuns.js';
import type { Token } from './tokenScale.js';

const tokens = fc
  .array(fc.constantFrom<Token['from']>('model', 'given'), { maxLength: 60 })
  .map((sources) => sources.map((from, index): Token => ({ index, id: index, special: false, from })));

describe('runs of tokens', () => {
  it('hold every token once, in order, in chunks no longer than asked', () => {
    fc.assert(
      fc.property(tokens, fc.integer({ min: 1, max: 7 }), (all, chunk) => {
        const runs = runsOf(all, chunk);
        expect(runs.flatMap((run) => run.chunks.flat())).toEqual(all);
        for (const run of runs) {
          expect(run.length).toBe(run.chunks.flat().length);
          expect(run.chunks.every((own) => own.length > 0 && own.length <= chunk && own.every(({ from }) => from === run.from))).toBe(true);
        }
      }),
    );
  });

  it('alternate in source, and the model\u2019s are counted as turns', () => {
    fc.assert(
      fc.property(tokens, (all) => {
        const runs = runsOf(all);
        expect(runs.some((run, i) => run.from === runs[i - 1]?.from)).toBe(false);
        expect(runs.flatMap(({ turn }) => turn ?? [])).toEqual(runs.filter(({ from }) => from === 'model').map((_, i) => i + 1));
      }),
    );
  });
});
