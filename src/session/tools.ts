/**
 * The tools of a run: built-in ones that the recipe names, those of its MCP servers, the user's own; and what stands under them, a sandbox and
 * the servers. Whoever opens them closes them.
 */
import { availableParallelism } from 'node:os';
import type { Recipe } from '../recipe/schema.js';
import { type OpenedRunner, openCodeRunner } from '../sandbox/open.js';
import { type AnyTool, Toolbox } from '../tools/callTool.js';
import { codeInterpreter } from '../tools/codeInterpreter.js';
import { UserError } from '../userError.js';
import { openServers } from './mcpServers.js';

const CODE_INTERPRETER = 'code_interpreter';

export interface OpenTools {
  readonly toolbox: Toolbox;
  /** Absent where no tool runs programs. */
  readonly runner: OpenedRunner | undefined;
  /** What the run's record should say of its tools: calls that are not executed, or once for many. */
  readonly notes: readonly string[];
  /** By the name of the MCP server, what its tools are. */
  readonly hashes: Readonly<Record<string, string>>;
  /** Ends the sandbox and the servers; never throws. */
  close(): Promise<void>;
}

/** Programs that run at once: `auto` is one a core, at most eight; a policy's programs are short. */
const workersOf = ({ sandbox }: Recipe): number =>
  sandbox.workers === 'auto' ? Math.min(8, Math.max(1, availableParallelism())) : sandbox.workers;

/**
 * @param options.tools tools of the user's own
 * @throws UserError for a tool that nobody has, two of one name, a sandbox that does not open, or a server that does not start
 */
export async function openTools(options: {
  readonly recipe: Recipe;
  readonly tools: readonly AnyTool[];
  readonly log: (line: string) => void;
  readonly warn: (line: string) => void;
}): Promise<OpenTools> {
  const { recipe, tools: own, log, warn } = options;
  const servers = await openServers(recipe.mcp ?? [], { log, warn });
  let runner: OpenedRunner | undefined;
  const close = async (): Promise<void> => void (await Promise.allSettled([runner?.close(), servers.close()]));
  try {
    refuseUnknown(recipe, [...own, ...servers.tools]);
    if (recipe.tools.includes(CODE_INTERPRETER)) runner = await openCodeRunner({ kind: recipe.sandbox.kind, workers: workersOf(recipe) });
    for (const note of runner?.notes ?? []) log(`sandbox: ${note}`);
    if (recipe.sandbox.kind === 'none' && runner) warn("sandbox: none. The model's code runs with your rights on this machine.");
    const { timeoutSeconds, memoryMb } = recipe.sandbox;
    const builtIn = runner ? [{ ...codeInterpreter(runner, { timeoutSeconds, memoryMb }), source: 'built in' }] : [];
    const toolbox = boxOf([...builtIn, ...servers.tools, ...own]);
    if (toolbox.tools.length > 0) log(`tools: ${listOf(toolbox.tools)}`);
    const notes = toolbox.tools.flatMap((tool) => tool.notes ?? []);
    for (const note of notes) log(note);
    return { toolbox, runner, notes, hashes: servers.hashes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Each with where it comes from. */
const listOf = (tools: readonly AnyTool[]): string => tools.map(({ name, source = 'your program' }) => `${name} (${source})`).join(', ');

function refuseUnknown({ tools }: Recipe, others: readonly AnyTool[]): void {
  const unknown = tools.filter((name) => name !== CODE_INTERPRETER && !others.some((tool) => tool.name === name));
  if (unknown.length === 0) return;
  throw new UserError(
    `unknown tool ${unknown.join(', ')} in the recipe`,
    `Known: ${[CODE_INTERPRETER, ...others.map((tool) => tool.name)].join(', ')}.`,
  );
}

/** @throws UserError, with where two of one name come from */
function boxOf(tools: readonly AnyTool[]): Toolbox {
  for (const [i, { name, source = 'your program' }] of tools.entries()) {
    const first = tools.findIndex((tool) => tool.name === name);
    if (first === i) continue;
    const { source: other = 'your program' } = tools[first]!;
    throw new UserError(
      `two tools are called ${name}: one of ${other}, one of ${source}`,
      'Give an MCP server a prefix, or leave one out.',
    );
  }
  return new Toolbox(tools);
}
