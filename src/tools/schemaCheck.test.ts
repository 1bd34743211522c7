import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coerce } from './coerce.js';
import type { JsonSchema } from './jsonSchema.js';
import { compileSchema } from './schemaCheck.js';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const object = (properties: Record<string, unknown>, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });

/** Issues as one text each. */
const wrong = (schema: JsonSchema, value: unknown): string[] =>
  compileSchema(schema)
    .check(value)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);

/** As a literal key it would make the object look like a promise. */
const THEN = 'then';
const node = {
  type: 'object',
  properties: { name: { type: 'string' }, below: { type: 'array', items: { $ref: '#/$defs/node' } } },
  required: ['name'],
};

describe('arguments against a schema', () => {
  it.each<[string, JsonSchema, unknown[], [unknown, string][]]>([
    ['a missing field', object({ a: {} }, { required: ['a'] }), [{ a: null }], [[{}, 'a: is missing']]],
    [
      'an enumeration',
      object({ a: { enum: ['x', 1, null] } }),
      [{ a: 1 }, { a: null }],
      [[{ a: 2 }, 'a: must be one of "x", 1, null, not 2']],
    ],
    ['a type', object({ a: { type: 'integer' } }), [{ a: 3 }], [[{ a: 'x' }, 'a: must be integer, not "x"']]],
    ['types', object({ a: { type: ['string', 'null'] } }), [{ a: null }], [[{ a: 1 }, 'a: must be string or null, not 1']]],
    [
      'a union',
      object({ a: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }),
      [{ a: 1 }, { a: null }],
      [[{ a: [] }, 'a: must be integer or null, not []']],
    ],
    [
      'nested objects, closed',
      object({ a: object({ b: { type: 'integer', minimum: 1 } }, { required: ['b'], additionalProperties: false }) }),
      [{ a: { b: 1 } }],
      [
        [{ a: { b: 0 } }, 'a.b: must be >= 1'],
        [{ a: { b: 1, c: 2 } }, 'a.c: is not a known field; known: b'],
        [{ a: {} }, 'a.b: is missing'],
      ],
    ],
    [
      'further fields of a type',
      { type: 'object', additionalProperties: { type: 'number' } },
      [{ a: 1 }],
      [[{ a: 'x' }, 'a: must be number, not "x"']],
    ],
    [
      'exactly one of',
      object({ a: { oneOf: [{ type: 'integer' }, { type: 'number', minimum: 5 }] } }),
      [{ a: 1 }, { a: 5.5 }],
      [[{ a: 6 }, 'a: fits more than one form']],
    ],
    [
      'references into itself',
      object({ tree: { $ref: '#/$defs/node' } }, { $defs: { node } }),
      [{ tree: { name: 'x', below: [{ name: 'y' }] } }],
      [[{ tree: { name: 'x', below: [{ name: 'y' }, {}] } }, 'tree.below.1.name: is missing']],
    ],
    [
      'definitions of draft 7',
      { $schema: DRAFT_7, ...object({ p: { $ref: '#/definitions/p' } }, { definitions: { p: { type: 'integer' } } }) },
      [{ p: 1 }],
      [[{ p: true }, 'p: must be integer, not true']],
    ],
    [
      'a tuple of draft 7',
      { $schema: DRAFT_7, ...object({ a: { type: 'array', items: [{ type: 'integer' }], additionalItems: false } }) },
      [{ a: [1] }],
      [[{ a: [1, 2] }, 'a: must not have more than 1 items']],
    ],
    [
      'a tuple of 2020-12',
      object({ a: { type: 'array', prefixItems: [{ type: 'integer' }], items: false } }),
      [{ a: [1] }],
      [[{ a: ['x'] }, 'a.0: must be integer, not "x"']],
    ],
    [
      'a form',
      object({ d: { type: 'string', format: 'date-time' } }),
      [{ d: '2024-01-02T03:04:05+02:00' }],
      [[{ d: 'now' }, 'd: must be of the form date-time, not "now"']],
    ],
    ['a form that nobody knows', object({ d: { type: 'string', format: 'shoe-size' } }), [{ d: 'x' }], []],
    [
      'a pattern',
      object({ a: { type: 'string', pattern: '^[a-z]+$' } }),
      [{ a: 'abc' }],
      [[{ a: 'A' }, 'a: must match ^[a-z]+$, not "A"']],
    ],
    [
      'a pattern with an escape that is too much',
      object({ a: { pattern: '^[\\w\\-.\\@]+$' } }),
      [{ a: 'a-b@c' }],
      [[{ a: ' ' }, 'a: must match ^[\\w\\-.\\@]+$, not " "']],
    ],
    [
      'a condition',
      object({ a: {} }, { if: { properties: { a: { const: 'x' } }, required: ['a'] }, [THEN]: { required: ['b'] } }),
      [{ a: 'x', b: 1 }, { a: 'y' }],
      [[{ a: 'x' }, 'b: is missing']],
    ],
    ['a denial', { type: 'object', not: { required: ['z'] } }, [{ a: 1 }], [[{ z: 1 }, ': is not allowed']]],
    [
      'a step',
      object({ a: { type: 'number', multipleOf: 0.01 } }),
      [{ a: 0.07 }, { a: 4.02 }],
      [[{ a: 0.005 }, 'a: must be multiple of 0.01']],
    ],
    [
      'one field that asks for another',
      { type: 'object', dependentRequired: { a: ['b'] } },
      [{ a: 1, b: 1 }, {}],
      [[{ a: 1 }, ': must have property b when property a is present']],
    ],
    [
      'what no part looked at',
      { type: 'object', allOf: [object({ a: {} })], unevaluatedProperties: false },
      [{ a: 1 }],
      [[{ b: 1 }, 'b: is not a known field']],
    ],
    [
      'names of fields',
      { type: 'object', propertyNames: { pattern: '^[a-z]+$' } },
      [{ a: 1 }],
      [[{ A: 1 }, 'A: must match ^[a-z]+$, not "A"']],
    ],
    [
      'a field that every object has',
      object({ constructor: { type: 'string' } }, { required: ['constructor'] }),
      [{ constructor: 'x' }],
      [[{}, 'constructor: is missing']],
    ],
    ['a schema that leaves out its type', { properties: { a: { type: 'integer' } } }, [{ a: 1 }], [[[], ': must be object, not []']]],
    [
      'words of others',
      object({ a: { type: 'integer', 'x-order': 1, deprecated: true, examples: [1] } }),
      [{ a: 1 }],
      [[{ a: '' }, 'a: must be integer, not ""']],
    ],
    [
      'two ids that are one',
      { $id: 'https://example.org/same', ...object({ a: { type: 'integer' } }) },
      [{ a: 1 }],
      [[{ a: {} }, 'a: must be integer, not {}']],
    ],
    [
      'the same id again',
      { $id: 'https://example.org/same', ...object({ a: { type: 'string' } }) },
      [{ a: 'x' }],
      [[{ a: 1 }, 'a: must be string, not 1']],
    ],
  ])('%s', (_, schema, good, bad) => {
    for (const value of good) expect(wrong(schema, value)).toEqual([]);
    for (const [value, message] of bad) expect(wrong(schema, value)).toContain(message);
  });

  it('are told once, however many parts of a union say the same', () => {
    const schema = object({ a: { anyOf: [{ type: 'integer' }, { type: 'null' }, { type: 'integer', minimum: 3 }] } });
    expect(wrong(schema, { a: 'x' })).toEqual(['a: must be integer or null, not "x"']);
  });

  it('are shown shortened', () => {
    const [text] = wrong(object({ a: { type: 'integer' } }), { a: 'y'.repeat(10_000) });
    expect(text!.length).toBeLessThan(120);
  });
});

