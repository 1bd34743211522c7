/**
 * The server behind the tools of all rollouts, or of one: a connection that is opened when it is first needed. Where all rollouts share it, one
 * that is lost is replaced once for the calls that find it lost. A call that was under way when it was lost may have had its effect: it is
 * not sent again, and its rollout is not scored.
 */
import { UserError } from '../../userError.js';
import type { ToolOutcome } from '../tool.js';
import type { McpConnection } from './mcpConnection.js';
import type { ListedTool } from './mcpTool.js';

export interface LinkOptions {
  /** For messages. */
  readonly name: string;
  /** @throws UserError where the server cannot be started */
  readonly connect: () => Promise<McpConnection>;
  /** Whether another connection may take the place of a lost one: not where the server keeps something for a rollout. */
  readonly renew: boolean;
  readonly onRenewed?: (why: string, connection: McpConnection) => void;
}

export class McpLink {
  readonly #options: LinkOptions;
  #opening: Promise<McpConnection> | undefined;
  #closed = false;

  /** @param first a connection that is open already */
  constructor(options: LinkOptions, first?: McpConnection) {
    this.#options = options;
    if (first) this.#opening = Promise.resolve(first);
  }

  /** @throws UserError where the server cannot be started */
  open(): Promise<McpConnection> {
    if (this.#closed) return Promise.reject(new UserError(`the MCP server ${this.#options.name} was closed`));
    this.#opening ??= this.#options.connect();
    return this.#opening;
  }

  /** @throws the signal's reason */
  async call(tool: ListedTool, args: Record<string, unknown>, timeoutSeconds: number, signal: AbortSignal): Promise<ToolOutcome> {
    const { name, renew } = this.#options;
    for (let attempt = 0; ; attempt++) {
      let connection: McpConnection;
      try {
        connection = await this.#living();
      } catch (error) {
        signal.throwIfAborted();
        return { kind: 'infra', error: (error as Error).message };
      }
      signal.throwIfAborted();
      const outcome = await connection.call(tool, args, timeoutSeconds, signal);
      if (outcome.kind !== 'unreached') return outcome;
      if (attempt > 0 || !renew) return { kind: 'infra', error: `MCP server ${name}: ${outcome.error}` };
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const opening = this.#opening;
    this.#opening = undefined;
    await (await opening?.catch(() => undefined))?.close();
  }

  /** The connection, or another in its place: one attempt, shared by all who find it lost. */
  async #living(): Promise<McpConnection> {
    const current = this.open();
    const connection = await current.catch((error: unknown) => {
      // The next one may try again.
      if (this.#opening === current) this.#opening = undefined;
      throw error;
    });
    const why = connection.dead;
    if (why === undefined || !this.#options.renew || this.#closed) return connection;
    if (this.#opening === current) {
      void connection.close();
      const next = this.#options.connect();
      this.#opening = next;
      next.then(
        (renewed) => this.#options.onRenewed?.(why, renewed),
        () => {
          if (this.#opening === next) this.#opening = undefined;
        },
      );
    }
    return this.open();
  }
}
