import { describe, expect, it } from 'vitest';
import { mismatch } from './matchSchema.js';

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1 },
    days: { type: 'integer', minimum: 1, maximum: 7 },
    unit: { enum: ['C', 'F'] },
    when: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    list: { type: 'array', items: { type: 'number' }, maxItems: 3 },
    inner: { $ref: '#/$defs/inner' },
  },
  required: ['city'],
  additionalProperties: false,
  $defs: { inner: { type: 'object', properties: { a: { type: 'boolean' }, again: { $ref: '#/$defs/inner' } } } },
};

describe('arguments', () => {
  it.each([
    [{ city: 'Ulm' }],
    [{ city: 'Ulm', days: 7, unit: 'F', when: null, list: [1, 2.5], inner: { a: true, again: { again: {} } } }],
    [{ city: 'Ulm', when: 'now', inner: { more: 1 } }],
  ])('fit: %j', (value) => {
    expect(mismatch(value, schema)).toBeUndefined();
  });

  it.each([
    [{}, '"city" is missing'],
    [{ city: 7 }, '"city" is 7, not string'],
    [{ city: '' }, '"city" has length 0, less than 1'],
    [{ city: 'Ulm', days: '3' }, '"days" is "3", not integer'],
    [{ city: 'Ulm', days: 1.5 }, '"days" is 1.5, not integer'],
    [{ city: 'Ulm', days: 8 }, '"days" is 8, more than 7'],
    [{ city: 'Ulm', unit: 'K' }, '"unit" is "K", not ["C","F"]'],
    [{ city: 'Ulm', when: 3 }, '"when" is 3, not string'],
    [{ city: 'Ulm', list: [1, 'x'] }, '"list[1]" is "x", not number'],
    [{ city: 'Ulm', list: [1, 2, 3, 4] }, '"list" has length 4, more than 3'],
    [{ city: 'Ulm', inner: { again: { a: 'no' } } }, '"inner.again.a" is "no", not boolean'],
    [{ city: 'Ulm', more: 1 }, '"more" is not among city, days, unit, when, list, inner'],
    [[], 'it is [], not object'],
  ])('do not fit: %j', (value, wrong) => {
    expect(mismatch(value, schema)).toBe(wrong);
  });

  it('are let pass by a schema that says nothing, that is broken, or that refers to itself for ever', () => {
    const loop = { $ref: '#' };
    const union: Record<string, unknown> = { anyOf: [{ $ref: '#' }, { $ref: '#' }] };
    for (const one of [
      {},
      { type: 'strange' },
      { $ref: '#/nowhere' },
      { $ref: 'https://elsewhere' },
      loop,
      union,
      { properties: 3, required: 'x' },
    ])
      expect(mismatch({ a: 1 }, one)).toBeUndefined();
  });

  it('named like what every object has are missing where they are missing', () => {
    expect(mismatch({}, { type: 'object', properties: {}, required: ['toString'] })).toBe('"toString" is missing');
    expect(mismatch({ toString: 1 }, { type: 'object', properties: {}, additionalProperties: false })).toBe(
      '"toString" is not among its properties',
    );
  });
});
