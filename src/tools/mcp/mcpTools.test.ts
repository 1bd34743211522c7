import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { McpOptions } from './mcpServer.js';
import { type McpTools, mcpTools } from './mcpTools.js';
import { Calls, type FakeSetup, fakeServer, isRunning } from './testSupport.js';

const fake = fakeServer();
const open: McpTools[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
afterAll(() => fake.remove());

let logs = 0;
const logFile = (): string => join(fake.folder, `log-${logs++}`);
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trim().split('\n');

async function serve(setup: FakeSetup, options: McpOptions = {}): Promise<McpTools> {
  const served = await mcpTools(fake.program(setup), { name: 'fake', ...options });
  open.push(served);
  return served;
}

const pidOf = async (calls: Calls): Promise<number> => Number(await calls.text('pid'));

describe('the tools of a server', () => {
  it('are listed over all pages, described and called', async () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
    const { tools, summary } = await serve({
      tools: ['count', 'pid', { name: 'echo', description: 'Says it again.', inputSchema }],
      page: 1,
    });
    expect(tools.map(({ name, source }) => [name, source])).toEqual(['count', 'pid', 'echo'].map((name) => [name, 'MCP server fake']));
    expect(summary.join('\n')).toMatch(
      /^MCP server fake \("fake 1", .*\): 3 tools, hash [0-9a-f]{12}\n.*\n.*\n {2}echo: "Says it again\."$/,
    );
    const calls = new Calls(tools);
    expect(await calls.text('echo', { n: '7' })).toBe('{"n":7}');
    expect(await calls.text('echo', { n: 'x' })).toBe('Error: wrong arguments for echo: "n": must be integer, not "x".');
    expect(await calls.text('count')).toBe('1');
    expect(await calls.text('count')).toBe('2');
  });

  it('may be chosen, left out, and put under a prefix', async () => {
    const tools = ['echo', 'count', 'pid'];
    const names = async (options: McpOptions): Promise<string[]> => (await serve({ tools }, options)).tools.map(({ name }) => name);
    expect(await names({ include: ['pid', 'echo'] })).toEqual(['pid', 'echo']);
    expect(await names({ exclude: ['count'], prefix: 'x_' })).toEqual(['x_echo', 'x_pid']);
    await expect(serve({ tools }, { include: ['ech'] })).rejects.toThrow(
      expect.objectContaining({ message: expect.stringContaining('no tool ech'), hint: 'It has: echo, count, pid.' }),
    );
  });

  it('are called by the server’s own name where a model calls them by another', async () => {
    const { tools } = await serve({ tools: ['echo.all'] }, { prefix: 'my ' });
    expect(tools.map(({ name }) => name)).toEqual(['my_echo_all']);
    expect(await new Calls(tools).text('my_echo_all', { a: 1 })).toBe('{"a":1}');
  });

  it('are refused where two would have one name', async () => {
    await expect(serve({ tools: ['echo.a', 'echo_a'] })).rejects.toThrow(/"echo\.a" and "echo_a".*both be called echo_a/);
  });

  it('are refused by name where a schema cannot be compiled', async () => {
    const inputSchema = { type: 'object', properties: { a: { $ref: '#/nowhere' } } };
    await expect(serve({ tools: [{ name: 'echo', inputSchema }] })).rejects.toThrow(/tool "echo".*nowhere/);
  });

  it('are refused where they are not those that were looked at', async () => {
    const { hash } = await serve({ tools: ['echo'] });
    await serve({ tools: ['echo'] }, { hash });
    await expect(serve({ tools: [{ name: 'echo', description: 'Obey.' }] }, { hash })).rejects.toThrow(new RegExp(`not ${hash}`));
  });

  it('are refused where there is none', async () => {
    await expect(serve({ tools: [] })).rejects.toThrow(/fake offers no tools/);
    await expect(serve({ tools: ['echo'] }, { exclude: ['echo'] })).rejects.toThrow(/fake offers no tools/);
  });

  it('may end a rollout', async () => {
    const { tools } = await serve({ tools: ['echo', 'count'] }, { final: ['count'] });
    expect(tools.map(({ final = false }) => final)).toEqual([false, true]);
    await expect(serve({ tools: ['echo'] }, { final: ['eco'] })).rejects.toThrow(/final names eco/);
  });
});

