import { describe, expect, it } from 'vitest';
import type { ArmResult } from './armResult.js';
import { judge } from './judge.js';
import { byKey, madePlan, madeResults, PLAN } from './testSupport.js';

const [claim] = PLAN.claims;
const [part] = claim!.parts;
const about = (final: string, more: object = {}) =>
  madePlan({ claims: [{ ...claim, parts: [{ ...part, endpoint: { final }, margin: 1 }], ...more }] });

/** Six blocks in which wide ends with 40 and narrow with 50 tokens, or so; the first few of one arm diverged before they were evaluated. */
function judged(final: string, diverged: number) {
  const plan = about(final);
  const value =
    (start: number) =>
    (result: ArmResult, i: number): ArmResult => ({
      ...result,
      evaluations: [{ name: 'main', stage: 'rl', step: 3, metrics: { [final]: start + i / 100 } }],
    });
  const wide = madeResults(plan, 'wide', Array(6).fill(0.5)).map(value(0.4));
  const narrow = madeResults(plan, 'narrow', Array(6).fill(0.5))
    .map(value(0.2))
    .map((result, i) =>
      i < diverged ? { ...result, evaluations: [], diverged: 'the loss is NaN' } : { ...result, curves: result.curves },
    );
  return judge([plan], byKey(wide, narrow))[0]!;
}

describe('runs that diverged', () => {
  it('count as the worst of a share, which is 0 or 100', () => {
    const right = judged('accuracy', 2).parts[0]!;
    expect(right.pairs.map(({ below }) => below).slice(0, 3)).toEqual([0, 0, 22]);
    const malformed = judged('malformed', 2).parts[0]!;
    expect(malformed.pairs.map(({ below }) => below).slice(0, 3)).toEqual([100, 100, 22]);
  });

  it('leave a claim undecided about what has no worst', () => {
    const { parts, notes, verdict } = judged('modelTokens', 1);
    expect(parts[0]!.reading.says).toBe('undecided');
    expect(parts[0]).toMatchObject({ without: 1, uncounted: 1 });
    expect(verdict.outcome).not.toBe('supported');
    expect(notes.join()).toContain('the others alone decide nothing');
    expect(notes.join()).not.toContain('they count');
  });
});

describe('a check', () => {
  const plan = madePlan({
    arms: { ...PLAN.arms, third: { rl: { algorithm: { clipHigh: 0.3 } } } },
    claims: [{ ...claim, checks: [{ arm: 'third', mean: 'train/clipHigh', atLeast: 0.001 }] }],
  });
  const shares = [0.5, 0.6, 0.5, 0.6, 0.5, 0.6];
  const both = [madeResults(plan, 'wide', shares), madeResults(plan, 'narrow', [0.1, 0.1, 0.2, 0.1, 0.2, 0.1])];

  it('of an arm that has not run is no failed one, and there is no verdict', () => {
    const [open] = judge([plan], byKey(...both));
    expect(open!.verdict).toMatchObject({ outcome: 'exploratory' });
    expect(open!.notes).toContain('0 of 6 blocks are there');
  });

  it('counts runs that diverged as the endpoint would', () => {
    const by = madePlan({ claims: [{ ...claim, checks: [{ arms: ['wide', 'narrow'], endpoint: { final: 'accuracy' }, differBy: 5 }] }] });
    const wide = madeResults(by, 'wide', shares);
    const narrow = madeResults(by, 'narrow', [0.1, 0.1, 0.2, 0.1, 0.2, 0.1]);
    narrow[0] = { ...narrow[0]!, evaluations: [], diverged: 'the loss is NaN' };
    const [read] = judge([by], byKey(wide, narrow));
    expect(read!.checks[0]).toMatchObject({ holds: true, blocks: 6 });
    expect(read!.verdict.outcome).toBe('supported');
  });

  it('of an arm that has run decides', () => {
    const third = madeResults(plan, 'third', shares);
    expect(judge([plan], byKey(...both, third))[0]!.verdict.outcome).toBe('supported');
    const never = third.map((result) => ({ ...result, curves: { rl: { ...result.curves.rl, 'train/clipHigh': [0, 0, 0] } } }));
    expect(judge([plan], byKey(...both, never))[0]!.verdict.outcome).toBe('notTested');
  });
});

describe('differences that are the same in every block', () => {
  it('decide nothing, and the notes say so', () => {
    const plan = madePlan();
    const [flat] = judge([plan], byKey(madeResults(plan, 'wide', Array(6).fill(0.5)), madeResults(plan, 'narrow', Array(6).fill(0.3))));
    expect(flat!.verdict).toMatchObject({ outcome: 'undecided', adjusted: 1 });
    expect(flat!.notes.join()).toContain('differ by the same in every block');
  });
});
