/** The agent of a run, as options or a recipe name it, checked against the rest of them; and what is open while it is used. */
import type { Problem } from '../domain/problem.js';
import type { Recipe } from '../recipe/schema.js';
import type { RolloutAgent } from '../rollout/endpointAgent.js';
import type { RolloutSettings } from '../rollout/episode.js';
import type { AnyTool } from '../tools/callTool.js';
import { UserError } from '../userError.js';
import { type Agent, agentAt, agentCommand } from './agent.js';
import { AgentHost } from './agentHost.js';

/** The options' agent, else the recipe's. @throws UserError where it cannot be one */
export function agentOf<P extends Problem>(own: Agent<P> | undefined, { agent }: Pick<Recipe, 'agent'>): Agent<P> | undefined {
  if (own !== undefined || agent === undefined) return own;
  if ('command' in agent) {
    const { command, ...options } = agent;
    return agentCommand(command, present(options));
  }
  const { url, ...options } = agent;
  return agentAt(url, present(options));
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };
const present = <T extends object>(options: T): Present<T> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Present<T>;

export interface BesideAgent {
  readonly tools?: readonly AnyTool[] | undefined;
  readonly environment?: unknown;
}

/**
 * The recipe as a run with an agent has it: tools, system message and sandbox are the agent's own. So is what is served of such a run.
 * @throws UserError for what does not go with an agent, by name
 */
export function recipeWithAgent(recipe: Recipe, { tools, environment }: BesideAgent): Recipe {
  if (recipe.engine.deterministic) {
    throw new UserError(
      'engine.deterministic does not go with an agent: its rollouts take their turns when it asks, not in lockstep',
      'Set engine.deterministic=false.',
    );
  }
  if (tools !== undefined)
    throw new UserError('an agent brings tools of its own: `tools` are those of the built-in loop', 'Leave `tools` out.');
  if (environment !== undefined) {
    throw new UserError('an agent and an environment exclude each other: both say what happens in a rollout', 'Leave one of them out.');
  }
  if (recipe.mcp !== undefined && recipe.mcp.length > 0) {
    throw new UserError(
      'mcp: an agent brings tools of its own; servers of the recipe would be started for nobody',
      'Leave `mcp` out of the recipe.',
    );
  }
  return { ...recipe, tools: [], prompt: { ...recipe.prompt, system: '' } };
}

/** For a run's record: who took its rollouts through. */
export function nameOf(agent: Agent<never>): string {
  switch (agent.kind) {
    case 'function':
      return 'a function of the program that trained';
    case 'program':
      return agent.definition.command.join(' ');
    case 'service':
      return agent.definition.url;
  }
}

export interface OpenAgent {
  /** The agent on the policy of these settings. */
  readonly on: (settings: RolloutSettings) => RolloutAgent;
  close(): Promise<void>;
}

/** @param options.log told how the agent runs, where that is not plain */
export async function openAgent<P extends Problem>(
  agent: Agent<P>,
  options: { readonly modelId: string; readonly log: (line: string, level?: 'info' | 'warning') => void },
): Promise<OpenAgent> {
  const { modelId, log } = options;
  if (agent.kind === 'program')
    log(`agent: ${agent.definition.command.join(' ')} is started for each rollout, with your rights, without the sandbox`);
  if (agent.kind === 'service') log(`agent: ${agent.definition.url} is asked for each rollout`);
  const host = await AgentHost.open(agent, { modelId, warn: (text) => log(text, 'warning') });
  return { on: (settings) => host.on(settings), close: () => host.close() };
}
