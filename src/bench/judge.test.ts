import { describe, expect, it } from 'vitest';
import { hasBubblewrap } from '../sandbox/testSupport.js';
import { benchmarkJudge } from './judge.js';

describe.skipIf(!hasBubblewrap)('the benchmark of the judge', () => {
  it('judges each program twice alike and as it deserves, and leaves nothing running', async () => {
    const found = await benchmarkJudge(2, 10);
    expect(found).toMatchObject({ programs: 30, disagreements: 0, misjudged: 0, left: 0 });
    expect(Object.values(found.perSecond).every((rate) => rate > 0)).toBe(true);
  });
});
