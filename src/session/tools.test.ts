import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { resolveRecipe } from '../recipe/load.js';
import type { RecipeInput } from '../recipe/schema.js';
import type { AnyTool } from '../tools/callTool.js';
import { Calls, type FakeSetup, fakeServer, isRunning } from '../tools/mcp/testSupport.js';
import { tool } from '../tools/tool.js';
import { type OpenTools, openTools } from './tools.js';

const fake = fakeServer();
afterAll(() => fake.remove());

type Entry = NonNullable<RecipeInput['mcp']>[number];

/** An entry of the recipe that starts the fake server. */
const entry = (name: string, setup: FakeSetup, more: Partial<Entry> = {}): Entry => {
  const { command, args = [] } = fake.program(setup);
  return { name, command, args: [...args], ...more };
};

async function opened<T>(mcp: Entry[], work: (open: OpenTools, lines: string[]) => Promise<T>, tools: AnyTool[] = []): Promise<T> {
  const recipe = resolveRecipe({
    name: 'x',
    model: 'nano',
    stages: ['rl'],
    tools: [],
    problems: { train: 'calc', evaluation: 'calc' },
    rl: { steps: 1 },
    mcp,
  });
  const lines: string[] = [];
  const open = await openTools({ recipe, tools, log: (line) => lines.push(line), warn: (line) => lines.push(`warning: ${line}`) });
  try {
    return await work(open, lines);
  } finally {
    await open.close();
  }
}

const own = tool({ name: 'own', description: '', parameters: z.object({}), execute: () => 'own' });

