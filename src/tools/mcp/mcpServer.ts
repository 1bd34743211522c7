/** Where an MCP server is, and what of it is wanted. Plain data. */
import type { ToolLimits } from '../tool.js';

/** A program that speaks MCP on its standard input and output. */
export interface McpProgram {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Beside PATH and HOME: it sees no other variable of yours. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

/** A server that speaks MCP over HTTP (streamable). */
export interface McpAddress {
  readonly url: string;
  /** Sent with each request; over plain http only to this machine. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export type McpServer = McpProgram | McpAddress;

export interface McpOptions extends Omit<ToolLimits, 'final'> {
  /** For messages; default: the program's name or the host. */
  readonly name?: string | undefined;
  /** The server's names of the tools that are wanted, in this order; default: all. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** Before each name, for servers whose names collide. */
  readonly prefix?: string | undefined;
  /** Seconds of one call. Default 60. */
  readonly timeoutSeconds?: number;
  /** Seconds until the server must have answered first and told its tools. Default 30. */
  readonly startTimeoutSeconds?: number | undefined;
  /** Calls at once, of all tools together; with `perRollout` servers at once. Default 32. */
  readonly concurrency?: number;
  /** A server of its own for each rollout, for servers that keep something. Default: one for all. */
  readonly perRollout?: boolean | undefined;
  /** The server's names of tools after whose call the rollout ends. */
  readonly final?: readonly string[] | undefined;
  /** What the tools were when they were looked at: other tools are refused. */
  readonly hash?: string | undefined;
  /** Told what happens meanwhile: a server that was started again, tools that changed. */
  readonly onWarning?: ((text: string) => void) | undefined;
}

export const isProgram = (server: McpServer): server is McpProgram => 'command' in server;

/** @returns what the server is called where nobody gave it a name */
export function nameOf(server: McpServer): string {
  if (!isProgram(server)) return hostOf(server.url);
  const { command, args = [] } = server;
  // Of a program that starts another, the other's name says more.
  const script = args.find((arg) => !arg.startsWith('-'));
  const named = /(^|[\\/])(npx|node|bunx?|deno|uvx?|pipx|python[\d.]*|docker)(\.exe)?$/.test(command) ? (script ?? command) : command;
  return (
    named
      .split(/[\\/]/)
      .filter((part) => part !== '')
      .at(-1) ?? command
  );
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
