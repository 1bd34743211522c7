import { describe, expect, it } from 'vitest';
import { mixedBlocks } from './mixedBlocks.js';
import { byKey, madePlan, madeResults } from './testSupport.js';

const plan = madePlan({ seed: 5 });
const on = (arm: string, cpu: string, ...blocks: readonly number[]) =>
  madeResults(plan, arm, [0.1, 0.2, 0.3], { machine: { cpu, cores: 2, toolwise: '0.1.0' } }).filter(({ block }) => blocks.includes(block));

describe('mixed blocks', () => {
  it('are those whose arms ran on different processors', () => {
    const results = byKey(on('narrow', 'a', 0, 1), on('wide', 'a', 0), on('wide', 'b', 1));
    expect(mixedBlocks(plan, results)).toEqual([{ plan: 'clip', block: 1, seed: 6, processors: ['a', 'b'] }]);
  });

  it('are not those that stand on a processor each', () => {
    expect(mixedBlocks(plan, byKey(on('narrow', 'a', 0), on('wide', 'a', 0), on('narrow', 'b', 1), on('wide', 'b', 1)))).toEqual([]);
    expect(mixedBlocks(plan, byKey(on('narrow', 'a', 0), on('wide', 'b', 1)))).toEqual([]);
  });
});
