import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { coerce } from './coerce.js';
import { toJsonSchema } from './jsonSchema.js';

const through = (schema: z.ZodType, value: unknown): unknown => coerce(value, toJsonSchema(schema));

describe('coerce', () => {
  it.each<[string, z.ZodType, unknown, unknown]>([
    ['a number in a string', z.number(), '2.5', 2.5],
    ['an integer in a string', z.int(), '-3', -3],
    ['a boolean in a string', z.boolean(), 'True', true],
    ['null in a string, in a union', z.number().nullable(), 'None', null],
    ['a number in a string, in a union', z.number().nullable(), '7', 7],
    ['a list as JSON text', z.array(z.number()), '[1, "2"]', [1, 2]],
    ['an object as JSON text', z.object({ n: z.number() }), '{"n": "1"}', { n: 1 }],
    ['a number where a string is asked for', z.string(), 5, '5'],
    ['fields deep inside', z.object({ list: z.array(z.object({ n: z.int() })) }), { list: [{ n: '1' }] }, { list: [{ n: 1 }] }],
  ])('mends %s', (_, schema, value, expected) => {
    expect(through(schema, value)).toEqual(expected);
  });

  it.each<[string, z.ZodType, unknown]>([
    ['a date where an integer is asked for', z.int(), '2024-01-02'],
    ['an integer that a number cannot hold', z.int(), '9007199254740993'],
    ['a fraction where an integer is asked for', z.int(), '1.5'],
    ['a numeric string where a string is allowed', z.union([z.string(), z.number()]), '12'],
    ['"null" where a nullable string is asked for', z.string().nullable(), 'null'],
    ['a member of an enumeration', z.enum(['1', '2']), '1'],
    ['text that is no JSON', z.array(z.number()), '[1,'],
    ['an empty string', z.number(), ''],
  ])('leaves %s as it is', (_, schema, value) => {
    expect(through(schema, value)).toEqual(value);
  });

  it('leaves unknown fields alone and follows references', () => {
    const node: z.ZodType = z.object({ value: z.number(), next: z.lazy(() => node).optional() });
    const schema = toJsonSchema(z.object({ root: node }));
    expect(coerce({ root: { value: '1', next: { value: '2' } }, other: '3' }, schema)).toEqual({
      root: { value: 1, next: { value: 2 } },
      other: '3',
    });
  });
});

describe('toJsonSchema', () => {
  it('is compact', () => {
    expect(toJsonSchema(z.object({ code: z.string(), n: z.int().optional() }))).toEqual({
      type: 'object',
      properties: { code: { type: 'string' }, n: { type: 'integer' } },
      required: ['code'],
    });
  });

  it('keeps descriptions, real bounds, and fields named like keywords', () => {
    const schema = z.object({ minimum: z.number().min(0).describe('Lowest.'), $schema: z.string() });
    expect(toJsonSchema(schema).properties).toEqual({
      minimum: { type: 'number', minimum: 0, description: 'Lowest.' },
      $schema: { type: 'string' },
    });
  });
});