describe('a schema that cannot be used', () => {
  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic.self = cyclic;
  it.each<[string, JsonSchema, RegExp]>([
    ['no object', { type: 'string' }, /its type is "string"/],
    ['an unknown type', object({ a: { type: 'strnig' } }), /type/],
    ['a reference to nowhere', object({ a: { $ref: '#/$defs/none' } }), /#\/\$defs\/none/],
    ['a reference to the network', object({ a: { $ref: 'https://example.org/a.json' } }), /example\.org/],
    ['a broken pattern', object({ a: { pattern: '(' } }), /[Rr]egular expression/],
    ['one that answers later', { $async: true, type: 'object' }, /asynchronous/],
    ['a circle', cyclic, /circular/],
    ['a novel', { type: 'object', description: 'x'.repeat(600_000) }, /characters/],
    ['a list', [] as unknown as JsonSchema, /no object/],
  ])('is refused: %s', (_, schema, reason) => {
    expect(() => compileSchema(schema)).toThrow(reason);
  });
});

describe('a hostile schema', () => {
  it('cannot take time without end by a pattern', () => {
    const schema = object({ a: { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' } });
    expect(wrong(schema, { a: 'a'.repeat(60) })).toEqual([': a text takes too long to match its pattern']);
    expect(wrong(schema, { a: 'abAa' })).toEqual([]);
  });

  it('cannot take time without end by many repetitions in a row', () => {
    const schema = object({ a: { type: 'string', pattern: '^a*a*a*a*a*a*a*a*b$' } });
    expect(wrong(schema, { a: 'aab' })).toEqual([]);
    expect(wrong(schema, { a: 'a'.repeat(20_000) })).toEqual([': a text takes too long to match its pattern']);
  });

  it('that refers to itself without end refuses', () => {
    expect(wrong({ type: 'object', $ref: '#' }, {})).toEqual([': they are nested too deeply to be checked']);
    expect(coerce({ a: '1' }, { $ref: '#' })).toEqual({ a: '1' });
  });

  it('does not make work multiply', () => {
    const schema = object(
      { a: { $ref: '#/$defs/u' } },
      { $defs: { u: { anyOf: Array.from({ length: 20 }, () => ({ $ref: '#/$defs/u' })) } } },
    );
    expect(coerce({ a: '1' }, schema)).toEqual({ a: '1' });
  });

  it('runs nothing that is written in it', () => {
    const key = '"];globalThis.broken=true;//';
    const schema = object({ [key]: { enum: [key], pattern: '.*' } }, { required: [key], description: key });
    expect(wrong(schema, { [key]: key })).toEqual([]);
    expect(wrong(schema, {})).toHaveLength(1);
    expect('broken' in globalThis).toBe(false);
  });
});

describe('whatever arguments come', () => {
  const schemas = [
    object(
      { a: { type: 'integer' }, b: { type: 'array', items: { $ref: '#' } }, c: { $ref: '#' } },
      { additionalProperties: { type: ['number', 'null'] } },
    ),
    object(
      { a: { oneOf: [{ const: 1 }, { type: 'string', format: 'email' }] }, b: { prefixItems: [{ type: 'boolean' }] } },
      { required: ['a'] },
    ),
    { type: 'object', allOf: [object({ a: { type: 'number', multipleOf: 0.1 } }), object({ b: { minItems: 1, uniqueItems: true } })] },
  ] satisfies JsonSchema[];

  it('mending and checking throw nothing, and what passes is still what passes after mending', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...schemas),
        fc.jsonValue({ maxDepth: 5 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.jsonValue()),
        (schema, any, fields) => {
          const { check } = compileSchema(schema);
          for (const value of [any, fields, JSON.parse(JSON.stringify(fields))]) {
            const issues = check(value);
            if (issues.length === 0) expect(check(coerce(value, schema))).toEqual([]);
            for (const { message } of issues) expect(message.length).toBeGreaterThan(0);
          }
        },
      ),
    );
  });

  it('they may be nested as deeply as they like', () => {
    const deep = JSON.parse(`${'{"c":'.repeat(50_000)}{}${'}'.repeat(50_000)}`) as unknown;
    expect(compileSchema(schemas[0]!).check(deep)).toEqual([{ path: [], message: 'they are nested too deeply to be checked' }]);
    expect(() => coerce(deep, schemas[0]!)).not.toThrow();
  });
});
