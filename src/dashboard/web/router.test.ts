import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRoute, href, manyOf, numberOf, oneOf, parseHash, patched } from './router.js';
import { crumbsOf, viewOf } from './views.js';

describe('addresses', () => {
  it('keep any run, filter and text through a reload', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((each) => each.isWellFormed());
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 4 }),
        fc.dictionary(text, fc.array(text, { minLength: 1, maxLength: 3 })),
        (segments, query) => {
          const route = parseHash(formatRoute({ segments, query }));
          expect(route.segments).toEqual(segments);
          expect({ ...route.query }).toEqual({ ...query });
        },
      ),
    );
  });

  it('name a run in a folder within one part', () => {
    expect(href(['run', 'demo/act 1', 'curves'], { from: 1.5, run: ['a', 'b'], gone: undefined })).toBe(
      '#/run/demo%2Fact%201/curves?from=1.5&run=a&run=b',
    );
  });

  it('of any kind can be read: what is not encoded well stands as it is', () => {
    expect(parseHash('#/run/100%/x?a=%E0%A4').segments).toEqual(['run', '100%', 'x']);
    expect(parseHash('').segments).toEqual([]);
    expect(parseHash('#//run///x').segments).toEqual(['run', 'x']);
  });

  it('change by a patch: undefined and empty lists go, the rest keeps its place', () => {
    const query = patched({ stage: ['rl'], off: ['a', 'b'] }, { off: [], stage: 'sft', smooth: 0.5, log: true });
    expect(formatRoute({ segments: [], query })).toBe('#/?stage=sft&smooth=0.5&log=true');
  });

  it('give numbers only where there are any', () => {
    const { query } = parseHash('#/x?a=12&b=1e3&c=&d=x&e=Infinity');
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => numberOf(query, name))).toEqual([
      12,
      1000,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(oneOf(query, 'd')).toBe('x');
    expect(manyOf(query, 'nothing')).toEqual([]);
  });

  it('with names of object properties are names like others', () => {
    const { query } = parseHash('#/x?__proto__=1&constructor=2');
    expect(oneOf(query, 'constructor')).toBe('2');
    expect(oneOf(parseHash('#/x').query, 'toString')).toBeUndefined();
  });
});

describe('views', () => {
  it('are named by addresses; a run without a tab shows its curves', () => {
    expect(viewOf(parseHash('#/'))).toEqual({ kind: 'runs' });
    expect(viewOf(parseHash('#/run/demo%2Fact-1'))).toEqual({ kind: 'run', run: 'demo/act-1', tab: 'curves', rest: [] });
    expect(viewOf(parseHash('#/run/a/trajectories/17'))).toEqual({ kind: 'run', run: 'a', tab: 'trajectories', rest: ['17'] });
    expect(viewOf(parseHash('#/compare?run=a&run=b%2Fc'))).toEqual({ kind: 'compare', runs: ['a', 'b/c'] });
    expect(viewOf(parseHash('#/studies'))).toEqual({ kind: 'studies', study: undefined });
    expect(viewOf(parseHash('#/studies/a%2Fb'))).toEqual({ kind: 'studies', study: 'a/b' });
    expect(viewOf(parseHash('#/studies/a/b'))).toEqual({ kind: 'unknown' });
    expect(viewOf(parseHash('#/run/a/nonsense'))).toEqual({ kind: 'unknown' });
    expect(viewOf(parseHash('#/nonsense'))).toEqual({ kind: 'unknown' });
  });

  it('lead back by their crumbs, one view at a time', () => {
    const crumbs = crumbsOf(viewOf(parseHash('#/run/a%2Fb/trajectories/17')));
    expect(crumbs.map(({ to }) => to)).toEqual(['#/', '#/run/a%2Fb', '#/run/a%2Fb/trajectories', '#/run/a%2Fb/trajectories/17']);
    expect(crumbsOf(viewOf(parseHash('#/studies/a%2Fb'))).map(({ to }) => to)).toEqual(['#/', '#/studies', '#/studies/a%2Fb']);
  });
});
