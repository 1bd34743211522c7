/** For tests: an MCP server of ours that misbehaves on demand, a program without dependencies; and calls through the real `ToolSession`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reply } from '../../domain/turn.js';
import { type AnyTool, Toolbox, ToolSession } from '../callTool.js';
import type { McpProgram } from './mcpServer.js';

const PROGRAM = String.raw`
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const { tools = [], page = 100, silent = false, log } = JSON.parse(process.argv[2] ?? '{}');
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
if (log) appendFileSync(log, 'start\n');
let frozen = silent;
let count = 0;
const text = (text, more = {}) => ({ content: [{ type: 'text', text }], ...more });
const does = {
  echo: (args) => text(JSON.stringify(args)),
  count: () => text(String(++count)),
  pid: () => text(String(process.pid)),
  environment: () => text(JSON.stringify(Object.keys(process.env).sort())),
  fail: () => text('no such file', { isError: true }),
  fail_silently: () => ({ content: [], isError: true }),
  structured: () => ({ content: [], structuredContent: { a: [1, 2] } }),
  refuse: () => { throw { code: -32602, message: 'a must be even' }; },
  die: () => process.exit(3),
  hang: () => undefined,
  freeze: () => { frozen = true; },
  megabytes: () => text('x'.repeat(3_000_000)),
  endless: () => { for (let i = 0; i < 70; i++) process.stdout.write('y'.repeat(1 << 20)); },
  bytes: () => { process.stdout.write(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":' + current + ',"result":{"content":[{"type":"text","text":"a'), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from('b"}]}}\n')])); },
  noise: () => { process.stdout.write('starting up\n{"not": "ours"}\n\n'); return text('quiet'); },
  slow: ({ ms }) => new Promise((resolve) => setTimeout(() => resolve(text('late')), ms)),
  child: () => text(String(spawn('sleep', ['1000']).pid)),
  grow: () => {
    tools.push({ name: 'grown' });
    setTimeout(() => send({ method: 'notifications/tools/list_changed' }), 5);
    return text('grown');
  },
};
let current;
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (frozen || id === undefined) return;
  current = id;
  try {
    if (method === 'initialize') return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'fake', version: '1' } } });
    if (method === 'ping') return send({ id, result: {} });
    if (method === 'tools/list') {
      const from = Number(params?.cursor ?? 0);
      const some = tools.slice(from, from + page).map((tool) => ({ inputSchema: { type: 'object' }, ...tool }));
      return send({ id, result: { tools: some, ...(from + page < tools.length && { nextCursor: String(from + page) }) } });
    }
    if (method === 'tools/call') {
      if (log) appendFileSync(log, params.name + '\n');
      const result = await does[params.name.split('.')[0]](params.arguments ?? {});
      if (result !== undefined) send({ id, result });
    }
  } catch (error) {
    send({ id, error: { code: error.code ?? -32603, message: error.message } });
  }
});
`;

export interface FakeServer {
  /** Tools may be a name alone. */
  program(setup?: FakeSetup): McpProgram;
  readonly folder: string;
  remove(): void;
}

export interface FakeSetup {
  readonly tools?: readonly (string | { readonly name: string; readonly description?: string; readonly inputSchema?: object })[];
  /** Tools of one page of the list. */
  readonly page?: number;
  /** Answers nothing at all. */
  readonly silent?: boolean;
  /** A file that gets a line for each start and each call. */
  readonly log?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function fakeServer(): FakeServer {
  const folder = mkdtempSync(join(tmpdir(), 'toolwise-mcp-'));
  const file = join(folder, 'server.mjs');
  writeFileSync(file, PROGRAM);
  return {
    folder,
    program: ({ env, tools = [], ...setup } = {}) => ({
      command: process.execPath,
      args: [file, JSON.stringify({ ...setup, tools: tools.map((tool) => (typeof tool === 'string' ? { name: tool } : tool)) })],
      ...(env && { env }),
    }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Calls as a rollout makes them. */
export class Calls {
  readonly #session: ToolSession;

  constructor(
    tools: readonly AnyTool[],
    options: { readonly trajectoryId?: string; readonly groupId?: string; readonly signal?: AbortSignal } = {},
  ) {
    const { trajectoryId = 't', signal = new AbortController().signal, groupId } = options;
    this.#session = new ToolSession(new Toolbox(tools), {
      problem: { id: 'p', question: 'q' },
      trajectoryId,
      ...(groupId !== undefined && { groupId }),
      signal,
      timeoutSeconds: 30,
      shorten: (text) => text,
    });
  }

  /** The reply, or `infra: ` and why there is none. */
  async reply(name: string, args: Record<string, unknown> = {}): Promise<Reply | string> {
    const outcome = await this.#session.call({ kind: 'call', name, arguments: args, repairs: [] });
    return outcome.kind === 'infra' ? `infra: ${outcome.error}` : outcome.reply;
  }

  /** What the model reads, errors included; `infra: ` and why where it reads nothing. */
  async text(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const reply = await this.reply(name, args);
    return typeof reply === 'string' ? reply : reply.text;
  }

  close(): Promise<string[]> {
    return this.#session.close();
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // Ended, and nobody has asked how.
    return process.platform !== 'linux' || !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
