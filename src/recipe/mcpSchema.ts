/** The recipe's section of MCP servers: programs that are started, or addresses. Secrets are named, never written: a recipe is kept in its run. */
import { z } from 'zod';

const names = z.array(z.string().min(1));
const words = z.record(z.string().min(1), z.string());

export const mcpServerSchema = z.strictObject({
  /** For messages and for `prefix`; no two alike. */
  name: z.string().min(1),
  /** A program that speaks MCP on its standard input and output, with its arguments. */
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  /** Variables of the program, beside PATH and HOME. */
  env: words.optional(),
  /** Variables of yours that it gets, by name: for keys. */
  envFrom: names.optional(),
  /** Folder in which it runs. */
  cwd: z.string().min(1).optional(),
  /** In place of a program: a server's address (streamable HTTP). */
  url: z.url().optional(),
  headers: words.optional(),
  /** Headers whose value is in a variable of yours: `Authorization: MY_VARIABLE`. */
  headersFrom: words.optional(),
  /** The server's names of the tools that are offered, in this order; absent: all. */
  include: names.optional(),
  exclude: names.optional(),
  /** Before each name, where names of two servers collide. */
  prefix: z.string().optional(),
  /** Seconds of one call. */
  timeoutSeconds: z.number().positive().optional(),
  /** Seconds until the server must have told its tools. */
  startTimeoutSeconds: z.number().positive().optional(),
  /** Calls at once; with `perRollout` servers at once. */
  concurrency: z.int().positive().optional(),
  /** Tokens of one result, in place of `limits.toolTokens`. */
  resultTokens: z.int().positive().optional(),
  /** A server of its own for each rollout. */
  perRollout: z.boolean().optional(),
  /** The server's names of tools after whose call the rollout ends. */
  final: names.optional(),
  /** Equal calls are executed once: of the run, of a group, of a rollout. */
  cache: z.enum(['run', 'group', 'rollout']).optional(),
  /** Calls are answered and not executed: of all tools, or of these (the server's names). */
  dryRun: z.union([z.boolean(), names]).optional(),
  /** What the tools were when they were looked at; others are refused. */
  hash: z.string().min(1).optional(),
});

export type McpServerEntry = z.output<typeof mcpServerSchema>;

/** One sentence each. */
export function mcpContradictions(servers: readonly McpServerEntry[]): string[] {
  return servers.flatMap((server, i) => {
    const { name, command, url } = server;
    const here = `mcp.${i} (${name})`;
    const belong = (keys: readonly (keyof McpServerEntry)[], to: string): string[] =>
      keys.filter((key) => server[key] !== undefined).map((key) => `${here} has ${key}, which goes with ${to}.`);
    const found: string[] = [];
    if (servers.findIndex((other) => other.name === name) !== i) found.push(`mcp has two servers called ${name}.`);
    if (command === undefined && url === undefined) found.push(`${here} has neither command nor url.`);
    if (command !== undefined && url !== undefined)
      found.push(`${here} has both command and url: a server is either a program or an address.`);
    else if (command === undefined) found.push(...belong(['args', 'env', 'envFrom', 'cwd'], 'command'));
    else found.push(...belong(['headers', 'headersFrom'], 'url'));
    return found;
  });
}
