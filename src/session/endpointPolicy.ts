/** A model behind an OpenAI-compatible endpoint as one who answers: no engine and no weights of ours; its tools run here. */
import { systemText } from '../chat/prompts.js';
import { describeAbilities, type OpenAiEndpoint, openEndpoint } from '../engine/openaiEndpoint.js';
import type { Environment } from '../environments/environment.js';
import type { Recipe } from '../recipe/schema.js';
import { endpointAgent, type RolloutAgent } from '../rollout/endpointAgent.js';
import type { OpenedRunner } from '../sandbox/open.js';
import type { AnyTool, Toolbox } from '../tools/callTool.js';
import { openTools } from './tools.js';
import type { Log } from './withRun.js';

export interface EndpointPolicyOptions {
  /** `openai:URL#MODEL`. */
  readonly model: string;
  readonly recipe: Recipe;
  readonly tools?: readonly AnyTool[] | undefined;
  /** What rollouts happen in; its actions stand beside the tools. */
  readonly environment?: Environment | undefined;
  readonly endpoint?: EndpointSettings | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface EndpointSettings {
  /** Variable of the environment that holds the key. Default OPENAI_API_KEY. */
  readonly keyName?: string;
  /** Requests at once. Default 32. */
  readonly concurrency?: number;
}

export interface EndpointPolicy {
  /** With the model that was chosen, where the address named none. */
  readonly name: string;
  readonly endpoint: OpenAiEndpoint;
  /** For a person. */
  readonly abilities: string;
  readonly agent: RolloutAgent;
  /** System message; empty: none. */
  readonly system: string;
  readonly toolbox: Toolbox;
  readonly runner: OpenedRunner | undefined;
  readonly concurrency: number;
  close(): Promise<void>;
}

/** @throws UserError when the endpoint cannot be used as it is named; what was opened is closed again */
export async function openEndpointPolicy(options: EndpointPolicyOptions): Promise<EndpointPolicy> {
  const { recipe, environment, log, signal } = options;
  const warn = (line: string): void => log(line, 'warning');
  const opened = await openTools({ recipe, tools: [...(options.tools ?? []), ...(environment?.tools ?? [])], log, warn });
  const { toolbox, runner } = opened;
  try {
    const { keyName, concurrency = 32 } = options.endpoint ?? {};
    const onBusy = busyTeller(warn);
    const endpoint = await openEndpoint(options.model, { tools: toolbox.descriptions, keyName, concurrency, signal, onBusy });
    const { client, model } = endpoint;
    const abilities = describeAbilities(endpoint.abilities);
    log(`${model} at ${client.url}: ${abilities}`);
    if (!endpoint.abilities.toolCalls && toolbox.tools.length > 0)
      warn('The endpoint takes no tools: they are described in the system message, and calls are read from the text.');
    const system = systemText(recipe.prompt.mode, recipe.prompt.system);
    return {
      name: `openai:${client.url}#${model}`,
      endpoint,
      abilities,
      agent: endpointAgent({
        endpoint,
        tools: toolbox,
        limits: recipe.limits,
        system,
        ...(environment && { environment }),
        onWarning: warn,
      }),
      system,
      toolbox,
      runner,
      concurrency,
      close: async () => void (await Promise.allSettled([client.close(), opened.close()])),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

const TELL_EVERY_MS = 30_000;

/** Of many requests that wait at once, one line now and then. */
function busyTeller(warn: (line: string) => void): (why: string, seconds: number) => void {
  let told = Number.NEGATIVE_INFINITY;
  return (why, seconds) => {
    if (performance.now() - told < TELL_EVERY_MS) return;
    told = performance.now();
    warn(`${why}; it is asked again in ${seconds < 1 ? 'a second' : `${Math.ceil(seconds)} s`}`);
  };
}
