/**
 * One connection to an MCP server: opened, asked for its tools, called, closed. Says of each call whether the server answered, was never
 * reached, or was lost on the way. Opens no other in its place (`mcpLink.ts`), and offers the server nothing: no model, no files, no form.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, ProtocolError, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { packageRoot } from '../../setup/paths.js';
import { UserError } from '../../userError.js';
import type { ToolOutcome } from '../tool.js';
import { httpTransport } from './httpTransport.js';
import { type McpResult, outcomeOf } from './mcpResult.js';
import { isProgram, type McpServer } from './mcpServer.js';
import type { ListedTool } from './mcpTool.js';
import { MessageTooLong, ProgramTransport } from './programTransport.js';

/** `unreached`: the server cannot have seen the call, so that it may be sent again. */
export type McpCall = ToolOutcome | { readonly kind: 'unreached'; readonly error: string };

export interface ConnectionOptions {
  /** For messages. */
  readonly name: string;
  /** Until it must have answered first. */
  readonly startTimeoutSeconds: number;
  /** Told when the server says so; the list is the new one. */
  readonly onToolsChanged?: ((connection: McpConnection) => void) | undefined;
  readonly signal?: AbortSignal;
}

/** Whether a server that let a call's time pass is alive. */
const PING_SECONDS = 5;
/** Pages of a list of tools. */
const MOST_PAGES = 64;

export class McpConnection {
  readonly #client: Client;
  readonly #transport: ProgramTransport | StreamableHTTPClientTransport;
  readonly #name: string;
  #listed: readonly ListedTool[] = [];
  #dead: string | undefined;
  #tooLong: string | undefined;
  #closing = false;

