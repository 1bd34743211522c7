/** The MCP servers of a recipe: opened together, closed together; their calls remembered or not executed where the recipe says so. */
import type { McpServerEntry } from '../recipe/mcpSchema.js';
import { cached } from '../tools/cached.js';
import type { AnyTool } from '../tools/callTool.js';
import { dryRun } from '../tools/dryRun.js';
import type { McpServer } from '../tools/mcp/mcpServer.js';
import { type McpTools, mcpTools } from '../tools/mcp/mcpTools.js';
import { UserError } from '../userError.js';

export interface OpenServers {
  readonly tools: readonly AnyTool[];
  /** By the server's name. */
  readonly hashes: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** What a model reads of a call that is not executed. */
const DRY = 'Done.';

/** @throws UserError where one does not start or has no such tools; those that did start are closed again */
export async function openServers(
  entries: readonly McpServerEntry[],
  { log, warn }: { readonly log: (line: string) => void; readonly warn: (line: string) => void },
): Promise<OpenServers> {
  const servers = entries.map(serverOf);
  const starts = await Promise.allSettled(
    entries.map(async (entry, i) => {
      const { name, include, exclude, prefix, timeoutSeconds, startTimeoutSeconds, concurrency, resultTokens, perRollout, final, hash } =
        entry;
      const opened = await mcpTools(servers[i]!, {
        ...{ name, include, exclude, prefix, startTimeoutSeconds, perRollout, final, hash, onWarning: warn },
        ...(timeoutSeconds !== undefined && { timeoutSeconds }),
        ...(concurrency !== undefined && { concurrency }),
        ...(resultTokens !== undefined && { resultTokens }),
      });
      return { entry, opened };
    }),
  );
  const open = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const close = async (): Promise<void> => void (await Promise.allSettled(open.map(({ opened }) => opened.close())));
  const failed = starts.find((start) => start.status === 'rejected');
  try {
    if (failed) throw failed.reason;
    for (const { opened } of open) for (const line of opened.summary) log(line);
    return {
      tools: open.flatMap(({ entry, opened }) => wrapped(entry, opened)),
      hashes: Object.fromEntries(open.map(({ opened }) => [opened.name, opened.hash])),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws UserError where a variable that it needs is not set */
function serverOf({ name, command, args, env, envFrom = [], cwd, url, headers, headersFrom = {} }: McpServerEntry): McpServer {
  const value = (variable: string): string => {
    const found = process.env[variable];
    if (found === undefined)
      throw new UserError(`the MCP server ${name} needs the variable ${variable}, which is not set`, `Set it: export ${variable}=...`);
    return found;
  };
  if (command === undefined) {
    const named = Object.fromEntries(Object.entries(headersFrom).map(([header, variable]) => [header, value(variable)]));
    return { url: url!, headers: { ...headers, ...named } };
  }
  return { command, args, cwd, env: { ...env, ...Object.fromEntries(envFrom.map((variable) => [variable, value(variable)])) } };
}

/** @throws UserError for a tool that the server does not offer */
function wrapped({ name, cache, dryRun: dry = false, prefix = '' }: McpServerEntry, { tools }: McpTools): AnyTool[] {
  const names = Array.isArray(dry) ? dry : [];
  const isDry = (tool: AnyTool): boolean => dry === true || names.some((one) => tool.name === one || tool.name === prefix + one);
  const unknown = names.filter((one) => !tools.some((tool) => tool.name === one || tool.name === prefix + one));
  if (unknown.length > 0) {
    throw new UserError(
      `dryRun names ${unknown.join(', ')}, which the MCP server ${name} does not offer`,
      `It offers: ${tools.map((tool) => tool.name).join(', ')}.`,
    );
  }
  return tools.map((tool) => {
    if (isDry(tool)) return dryRun(tool, DRY);
    return cache === undefined ? tool : cached(tool, { scope: cache });
  });
}
