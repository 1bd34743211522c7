/**
 * The tools of an MCP server as tools of ours. The list is read once, at the start: what a model was told at the beginning of a run stays what
 * it is told. Sampling, forms, prompts and resources of MCP are not offered.
 */
import { UserError } from '../../userError.js';
import { Gate } from '../gate.js';
import { parametersOf } from '../jsonTool.js';
import { checkLimits, type Tool } from '../tool.js';
import { LinkPerRollout, type RolloutLink } from './linkPerRollout.js';
import type { McpConnection } from './mcpConnection.js';
import { McpLink } from './mcpLink.js';
import { isProgram, type McpOptions, type McpServer, nameOf } from './mcpServer.js';
import { changesOf, chooseTools, hashOf, type ListedTool, type McpToolInfo } from './mcpTool.js';

export interface McpTools {
  /** As it was named, else the program's name or the host. */
  readonly name: string;
  readonly tools: readonly Tool[];
  /** Of names, descriptions and schemas as the server gave them: another hash, other tools. */
  readonly hash: string;
  /** For a person: the server, its tools and what they say of themselves. */
  readonly summary: readonly string[];
  /** Ends the server, or the connection to it. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const TIMEOUT_SECONDS = 60;
const START_TIMEOUT_SECONDS = 30;
const CONCURRENCY = 32;
/** Seconds that a rollout waits for a server of its own. */
const PATIENCE_SECONDS = 600;
/** Seconds beside those of a call and of a start: to see whether a server is alive. */
const SLACK_SECONDS = 10;

/**
 * Starts the server (or connects to it) and reads its tools.
 * @throws UserError where the server does not start or answer in time, has no such tools, or has tools that cannot be offered
 */
export async function mcpTools(server: McpServer, options: McpOptions = {}): Promise<McpTools> {
  const name = options.name ?? nameOf(server);
  const { startTimeoutSeconds = START_TIMEOUT_SECONDS, perRollout = false, onWarning = () => undefined } = options;
  checkNumbers(name, options);
  let listed: readonly ListedTool[] = [];
  const notice = (connection: Pick<McpConnection, 'tools'>): void => {
    const changes = changesOf(listed, connection.tools);
    if (changes !== undefined) onWarning(`MCP server ${name}: ${changes}. The run goes on with the tools that it began with.`);
    listed = connection.tools;
  };
  // Loaded where it is needed: the library of the protocol is large.
  const { McpConnection: Connection } = await import('./mcpConnection.js');
  const connect = (): Promise<McpConnection> =>
    Connection.open(server, { name, startTimeoutSeconds, onToolsChanged: perRollout ? undefined : notice });
  const first = await connect();
  const onRenewed = (why: string, connection: McpConnection): void => {
    onWarning(`MCP server ${name} was started again: ${why}`);
    notice(connection);
  };
  const shared = perRollout ? undefined : new McpLink({ name, connect, renew: true, onRenewed }, first);
  const own = new LinkPerRollout(() => new McpLink({ name, connect, renew: false }), options.concurrency ?? CONCURRENCY, PATIENCE_SECONDS);
  try {
    listed = first.tools;
    const chosen = chooseTools(listed, options, name);
    const hash = hashOf(listed.filter((tool) => chosen.some(({ serverName }) => serverName === tool.name)));
    checkChoice(name, chosen, hash, options);
    const summary = summaryOf(name, first.title, server, hash, chosen);
    const tools = toolsOf(chosen, { name, options, startTimeoutSeconds, link: shared ?? own });
    if (perRollout) await first.close();
    const close = async (): Promise<void> => void (await Promise.allSettled([shared?.close(), own.close()]));
    return { name, tools, hash, summary, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await first.close();
    throw error;
  }
}

interface Parts {
  readonly name: string;
  readonly options: McpOptions;
  readonly startTimeoutSeconds: number;
  readonly link: McpLink | LinkPerRollout;
}

function toolsOf(chosen: readonly McpToolInfo[], { name, options, startTimeoutSeconds, link }: Parts): Tool[] {
  const { timeoutSeconds = TIMEOUT_SECONDS, concurrency = CONCURRENCY, resultTokens, final = [] } = options;
  // Of one server all calls share their places; a rollout's own server has but one rollout's calls.
  const places = link instanceof McpLink ? new Gate(concurrency) : undefined;
  return chosen.map(({ name: toolName, serverName, description, inputSchema }) => {
    const listed: ListedTool = { name: serverName, inputSchema };
    return {
      name: toolName,
      description,
      parameters: parametersOf<Record<string, unknown>>(toolName, inputSchema),
      source: `MCP server ${name}`,
      timeoutSeconds: timeoutSeconds + startTimeoutSeconds + SLACK_SECONDS,
      ...(places && { concurrency: places }),
      ...(resultTokens !== undefined && { resultTokens }),
      ...(final.includes(serverName) && { final: true }),
      ...(link instanceof LinkPerRollout && {
        setUp: (context) => link.enter(context),
        tearDown: (state) => (state as RolloutLink | undefined)?.leave(),
      }),
      execute: (args, { signal, state }) => {
        const to = link instanceof McpLink ? link : (state as RolloutLink).link;
        return to.call(listed, args as Record<string, unknown>, timeoutSeconds, signal);
      },
    } satisfies Tool;
  });
}

/** @throws UserError */
function checkNumbers(name: string, options: McpOptions): void {
  const { startTimeoutSeconds } = options;
  try {
    checkLimits(name, options);
    checkLimits(name, { ...(startTimeoutSeconds !== undefined && { timeoutSeconds: startTimeoutSeconds }) });
  } catch (error) {
    throw new UserError(`MCP server ${name}: ${(error as Error).message}`);
  }
}

/** @throws UserError */
function checkChoice(name: string, chosen: readonly McpToolInfo[], hash: string, options: McpOptions): void {
  const offered = chosen.map(({ serverName }) => serverName);
  if (offered.length === 0)
    throw new UserError(`the MCP server ${name} offers no tools`, 'Is it the right server, and do include and exclude leave some?');
  if (options.hash !== undefined && options.hash !== hash) {
    throw new UserError(
      `the tools of the MCP server ${name} are not those that were looked at: their hash is ${hash}, not ${options.hash}`,
      `Look at them, then set the hash to ${hash}.`,
    );
  }
  const unknown = (options.final ?? []).filter((tool) => !offered.includes(tool));
  if (unknown.length > 0) {
    throw new UserError(
      `final names ${unknown.join(', ')}, which the MCP server ${name} does not offer`,
      `It offers: ${offered.join(', ')}.`,
    );
  }
}

function summaryOf(name: string, title: string, server: McpServer, hash: string, chosen: readonly McpToolInfo[]): string[] {
  const at = isProgram(server) ? [server.command, ...(server.args ?? [])].join(' ') : server.url;
  return [
    `MCP server ${name} (${JSON.stringify(title)}, ${at}): ${chosen.length} tool${chosen.length === 1 ? '' : 's'}, hash ${hash}`,
    ...chosen.map(
      ({ name: tool, description }) =>
        `  ${tool}: ${JSON.stringify(description.length > 120 ? `${description.slice(0, 120)}…` : description)}`,
    ),
  ];
}