describe('a program', () => {
  it('sees PATH, HOME and what it is given, and nothing else of ours', async () => {
    process.env.TOOLWISE_TEST_SECRET = 'x';
    try {
      const { tools } = await serve({ tools: ['environment'], env: { GIVEN: 'y' } });
      const seen = JSON.parse(await new Calls(tools).text('environment')) as string[];
      expect(seen.filter((name) => !name.startsWith('__'))).toEqual(['GIVEN', 'HOME', 'PATH']);
    } finally {
      delete process.env.TOOLWISE_TEST_SECRET;
    }
  });

  it('ends with what it started', async () => {
    const served = await serve({ tools: ['pid', 'child'] });
    const calls = new Calls(served.tools);
    const pids = [await pidOf(calls), Number(await calls.text('child'))];
    expect(pids.map(isRunning)).toEqual([true, true]);
    await served.close();
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
    expect(await calls.text('pid')).toMatch(/^infra: .*closed/);
  });

  it('that is not there, ends at once, or answers nothing is told, and leaves nothing', async () => {
    await expect(mcpTools({ command: 'no-such-program-of-ours' })).rejects.toThrow(/no-such-program-of-ours could not be started/);
    await expect(
      mcpTools({ command: process.execPath, args: ['-e', 'console.error("no key"); process.exit(1)'] }, { name: 'x' }),
    ).rejects.toThrow(/x could not be started: .*no key/);
    await expect(mcpTools({ command: 'sh', args: ['-c', 'exec <&-; sleep 0.1; echo no key >&2; exit 4'] }, { name: 'y' })).rejects.toThrow(
      /y could not be started: (the server has ended|Connection closed)\. It said: no key/,
    );
    await expect(serve({ silent: true }, { startTimeoutSeconds: 0.5 })).rejects.toThrow(/fake could not be started: .*timed out/i);
  });
});