describe('MCP servers of a recipe', () => {
  it('are started, listed with their hash and their tools’ sources, and ended', async () => {
    const pid = await opened(
      [entry('one', { tools: ['pid'] }), entry('two', { tools: [{ name: 'pid', description: 'Its number.' }] }, { prefix: 'two_' })],
      async ({ toolbox, hashes }, lines) => {
        expect(lines.at(-1)).toBe('tools: pid (MCP server one), two_pid (MCP server two), own (your program)');
        expect(lines).toContain('  two_pid: "Its number."');
        for (const name of ['one', 'two']) expect(lines.join('\n')).toMatch(new RegExp(`MCP server ${name} .*hash ${hashes[name]}`));
        const number = Number(await new Calls(toolbox.tools).text('pid'));
        expect(isRunning(number)).toBe(true);
        return number;
      },
      [own],
    );
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('have their calls remembered or not executed, which is noted', async () => {
    const log = join(fake.folder, 'calls');
    await opened(
      [entry('one', { tools: ['count', 'echo', 'pid'], log }, { cache: 'group', dryRun: ['echo'] })],
      async ({ toolbox, notes }) => {
        for (const trajectoryId of ['g/0', 'g/1']) {
          const calls = new Calls(toolbox.tools, { groupId: 'g', trajectoryId });
          expect(await calls.text('count')).toBe('1');
          expect(await calls.text('echo', { a: 1 })).toBe('Done.');
        }
        expect(await new Calls(toolbox.tools, { groupId: 'h', trajectoryId: 'h/0' }).text('count')).toBe('2');
        expect(notes).toEqual([
          'tool count: equal calls of a group are executed once (cache)',
          'tool echo: dry run, its calls are answered and not executed',
          'tool pid: equal calls of a group are executed once (cache)',
        ]);
      },
    );
    expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual(['start', 'count', 'count']);
    await opened([entry('one', { tools: ['count'] }, { dryRun: true })], async ({ toolbox }) => {
      expect(await new Calls(toolbox.tools).text('count')).toBe('Done.');
    });
  });

  it('get variables of ours by name only', async () => {
    process.env.TOOLWISE_TEST_TOKEN = 'x';
    try {
      const more = { env: { GIVEN: 'y' }, envFrom: ['TOOLWISE_TEST_TOKEN'] };
      await opened([entry('one', { tools: ['environment'] }, more)], async ({ toolbox }) => {
        const seen = JSON.parse(await new Calls(toolbox.tools).text('environment')) as string[];
        expect(seen.filter((name) => !name.startsWith('__'))).toEqual(['GIVEN', 'HOME', 'PATH', 'TOOLWISE_TEST_TOKEN']);
      });
    } finally {
      delete process.env.TOOLWISE_TEST_TOKEN;
    }
    await expect(opened([entry('one', {}, { envFrom: ['TOOLWISE_TEST_TOKEN'] })], async () => undefined)).rejects.toThrow(
      /one needs the variable TOOLWISE_TEST_TOKEN/,
    );
  });

  it('are all ended where one does not start', async () => {
    const log = join(fake.folder, 'started');
    const bad = { name: 'bad', command: process.execPath, args: ['-e', 'process.exit(1)'] };
    await expect(opened([entry('good', { tools: ['pid'], log }), bad], async () => undefined)).rejects.toThrow(
      /MCP server bad could not be started/,
    );
    expect(existsSync(log)).toBe(true);
  });

  it.each<[string, Entry[], AnyTool[], RegExp]>([
    [
      'two servers with a tool of one name',
      [entry('one', { tools: ['pid'] }), entry('two', { tools: ['pid'] })],
      [],
      /two tools are called pid: one of MCP server one, one of MCP server two/,
    ],
    [
      'a server with the name of one of ours',
      [entry('one', { tools: ['own'] })],
      [own],
      /two tools are called own: one of MCP server one, one of your program/,
    ],
    ['a dry run of what is not there', [entry('one', { tools: ['pid'] }, { dryRun: ['pay'] })], [], /dryRun names pay/],
  ])('are refused: %s', async (_, mcp, tools, reason) => {
    await expect(opened(mcp, async () => undefined, tools)).rejects.toThrow(reason);
  });
});

describe('a section mcp that is wrong', () => {
  it.each<[string, Entry, RegExp]>([
    ['neither program nor address', { name: 'a' }, /mcp\.0 \(a\) has neither command nor url/],
    ['both', { name: 'a', command: 'x', url: 'http://127.0.0.1/mcp' }, /both command and url/],
    ['headers of a program', { name: 'a', command: 'x', headers: { A: 'b' } }, /has headers, which goes with url/],
    ['a folder of an address', { name: 'a', url: 'http://127.0.0.1/mcp', cwd: '.' }, /has cwd, which goes with command/],
    [
      'an unknown key',
      { name: 'a', command: 'x', concurency: 3 } as Entry,
      /unknown key mcp\.0\.concurency\. Did you mean mcp\.0\.concurrency\?/,
    ],
    [
      'a number as a variable',
      { name: 'a', command: 'x', env: { PORT: 3 } } as unknown as Entry,
      /mcp\.0\.env\.PORT must be text; it is 3\. Put it in quotes/,
    ],
    ['no such cache', { name: 'a', command: 'x', cache: 'all' } as unknown as Entry, /mcp\.0\.cache must be one of run, group, rollout/],
    ['no address', { name: 'a', url: 'x' }, /mcp\.0\.url must be an address/],
  ])('is refused by the name of the place: %s', (_, server, reason) => {
    const recipe = {
      name: 'x',
      model: 'nano',
      stages: ['rl'] as const,
      problems: { train: 'calc', evaluation: 'calc' },
      rl: { steps: 1 },
      mcp: [server],
    };
    expect(() => resolveRecipe({ ...recipe, stages: ['rl'] })).toThrow(reason);
  });

  it('is refused: two servers of one name, and servers beside an agent that brings its own tools', () => {
    const recipe: RecipeInput = {
      name: 'x',
      model: 'nano',
      stages: ['rl'],
      problems: { train: 'calc', evaluation: 'calc' },
      rl: { steps: 1 },
    };
    const server = { name: 'a', command: 'x' };
    expect(() => resolveRecipe({ ...recipe, mcp: [server, server] })).toThrow(/two servers called a/);
    expect(() => resolveRecipe({ ...recipe, mcp: [server], agent: { command: ['x'] } })).toThrow(/an agent brings its own/);
  });
});
