/** Against the protocol's own public test server, as a program and over HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { McpServer } from './mcpServer.js';
import { type McpTools, mcpTools } from './mcpTools.js';
import { Calls } from './testSupport.js';

const SCRIPT = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

interface HttpServer {
  readonly url: string;
  readonly process: ChildProcess;
  end(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startHttp(port: number): Promise<HttpServer> {
  const child = spawn(process.execPath, [SCRIPT, 'streamableHttp'], {
    env: { ...process.env, PORT: `${port}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the server ended')));
    child.stderr!.on('data', (chunk: Buffer) => String(chunk).includes('listening') && resolve());
  });
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  return { url: `http://127.0.0.1:${port}/mcp`, process: child, end };
}

describe.each(['as a program', 'over HTTP'])('the public test server %s', (how) => {
  let http: HttpServer | undefined;
  let served: McpTools;
  let calls: Calls;

  beforeAll(async () => {
    if (how === 'over HTTP') http = await startHttp(await freePort());
    const server: McpServer = http ? { url: http.url } : { command: process.execPath, args: [SCRIPT, 'stdio'] };
    served = await mcpTools(server, { name: 'everything', timeoutSeconds: 2 });
    calls = new Calls(served.tools);
  }, 60_000);
  afterAll(async () => {
    await served.close();
    await http?.end();
  });

  it('lists its tools', () => {
    const names = served.tools.map(({ name }) => name);
    for (const name of ['echo', 'get-sum', 'get-tiny-image', 'get-structured-content', 'trigger-long-running-operation'])
      expect(names).toContain(name);
    expect(served.summary[0]).toContain('everything ("mcp-servers/everything 2.0.0"');
  });

  it('answers, with arguments mended and checked before', async () => {
    expect(await calls.text('echo', { message: 'hé' })).toBe('Echo: hé');
    expect(await calls.text('get-sum', { a: '1', b: 2 })).toBe('The sum of 1 and 2 is 3.');
    expect(await calls.text('get-sum', { a: 'one', b: 2 })).toBe('Error: wrong arguments for get-sum: "a": must be number, not "one".');
    expect(await calls.text('get-structured-content', { location: 'Oslo' })).toContain('"location": must be one of');
  });

  it('answers with more than text, of which a model is told', async () => {
    expect(await calls.text('get-tiny-image')).toMatch(/\[image image\/png, \d+ bytes: not shown, only text can be read\]/);
    expect(await calls.text('get-resource-links', { count: 1 })).toMatch(/\[link to demo:.*: not shown/);
    expect(await calls.text('get-resource-reference', { resourceType: 'Text', resourceId: 1 })).toContain('This is a plaintext resource');
    expect(await calls.text('get-resource-reference', { resourceType: 'Blob', resourceId: 1 })).toMatch(/\[file demo:.*: not shown/);
    expect(JSON.parse(await calls.text('get-structured-content', { location: 'Chicago' }))).toHaveProperty('temperature');
  });

  it('may take longer than it may, and answers the next call', async () => {
    const late = await calls.reply('trigger-long-running-operation', { duration: 10, steps: 5 });
    expect(late).toMatchObject({ success: false, text: 'Error: the call was stopped after 2 s.' });
    expect(await calls.text('echo', { message: 'on' })).toBe('Echo: on');
  });

  it('takes many calls at once', async () => {
    const texts = await Promise.all(Array.from({ length: 100 }, (_, i) => new Calls(served.tools).text('get-sum', { a: i, b: 1 })));
    expect(texts).toEqual(Array.from({ length: 100 }, (_, i) => `The sum of ${i} and 1 is ${i + 1}.`));
  });
});

describe('over HTTP', () => {
  it('a server that was started again knows no session of before: a new one is opened, the call sent once', async () => {
    const port = await freePort();
    const first = await startHttp(port);
    const warnings: string[] = [];
    const served = await mcpTools({ url: first.url }, { onWarning: (text) => warnings.push(text) });
    let second: HttpServer | undefined;
    try {
      const calls = new Calls(served.tools);
      await first.end();
      expect(await calls.text('echo', { message: 'a' })).toMatch(/^infra: /);
      second = await startHttp(port);
      expect(await calls.text('echo', { message: 'b' })).toBe('Echo: b');
      await second.end();
      second = await startHttp(port);
      expect(await calls.text('echo', { message: 'c' })).toBe('Echo: c');
      expect(warnings.length).toBeGreaterThan(0);
    } finally {
      await served.close();
      await second?.end();
      await first.end();
    }
  }, 60_000);

  it('an address that is none, one where nobody listens, and headers in the clear are refused', async () => {
    await expect(mcpTools({ url: 'ftp://x' })).rejects.toThrow(/no address/);
    await expect(mcpTools({ url: `http://127.0.0.1:${await freePort()}/mcp` })).rejects.toThrow(/could not be started/);
    await expect(mcpTools({ url: 'http://example.org/mcp', headers: { Authorization: 'x' } })).rejects.toThrow(
      /not sent over plain http to example\.org/,
    );
  });
});
