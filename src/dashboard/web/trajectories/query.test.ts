import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrajectoryQuery } from '../../api.js';
import { changed, describeQuery, FLAG_NAMES, fromParams, isNarrowed, SORTS, STAGES, STOP_REASONS, toParams, withFlag } from './query.js';

const keys = <Key extends string>(table: Record<Key, unknown>): Key[] => Object.keys(table) as Key[];
const text = fc.string({ unit: 'grapheme', minLength: 1 });
const count = fc.nat({ max: 999_999 });
const queries = fc.record(
  {
    stage: fc.constantFrom(...STAGES),
    step: count,
    fromStep: count,
    toStep: count,
    split: text,
    correct: fc.boolean(),
    problemId: text,
    groupId: text,
    stopReason: fc.constantFrom(...keys(STOP_REASONS)),
    flags: fc.subarray(FLAG_NAMES, { minLength: 1 }),
    text,
    sort: fc.constantFrom(...keys(SORTS).filter((sort) => sort !== 'newest')),
    offset: count,
    limit: count,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<TrajectoryQuery>;

describe('a filter in an address', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(queries, (query) => {
        expect(fromParams(new URLSearchParams(toParams(query).toString()))).toEqual(query);
      }),
    );
  });

  it('is empty where nothing narrows or orders', () => {
    expect(toParams({}).toString()).toBe('');
    expect(toParams({ sort: 'newest', flags: [], text: '' }).toString()).toBe('');
  });

  it('leaves out what is no filter, never failing', () => {
    expect(
      fromParams(new URLSearchParams('stage=x&step=-1&fromStep=1e9&flags=toString,malformed,,&sort=__proto__&stopReason=x&correct=1')),
    ).toEqual({
      flags: ['malformed'],
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('stage', 'step', 'flags', 'sort', 'correct', 'text'), fc.string())), (pairs) => {
        const query = fromParams(new URLSearchParams(pairs));
        expect(fromParams(toParams(query))).toEqual(query);
      }),
    );
  });

  it('begins at the first page again where it is changed, and a flag goes on and off', () => {
    expect(changed({ stage: 'rl', offset: 100 }, { correct: false })).toEqual({ stage: 'rl', correct: false });
    expect(changed({ stage: 'rl', correct: true }, { correct: undefined })).toEqual({ stage: 'rl' });
    expect(withFlag({ flags: ['truncated'] }, 'malformed')).toEqual({ flags: ['malformed', 'truncated'] });
    expect(withFlag({ flags: ['malformed'] }, 'malformed')).toEqual({});
  });

  it('says in words what it narrows to', () => {
    expect(describeQuery({})).toBe('all rollouts');
    expect(describeQuery({ stage: 'rl', correct: false, flags: ['malformed'], sort: 'calls' })).toBe('RL, wrong, malformed call');
    expect(describeQuery({ fromStep: 0, toStep: 9 })).toBe('from step 1, to step 10');
    expect(isNarrowed({ sort: 'calls', offset: 3 })).toBe(false);
    expect(isNarrowed({ correct: false })).toBe(true);
  });
});