  private constructor(server: McpServer, options: ConnectionOptions) {
    this.#name = options.name;
    this.#transport = isProgram(server) ? new ProgramTransport(server) : httpTransport(server);
    this.#client = new Client({ name: 'toolwise', version: ownVersion() }, { listMaxPages: MOST_PAGES });
    this.#client.onclose = () => {
      if (!this.#closing) this.#dead ??= this.#why('the server has ended');
    };
    this.#client.onerror = (error) => {
      if (error instanceof MessageTooLong) this.#tooLong = error.message;
    };
    const { onToolsChanged } = options;
    if (onToolsChanged) this.#client.setNotificationHandler('notifications/tools/list_changed', () => this.#relist(onToolsChanged));
  }

  /** Opened, with its list of tools. @throws UserError with what the server said; the signal's reason */
  static async open(server: McpServer, options: ConnectionOptions): Promise<McpConnection> {
    const connection = new McpConnection(server, options);
    const timeout = options.startTimeoutSeconds * 1000;
    try {
      await connection.#client.connect(connection.#transport, {
        timeout,
        maxTotalTimeout: timeout,
        ...(options.signal && { signal: options.signal }),
      });
      await connection.list(options.startTimeoutSeconds);
      return connection;
    } catch (error) {
      await connection.close();
      // Asked afterwards: what a program says as it ends may come later than its end.
      const message = connection.#why((error as Error).message);
      options.signal?.throwIfAborted();
      throw new UserError(`the MCP server ${options.name} could not be started: ${message}`, hintFor(server, error));
    }
  }

  /** Why it can be used no more; undefined while it can. */
  get dead(): string | undefined {
    return this.#dead;
  }

  /** What the server calls itself, for a person. */
  get title(): string {
    const { name = '', version = '' } = this.#client.getServerVersion() ?? {};
    return `${name} ${version}`.trim().slice(0, 100);
  }

  get tools(): readonly ListedTool[] {
    return this.#listed;
  }

  async list(timeoutSeconds: number): Promise<readonly ListedTool[]> {
    const { tools } = await this.#client.listTools(undefined, { timeout: timeoutSeconds * 1000, cacheMode: 'refresh' });
    this.#listed = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    return this.#listed;
  }

  /**
   * @param tool as the server calls it
   * @throws the signal's reason
   */
  async call(tool: ListedTool, args: Record<string, unknown>, timeoutSeconds: number, signal: AbortSignal): Promise<McpCall> {
    if (this.#dead !== undefined) return { kind: 'unreached', error: this.#dead };
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(new Error('its time is up')), timeoutSeconds * 1000);
    try {
      const result = await this.#client.callTool(
        { name: tool.name, arguments: args },
        {
          signal: AbortSignal.any([signal, timer.signal]),
          // Ours comes first.
          timeout: (timeoutSeconds + PING_SECONDS) * 1000,
          // Without its schema of results: what the server answered is read as it is.
          toolDefinition: { name: tool.name, inputSchema: tool.inputSchema as { type: 'object' } },
        },
      );
      return outcomeOf(result as McpResult);
    } catch (error) {
      signal.throwIfAborted();
      if (timer.signal.aborted) return await this.#late(timeoutSeconds);
      return this.#failed(error);
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Ends it; never throws. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#dead ??= 'it was closed';
    if (this.#transport instanceof StreamableHTTPClientTransport) await this.#transport.terminateSession().catch(() => undefined);
    await this.#client.close().catch(() => undefined);
    await this.#transport.close().catch(() => undefined);
  }

  async #relist(tell: (connection: McpConnection) => void): Promise<void> {
    // Servers say so while they start, too.
    if (this.#listed.length === 0) return;
    try {
      await this.list(PING_SECONDS);
    } catch {
      return;
    }
    tell(this);
  }

  /** A slow call is the call's own affair; a server that does not answer at all is ours. */
  async #late(seconds: number): Promise<ToolOutcome> {
    if (await this.#answers()) return { kind: 'error', text: `Error: the call was stopped after ${seconds} s.` };
    this.#dead ??= this.#why(`the server does not answer: no result within ${seconds} s, then no sign of life`);
    if (this.#transport instanceof ProgramTransport) this.#transport.kill();
    return { kind: 'infra', error: `MCP server ${this.#name}: ${this.#dead}` };
  }

  async #answers(): Promise<boolean> {
    try {
      await this.#client.ping({ timeout: PING_SECONDS * 1000 });
      return true;
    } catch (error) {
      // A server without such a method answered too.
      return error instanceof ProtocolError;
    }
  }

  #failed(error: unknown): McpCall {
    if (error instanceof ProtocolError) return { kind: 'error', text: `Error: ${error.message}` };
    if (this.#tooLong !== undefined) return { kind: 'error', text: `Error: ${this.#tooLong}.` };
    const message = this.#why(error instanceof Error ? error.message : String(error));
    if (neverSent(error)) {
      this.#dead ??= message;
      return { kind: 'unreached', error: message };
    }
    return { kind: 'infra', error: `MCP server ${this.#name}: ${message}` };
  }

  /** With the last words of a program. */
  #why(message: string): string {
    const said = this.#transport instanceof ProgramTransport ? this.#transport.said : '';
    const last = said.length > 500 ? said.slice(-500).replace(/^[^\n]*\n/, '') : said;
    return last === '' ? message : `${message}. It said: ${last}`;
  }
}

const ownVersion = (): string => (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;

/** A session that a server has forgotten, and one that nobody listens for. */
function neverSent(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 8; depth++) {
    if ((at as { code?: unknown }).code === 'ECONNREFUSED') return true;
    at = (at as { cause?: unknown }).cause;
  }
  return false;
}

function hintFor(server: McpServer, error: unknown): string {
  const { code } = error as { code?: unknown };
  if (!isProgram(server)) return `Is it running at ${server.url}, and does it speak streamable HTTP?`;
  if (code === 'ENOENT')
    return `Is the program ${server.command} installed${server.cwd === undefined ? '' : `, and is there a folder ${server.cwd}`}?`;
  return `Try it by hand: ${[server.command, ...(server.args ?? [])].join(' ')}. It sees only PATH, HOME and the variables that are named.`;
}
