import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outcomeOf } from './mcpResult.js';
import { nameOf } from './mcpServer.js';
import { changesOf, chooseTools, cleaned, hashOf, type ListedTool } from './mcpTool.js';

const listed = (...names: string[]): ListedTool[] =>
  names.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } }));

describe('names', () => {
  it('are such that a model can call them, and different for different tools', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200 }), fc.string({ maxLength: 20 }), (name, prefix) => {
        const [tool] = chooseTools(listed(name), { prefix }, 's');
        expect(tool!.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(tool!.serverName).toBe(name);
      }),
    );
    const long = 'a'.repeat(80);
    const names = chooseTools(listed(`${long}1`, `${long}2`), {}, 's').map(({ name }) => name);
    expect(new Set(names).size).toBe(2);
  });

  it('that are the same for two tools are refused', () => {
    expect(() => chooseTools(listed('a b', 'a_b'), {}, 's')).toThrow(/both be called a_b/);
    expect(chooseTools(listed('a b', 'a_b'), { exclude: ['a b'] }, 's')).toHaveLength(1);
  });
});

describe('what a server says of its tools', () => {
  it('is shown as a person would see it, and no longer', () => {
    const hidden = 'Adds.\u202E\u200B\u{E0041}\u0007\uFEFF\n\tTwo.\r\uD800';
    expect(cleaned(hidden, 100)).toBe('Adds.\n\tTwo.');
    expect(cleaned('😀'.repeat(50), 99)).toBe(`${'😀'.repeat(49)}…`);
    expect(cleaned('zażółć 漢字 مرحبا', 100)).toBe('zażółć 漢字 مرحبا');
    const [tool] = chooseTools(
      [
        {
          name: 'a',
          description: 'x'.repeat(10_000),
          inputSchema: {
            type: 'object',
            properties: { description: { type: 'string', description: `y\u200B${'z'.repeat(1000)}`, enum: ['\u200Bkept'] } },
          },
        },
      ],
      {},
      's',
    );
    expect(tool!.description).toHaveLength(2001);
    expect(tool!.inputSchema).toEqual({
      type: 'object',
      properties: { description: { type: 'string', description: `y${'z'.repeat(499)}…`, enum: ['\u200Bkept'] } },
    });
  });

  it('is refused where it would fill every prompt', () => {
    const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`field${i}`, { type: 'string' }]));
    expect(() => chooseTools([{ name: 'wide', inputSchema: { type: 'object', properties } }], {}, 's')).toThrow(/"wide".*characters/);
  });

  it('has a hash of every word, in whatever order the tools come', () => {
    const [a, b] = listed('a', 'b');
    expect(hashOf([a!, b!])).toBe(hashOf([b!, a!]));
    expect(hashOf([a!])).toBe(hashOf([{ inputSchema: { type: 'object' }, description: 'Does a.', name: 'a' }]));
    const others = [
      { ...a!, description: 'Does a.\u200B' },
      { ...a!, inputSchema: { type: 'object', title: '' } },
      { ...a!, name: 'A' },
    ];
    expect(new Set([a!, ...others].map((tool) => hashOf([tool]))).size).toBe(4);
  });

  it('is compared, for a person', () => {
    expect(changesOf(listed('a', 'b'), listed('b', 'a'))).toBeUndefined();
    expect(changesOf(listed('a', 'b', 'c'), [{ name: 'b', inputSchema: { type: 'object' } }, ...listed('c', 'd')])).toBe(
      'its tools changed: d new; a gone; b changed',
    );
  });
});

describe('a result', () => {
  it('is text, whatever a server sends', () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.constantFrom('type', 'text', 'data', 'uri', 'resource', 'mimeType'), fc.jsonValue())),
        fc.jsonValue(),
        fc.boolean(),
        (content, structuredContent, isError) => {
          const outcome = outcomeOf({ content: content as Record<string, unknown>[], structuredContent, isError });
          expect(outcome.kind).toBe(isError ? 'error' : 'ok');
          expect('text' in outcome && typeof outcome.text).toBe('string');
        },
      ),
    );
  });
});

it.each([
  [{ command: 'npx', args: ['-y', '@scope/server-files', '/tmp'] }, 'server-files'],
  [{ command: '/usr/bin/node', args: ['/x/y/index.js'] }, 'index.js'],
  [{ command: '/opt/bin/weather' }, 'weather'],
  [{ command: 'npx' }, 'npx'],
  [{ url: 'https://example.org:8080/mcp' }, 'example.org:8080'],
])('a server without a name is called by its own: %j', (server, name) => {
  expect(nameOf(server)).toBe(name);
});
