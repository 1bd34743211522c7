import { describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { meanCurve, reportOf } from './report.js';
import { partSentences, repeatCommand, scopeSentences, seedsText, verdictSentences } from './reportWords.js';
import { byKey, madePlan, madeResults, PLAN } from './testSupport.js';

const NARROW = [0.8, 0.81, 0.82, 0.83, 0.84, 0.85];
const WIDE = [0.9, 0.92, 0.94, 0.96, 0.98, 1];
const plan = madePlan();
const report = (wide: readonly number[] = WIDE, narrow: readonly number[] = NARROW) =>
  reportOf('runs/study-clip', [plan], byKey(madeResults(plan, 'wide', wide), madeResults(plan, 'narrow', narrow)));

describe('a report', () => {
  it('has the numbers that one computes by hand', () => {
    const [claim] = report().claims;
    // Differences 10, 11, ... 15 points: mean 12.5, deviation sqrt(3.5); 2.570582 * 1.870829 / sqrt(6) = 1.963315.
    const { difference } = claim!.parts[0]!;
    expect(difference.mean).toBeCloseTo(12.5, 9);
    expect(difference.interval[0]).toBeCloseTo(10.536685, 5);
    expect(difference.interval[1]).toBeCloseTo(14.463315, 5);
    // 7.5 / 0.763763 = 9.8198 standard errors beyond the margin, 5 degrees of freedom, two-sided.
    expect(claim!.verdict).toEqual({ id: 'accuracy', outcome: 'supported', adjusted: expect.closeTo(0.000187, 6) });
    // wide: mean 95, deviation sqrt(14), 2.570582 * 3.741657 / sqrt(6) = 3.926629; narrow: mean 82.5, deviation sqrt(3.5).
    const [wide, narrow] = claim!.rows.map(({ values }) => values[0]!);
    expect([wide!.mean, ...wide!.interval]).toEqual([95, 91.073371, 98.926629].map((value) => expect.closeTo(value, 5)));
    expect([narrow!.mean, ...narrow!.interval]).toEqual([82.5, 80.536685, 84.463315].map((value) => expect.closeTo(value, 5)));
    expect(claim!.rows[0]).toMatchObject({ name: 'wide', blocks: 6, diverged: 0, lost: 0, tokens: 6000, seconds: 360 });
  });

  it('shows the training rollouts of a metric that is evaluated at the end alone', () => {
    const [curve, ...others] = report().claims[0]!.curves;
    expect(others).toEqual([]);
    expect(curve).toMatchObject({ metric: 'rollout/accuracy', of: 'steps', points: true });
    expect(curve!.series.map(({ arm }) => arm)).toEqual(['wide', 'narrow']);
    const last = curve!.series[0]!.points.at(-1)!;
    // sqrt(14 / 6)
    expect([last.x, last.y, last.low, last.high]).toEqual([3, 95, 95 - 1.527525, 95 + 1.527525].map((value) => expect.closeTo(value, 5)));
  });

  it('shows one figure a metric, with all arms that are compared in it', () => {
    const part = PLAN.claims[0]!.parts[0]!;
    const arms = { ...PLAN.arms, wider: { rl: { algorithm: { clipHigh: 0.35 } } } };
    const parts = [
      { ...part, endpoint: { mean: 'rollout/accuracy', to: 2 } },
      { ...part, above: 'wider', endpoint: { mean: 'rollout/accuracy', from: 3 } },
    ];
    const three = madePlan({ arms, claims: [{ ...PLAN.claims[0], parts }] });
    const results = byKey(...['narrow', 'wide', 'wider'].map((arm) => madeResults(three, arm, WIDE)));
    const [claim] = reportOf('f', [three], results).claims;
    expect(claim!.endpoints).toHaveLength(2);
    expect(claim!.curves.map(({ series }) => series.map(({ arm }) => arm))).toEqual([['wide', 'narrow', 'wider']]);
  });

  it('names machine, days, seeds, and how much is there', () => {
    expect(report().runs).toEqual({
      ...{ done: 12, wanted: 12, machines: ['cpu a processor, cores 2, toolwise 0.1.0'], seeds: [1, 2, 3, 4, 5, 6] },
      ...{ days: ['2026-11-20', '2026-11-25'], tokens: 12_000, seconds: 720, models: ['nano'] },
    });
  });

  it('says where a block mixes processors, and where more blocks were asked for after a look', () => {
    const raised = [
      { from: 4, to: 5, results: 8 },
      { from: 5, to: 6, results: 10 },
    ];
    const [first, ...others] = madeResults(plan, 'wide', WIDE);
    const elsewhere = { ...first!, machine: { ...first!.machine, cpu: 'another' } };
    const results = byKey([elsewhere, ...others], madeResults(plan, 'narrow', NARROW));
    const mixed = reportOf('f', [{ ...plan, raised }], results);
    expect(mixed.mixed).toEqual([{ plan: 'clip', block: 0, seed: 1, processors: ['a processor', 'another'] }]);
    expect(scopeSentences(mixed).slice(2)).toEqual([
      'clip was planned with 4 blocks and raised to 5 when 8 results were there, and to 6 when 10 results were: intervals do not allow for having looked.',
      'Block 1 of clip (seed 1) mixes processors (a processor; another): differences within it are not of its arms alone.',
    ]);
    expect(scopeSentences(report())).toHaveLength(2);
  });

  it('goes as far as the blocks that are there', () => {
    const { claims, runs } = report(WIDE.slice(0, 3), NARROW.slice(0, 4));
    expect(runs).toMatchObject({ done: 7, wanted: 12 });
    expect(claims[0]).toMatchObject({ verdict: { outcome: 'exploratory' }, reading: { says: 'supported' } });
    expect(claims[0]!.notes).toEqual(['3 of 6 blocks are there', 'fewer than 6 blocks: exploratory by the rule']);
    expect(verdictSentences(claims[0]!, 0)).toBe(
      'There are 3 complete blocks, and the rule asks for 6: exploratory, whatever the numbers. Standing alone they would say "supported"; take it as a hint where to look.',
    );
  });

  it('of one arm alone has no difference, and says which is missing', () => {
    const { claims } = report([], NARROW);
    expect(claims[0]!.parts[0]!.pairs).toEqual([]);
    expect(partSentences(claims[0]!.parts[0]!)).toContain('No block holds a number of both wide and narrow');
    expect(verdictSentences(claims[0]!, 0)).toContain('There is no complete block, and the rule asks for 6');
  });

  it('draws no curve through ends that blocks reach after different numbers of steps', () => {
    const uneven = (arm: string, shares: readonly number[]) =>
      madeResults(plan, arm, shares).map((result, i) => ({ ...result, evaluations: [{ ...result.evaluations[0]!, step: 3 + i }] }));
    const { claims } = reportOf('f', [plan], byKey(uneven('wide', WIDE), uneven('narrow', NARROW)));
    expect(claims[0]!.curves.map(({ metric, of }) => [metric, of])).toEqual([['rollout/accuracy', 'steps']]);
  });

  it('counts a run that diverged before its evaluation as one that is never right', () => {
    const diverged = madeResults(plan, 'wide', WIDE.slice(0, 1), { evaluations: [], diverged: 'a loss that is not a number' });
    const rest = madeResults(plan, 'wide', WIDE).slice(1);
    const [claim] = reportOf('f', [plan], byKey(diverged, rest, madeResults(plan, 'narrow', NARROW))).claims;
    expect(claim!.parts[0]!.pairs[0]).toEqual({ block: 0, above: 0, below: 80 });
    expect(claim!.rows[0]!.values[0]!.mean).toBeCloseTo(80, 9);
    expect(claim!.notes).toContain('wide diverged in 1 of 6 blocks; they count');
  });

  it('of an empty study is refused', () => {
    expect(() => reportOf('f', [plan], new Map())).toThrow(UserError);
    expect(() => reportOf('f', [plan], new Map())).toThrow('has no result yet: 12 arm-runs are to be made');
    const other = madePlan({ seed: 100 });
    expect(() => reportOf('f', [plan], byKey(madeResults(other, 'wide', WIDE)))).toThrow(
      'the 6 that are there belong to none of its plans',
    );
  });
});

describe('a mean curve', () => {
  it('has a value where a block has one, and a band where two have', () => {
    const blocks = [
      [
        [1, 0.2],
        [2, null],
        [3, 0.5],
      ],
      [
        [1, 0.4],
        [2, null],
      ],
    ] as const;
    const [first, second, ...others] = meanCurve(blocks, 100);
    expect([first!.x, first!.y, first!.low, first!.high]).toEqual([1, 30, 20, 40].map((value) => expect.closeTo(value, 9)));
    expect(second).toEqual({ x: 3, y: 50 });
    expect(others).toEqual([]);
  });
});

describe("a report's sentences", () => {
  const sentences = (wide: readonly number[], change: object = {}): string => {
    const made = madePlan({ claims: [{ ...PLAN.claims[0], ...change }] });
    const results = byKey(madeResults(made, 'wide', wide), madeResults(made, 'narrow', NARROW));
    const { claims, tested } = reportOf('f', [made], results);
    return verdictSentences(claims[0]!, tested);
  };
  const shifted = (...by: number[]): number[] => NARROW.map((share, i) => share + by[i]! / 100);

  it('say what was found, in the units of the endpoint, and what was declared', () => {
    expect(partSentences(report().claims[0]!.parts[0]!, 'runs differ by two points.')).toBe(
      'Over 6 blocks, wide stood 12.5 points above narrow on average (accuracy at the end of rl). The 95 % interval of the difference reaches from +10.5 to +14.5 points. It was declared beforehand that less than 5 points does not matter (runs differ by two points).',
    );
  });

  it('speak of steps as of steps', () => {
    const parts = [{ above: 'narrow', below: 'wide', endpoint: { stepsTo: 'rollout/accuracy', reach: 0.5, window: 1 }, margin: 0 }];
    const made = madePlan({ claims: [{ ...PLAN.claims[0], parts }] });
    // 0.25, 0.5, 1 is there at step 2; 0.2, 0.4, 0.8 at step 3.
    const results = byKey(madeResults(made, 'wide', [1, 1]), madeResults(made, 'narrow', [0.8, 0.8]));
    expect(partSentences(reportOf('f', [made], results).claims[0]!.parts[0]!)).toBe(
      'Over 2 blocks, narrow took 1 step more than wide on average (rl steps until rollout/accuracy is 0.5 (mean of 1)). The 95 % interval of the difference reaches from +1 to +1 steps. Any difference was declared beforehand to matter: the margin is 0.',
    );
  });

  it('say of each verdict what it means, and what it does not', () => {
    expect(sentences(WIDE)).toMatch(
      /^The whole interval lies beyond the margin.*\(p below 0.001 .* the one claim that was tested\): supported\./,
    );
    expect(sentences(shifted(-10, -11, -9, -10, -12, -10))).toMatch(/other side of 0.*contradicted\..*against the claim/);
    expect(sentences(shifted(1, -1, 0, 2, -2, 0))).toMatch(/inside the margin.*This is a finding, and not a lack of data/);
    expect(sentences(shifted(15, -15, 10, -8, 12, -5))).toMatch(/undecided\. That is no evidence that there is no effect/);
    expect(sentences(WIDE, { checks: [{ arm: 'narrow', mean: 'train/clipHigh', atLeast: 0.5 }] })).toBe(
      'What the claim is about was not there to be seen: train/clipHigh of narrow is 0.002; at least 0.5 is needed. So the claim was not tested. The numbers are shown; they say nothing for it or against it.',
    );
  });

  it("say where Holm's procedure took a verdict away", () => {
    const weak = shifted(9, 6, 12, 5, 10, 7);
    expect(sentences(weak)).toContain('supported');
    const claims = ['a', 'b', 'c', 'd'].map((id) => ({ ...PLAN.claims[0]!, id }));
    const made = madePlan({ claims });
    const { claims: judged, tested } = reportOf('f', [made], byKey(madeResults(made, 'wide', weak), madeResults(made, 'narrow', NARROW)));
    expect(verdictSentences(judged[0]!, tested)).toMatch(
      /^Standing alone the numbers would say "supported" \(p 0\.0\d+\), but not after Holm's procedure over the 4 claims that were tested \(p 0\.\d+\): undecided\./,
    );
  });

  it('warn that nano is small, and of what the paper speaks', () => {
    expect(scopeSentences(report())[0]).toMatch(/nano has about 1 million parameters.*4 and 7 billion/);
  });

  it('give a command that a shell takes as it stands', () => {
    expect(repeatCommand('runs/study-clip/', 'clip')).toBe('npx toolwise study runs/study-clip/plans/clip.yaml --out runs/again-clip');
    expect(repeatCommand("my 'runs'", 'clip')).toContain(`'my '\\''runs'\\''/plans/clip.yaml'`);
  });

  it('name seeds by their ends where none is missing', () => {
    expect([seedsText([1, 2, 3]), seedsText([1, 3]), seedsText([7]), seedsText([])]).toEqual(['1 to 3', '1, 3', '7', '–']);
  });
});
