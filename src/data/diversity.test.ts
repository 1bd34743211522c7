import { describe, expect, it } from 'vitest';
import { madeProblem, templatedText, textOf } from '../bench/madeProblems.js';
import { DiversityMeter, diversityOf } from './diversity.js';

describe('the diversity of a set', () => {
  it('counts what can be counted by hand', async () => {
    const found = await diversityOf([
      { text: 'red fox runs', source: 'a', ability: 'math' },
      { text: 'red fox sleeps', source: 'a', ability: 'math' },
      { text: '7 green pears', source: 'b', ability: 'code' },
      { text: '9 green pears', source: 'c', ability: 'math' },
    ]);
    expect(found).toMatchObject({
      rows: 4,
      sample: 4,
      wordsPerText: 3,
      sources: [
        { name: 'a', rows: 2, share: 0.5 },
        { name: 'b', rows: 1, share: 0.25 },
        { name: 'c', rows: 1, share: 0.25 },
      ],
      sourceEntropy: 1.5,
      // red fox runs sleeps # green pears
      vocabulary: 7,
      // red fox, fox runs, fox sleeps, # green, green pears, of 8
      distinct2: 5 / 8,
      distinct3: 3 / 4,
      // The two with pears differ in a number alone.
      ownWording: 0.5,
    });
    expect(found.abilities.map(({ share }) => share)).toEqual([0.75, 0.25]);
    // 3 of 7 features for the foxes, all for the pears.
    expect(found.nearestSimilarity).toBeCloseTo((2 * (3 / 7) + 2) / 4);
  });

  it('sees that templates are less diverse than varied texts, whatever the size of the set', async () => {
    const texts = (count: number, make: (i: number) => string) => Array.from({ length: count }, (_, i) => ({ text: make(i) }));
    const varied = await diversityOf(
      texts(3000, (i) => textOf(madeProblem(1, i))),
      { sample: 300, neighbours: 100 },
    );
    const templated = await diversityOf(
      texts(3000, (i) => templatedText(1, i)),
      { sample: 300, neighbours: 100 },
    );
    const half = await diversityOf(
      texts(1500, (i) => textOf(madeProblem(1, i))),
      { sample: 300, neighbours: 100 },
    );
    expect(varied.vocabulary).toBeGreaterThan(5 * templated.vocabulary);
    expect(varied.ownWording).toBeGreaterThan(templated.ownWording);
    expect(varied.nearestSimilarity).toBeLessThan(0.8);
    expect(templated.nearestSimilarity).toBe(1);
    expect(Math.abs(half.distinct2 - varied.distinct2)).toBeLessThan(0.02);
  });

  it('is the same for the same texts and seed, and takes streams', async () => {
    async function* stream() {
      for (let i = 0; i < 50; i++) yield { text: textOf(madeProblem(2, i)) };
    }
    expect(await diversityOf(stream(), { sample: 20 })).toEqual(await diversityOf(stream(), { sample: 20 }));
    expect(await diversityOf([])).toMatchObject({ rows: 0, sample: 0, distinct2: 0, nearestSimilarity: 0, sources: [] });
  });

  it('measures two sets on samples of one size', () => {
    const meter = new DiversityMeter({ sample: 30 });
    for (let i = 0; i < 100; i++) meter.add({ text: textOf(madeProblem(3, i)) });
    expect(meter.sampled).toBe(30);
    expect(meter.result(10)).toMatchObject({ rows: 100, sample: 10 });
  });

  it('sums up what has too many names', async () => {
    const { sources } = await diversityOf(Array.from({ length: 60 }, (_, i) => ({ text: 'a', source: `s${i}` })));
    expect(sources).toHaveLength(41);
    expect(sources.at(-1)).toMatchObject({ name: 'others', rows: 20 });
  });
});