describe('what a server answers', () => {
  const tools = [
    'fail',
    'fail_silently',
    'structured',
    'refuse',
    'megabytes',
    'bytes',
    'noise',
    'slow',
    'hang',
    'echo',
    'endless',
    'count',
  ];

  it('is read as it is, an error as an error of the call', async () => {
    const calls = new Calls((await serve({ tools })).tools);
    expect(await calls.reply('fail')).toMatchObject({ kind: 'executed', success: false, text: 'no such file' });
    expect(await calls.reply('fail_silently')).toMatchObject({ success: false, text: 'Error: the call failed.' });
    expect(await calls.reply('refuse')).toMatchObject({ success: false, text: expect.stringContaining('a must be even') });
    expect(await calls.reply('structured')).toMatchObject({ success: true, text: '{"a":[1,2]}' });
    expect((await calls.text('megabytes')).length).toBe(3_000_000);
    expect(await calls.text('bytes')).toMatch(/^a\uFFFD+\(b$/);
    expect(await calls.text('noise')).toBe('quiet');
  });

  it('may be late: the call is stopped, and the next one answered', async () => {
    const calls = new Calls((await serve({ tools }, { timeoutSeconds: 0.1 })).tools);
    expect(await calls.reply('hang')).toMatchObject({ success: false, text: 'Error: the call was stopped after 0.1 s.' });
    expect(await calls.reply('slow', { ms: 300 })).toMatchObject({ success: false });
    expect(await calls.text('echo', {})).toBe('{}');
  });

  it('may be longer than can be held: the call is told, and the server started again', async () => {
    const warnings: string[] = [];
    const calls = new Calls((await serve({ tools }, { onWarning: (text) => warnings.push(text) })).tools);
    expect(await calls.text('count')).toBe('1');
    expect(await calls.reply('endless')).toMatchObject({ success: false, text: expect.stringContaining('more than 64 MB') });
    expect(await calls.text('count')).toBe('1');
    expect(warnings).toHaveLength(1);
  });

  it('does not hold up a rollout that is stopped', async () => {
    const stop = new AbortController();
    const calls = new Calls((await serve({ tools })).tools, { signal: stop.signal });
    const running = calls.text('hang');
    setTimeout(() => stop.abort(new Error('enough')), 20);
    await expect(running).rejects.toThrow('enough');
  });
});

describe('a server that dies', () => {
  it('takes the calls under way with it, unscored, and is started again for the next', async () => {
    const warnings: string[] = [];
    const log = logFile();
    const { tools } = await serve({ tools: ['die', 'hang', 'count'], log }, { onWarning: (text) => warnings.push(text) });
    const calls = new Calls(tools);
    expect(await calls.text('count')).toBe('1');
    const hanging = new Calls(tools).text('hang');
    await expect.poll(() => linesOf(log).includes('hang')).toBe(true);
    expect(await calls.text('die')).toMatch(/^infra: MCP server fake: /);
    expect(await hanging).toMatch(/^infra: /);
    // All who find it dead share one new one.
    const texts = await Promise.all([1, 2, 3].map(() => new Calls(tools).text('count')));
    expect(texts.sort()).toEqual(['1', '2', '3']);
    expect(linesOf(log).filter((line) => line === 'start')).toHaveLength(2);
    expect(linesOf(log).filter((line) => line === 'die' || line === 'hang')).toHaveLength(2);
    expect(warnings).toEqual([expect.stringContaining('fake was started again')]);
  });

  it('by a stranger’s hand, in the middle of a call, is no answer', async () => {
    const { tools } = await serve({ tools: ['pid', 'hang', 'count'] });
    const calls = new Calls(tools);
    const pid = await pidOf(calls);
    const hanging = calls.text('hang');
    setTimeout(() => process.kill(pid, 'SIGKILL'), 50);
    expect(await hanging).toMatch(/^infra: /);
    expect(await calls.text('count')).toBe('1');
  });

  it('and does not come back is told to each call, never scored', async () => {
    const flag = logFile();
    const program = fake.program({ tools: ['die', 'count'] });
    // Starts once.
    const once = `const fs = require('node:fs'); if (fs.existsSync(${JSON.stringify(flag)})) process.exit(1); fs.writeFileSync(${JSON.stringify(flag)}, ''); import(${JSON.stringify(program.args![0])});`;
    const served = await mcpTools({ command: process.execPath, args: ['-e', once, 'program', program.args![1]!] }, { name: 'once' });
    open.push(served);
    const calls = new Calls(served.tools);
    expect(await calls.text('count')).toBe('1');
    await calls.text('die');
    expect(await calls.text('count')).toMatch(/^infra: the MCP server once could not be started/);
    expect(await calls.text('count')).toMatch(/^infra: /);
  });

  it('while it lives on, answering nothing, is ended and started again', async () => {
    const { tools } = await serve({ tools: ['freeze', 'pid'] }, { timeoutSeconds: 0.2 });
    const calls = new Calls(tools);
    const pid = await pidOf(calls);
    expect(await calls.text('freeze')).toMatch(/^infra: .*does not answer/);
    expect(await pidOf(calls)).not.toBe(pid);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});

describe('many calls', () => {
  it('share the places of the server, whichever tools they are of', async () => {
    const { tools } = await serve({ tools: ['slow', 'echo'] }, { concurrency: 2 });
    expect(tools[0]!.concurrency).toBe(tools[1]!.concurrency);
  });

  it('at once give no warning of listeners', async () => {
    const warned: Error[] = [];
    const listen = (warning: Error): void => void warned.push(warning);
    process.on('warning', listen);
    const { tools } = await serve({ tools: ['echo'] });
    const texts = await Promise.all(Array.from({ length: 1000 }, (_, i) => new Calls(tools).text('echo', { i })));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(texts).toEqual(Array.from({ length: 1000 }, (_, i) => JSON.stringify({ i })));
    expect(warned).toEqual([]);
  });
});

describe('tools that change meanwhile', () => {
  it('are told, and the run keeps those that it began with', async () => {
    const warnings: string[] = [];
    const { tools } = await serve({ tools: ['grow', 'echo'] }, { onWarning: (text) => warnings.push(text) });
    await new Calls(tools).text('grow');
    await expect.poll(() => warnings).toEqual([expect.stringContaining('grown new')]);
    expect(tools.map(({ name }) => name)).toEqual(['grow', 'echo']);
  });
});

describe('a server of its own for each rollout', () => {
  it('keeps what the rollout did, apart from others, and ends with it', async () => {
    const { tools } = await serve({ tools: ['count', 'pid'] }, { perRollout: true });
    const [one, two] = [new Calls(tools), new Calls(tools)];
    expect(await one.text('count')).toBe('1');
    expect(await one.text('count')).toBe('2');
    expect(await two.text('count')).toBe('1');
    const pids = [await pidOf(one), await pidOf(two)];
    expect(pids[0]).not.toBe(pids[1]);
    expect(await one.close()).toEqual([]);
    await expect.poll(() => pids.map(isRunning)).toEqual([false, true]);
    expect(await two.close()).toEqual([]);
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
  });

  it('is not replaced: what it kept is lost', async () => {
    const { tools } = await serve({ tools: ['count', 'die'] }, { perRollout: true });
    const calls = new Calls(tools);
    await calls.text('count');
    expect(await calls.text('die')).toMatch(/^infra: /);
    expect(await calls.text('count')).toMatch(/^infra: /);
    await calls.close();
  });

  it('waits for a place, and is ended with all others', async () => {
    const served = await serve({ tools: ['pid'] }, { perRollout: true, concurrency: 1 });
    const [one, two] = [new Calls(served.tools), new Calls(served.tools)];
    const first = await pidOf(one);
    const waiting = pidOf(two);
    await one.close();
    const second = await waiting;
    expect(second).not.toBe(first);
    await served.close();
    await expect.poll(() => isRunning(second)).toBe(false);
    await two.close();
  });

  it('that does not start is no score', async () => {
    const flag = logFile();
    const program = fake.program({ tools: ['count'] });
    const once = `const fs = require('node:fs'); if (fs.existsSync(${JSON.stringify(flag)})) process.exit(1); fs.writeFileSync(${JSON.stringify(flag)}, ''); import(${JSON.stringify(program.args![0])});`;
    const served = await mcpTools({ command: process.execPath, args: ['-e', once, 'program', program.args![1]!] }, { perRollout: true });
    open.push(served);
    const calls = new Calls(served.tools);
    expect(await calls.text('count')).toMatch(/^infra: tool "count" could not be set up: .*could not be started/);
    await calls.close();
  });
});
