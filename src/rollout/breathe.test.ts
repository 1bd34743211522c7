import { describe, expect, it } from 'vitest';
import { breathe } from './breathe.js';

const busy = (milliseconds: number): void => {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
};

describe('much work that comes at once', () => {
  it('is done in the order in which it came, and others have their turn in between', async () => {
    const seen: string[] = [];
    const work = async (name: string): Promise<void> => {
      await breathe();
      seen.push(name);
      busy(30);
    };
    const all = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(work));
    setImmediate(() => seen.push('another'));
    await all;
    expect(seen.filter((name) => name !== 'another')).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(seen.indexOf('another')).toBeLessThan(seen.length - 1);
  });

  it('goes on without a pause where there is little of it', async () => {
    let turned = false;
    await new Promise((resolve) => setImmediate(resolve));
    setImmediate(() => {
      turned = true;
    });
    for (let i = 0; i < 3; i++) await breathe();
    expect(turned).toBe(false);
  });
});
