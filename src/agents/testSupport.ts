/** For tests of agents: a policy that is scripted, over nano's own chat format, and one rollout on it. */
import { join } from 'node:path';
import { ChatFormat } from '../chat/chatFormat.js';
import type { Problem } from '../domain/problem.js';
import type { Rollout, Trajectory } from '../domain/trajectory.js';
import type { Sample, SampleRequest, Sampler } from '../engine/sampler.js';
import { deriveSeed } from '../random.js';
import { resolveRecipe } from '../recipe/load.js';
import type { RecipeInput } from '../recipe/schema.js';
import type { RolloutSettings } from '../rollout/episode.js';
import type { RolloutInput } from '../rollout/runRollout.js';
import { packageRoot } from '../setup/paths.js';
import { Toolbox } from '../tools/callTool.js';
import type { Agent } from './agent.js';
import { AgentHost, type AgentHostOptions } from './agentHost.js';

export const nanoFormat = (): Promise<ChatFormat> => ChatFormat.load(join(packageRoot(), 'models', 'nano'), { tools: 'omit' });

/** What the policy writes: a text, or what it does instead; `asked` is the prompt as text. */
export type Script = (asked: string, request: SampleRequest, signal?: AbortSignal) => string | Promise<string> | Promise<Sample>;

export interface ScriptedSampler extends Sampler {
  readonly requests: SampleRequest[];
}

/** Writes what the script says, its turn ended unless the tokens do not fit; the log-probs of a sample are -1/8, -2/8, ... */
export function scripted(format: ChatFormat, script: Script): ScriptedSampler {
  const requests: SampleRequest[] = [];
  return {
    policyVersion: 7,
    requests,
    async sample(request, signal) {
      requests.push(request);
      const written = await script(format.decode(request.prompt), request, signal);
      if (typeof written !== 'string') return written;
      const whole = [...format.encode(written), format.stopTokenIds[0]!];
      const tokens = whole.slice(0, request.maxTokens);
      return { tokens, logProbs: tokens.map((_, i) => -(i + 1) / 8), stop: tokens.length < whole.length ? 'length' : 'stop' };
    },
  };
}

/** A call as nano writes it. */
export const callText = (name: string, args: object): string => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

export interface Setting {
  readonly format: ChatFormat;
  readonly sampler: Sampler;
  readonly limits?: RecipeInput['limits'];
  readonly sampling?: RolloutSettings['sampling'];
  readonly contextTokens?: number;
}

export function settingsOf({
  format,
  sampler,
  limits = {},
  sampling = { temperature: 1, topP: 1 },
  contextTokens,
}: Setting): RolloutSettings {
  const recipe = resolveRecipe({
    name: 'agents',
    model: 'none',
    stages: ['rl'],
    problems: { train: 'calc', evaluation: 'calc' },
    rl: { steps: 1 },
    limits,
  });
  return {
    ...{ format, sampler, sampling, limits: recipe.limits, tools: new Toolbox([]), system: '' },
    ...(contextTokens !== undefined && { contextTokens }),
  };
}

export const PROBLEM: Problem = { id: 'p', question: 'What is 3 * 4?', answer: '12' };

export const inputOf = (more: Partial<RolloutInput<Problem>> = {}): RolloutInput<Problem> => ({
  ...{ problem: PROBLEM, groupId: 'rl/0/0', trajectoryId: 'rl/0/0/0' },
  seed: (turn, attempt) => deriveSeed(1, 0, 0, 0, turn, attempt),
  ...more,
});

/** Opens a host, does the work, closes it. */
export async function withHost<T>(
  // biome-ignore lint/suspicious/noExplicitAny: agents for problems of any kind
  agent: Agent<any>,
  work: (host: AgentHost, warnings: string[]) => Promise<T>,
  options: Partial<AgentHostOptions> = {},
): Promise<T> {
  const warnings: string[] = [];
  const host = await AgentHost.open<Problem>(agent, { modelId: 'nano', warn: (text) => warnings.push(text), graceMs: 200, ...options });
  try {
    return await work(host, warnings);
  } finally {
    await host.close();
  }
}

/** One rollout. */
// biome-ignore lint/suspicious/noExplicitAny: agents for problems of any kind
export const rolloutOf = (agent: Agent<any>, setting: Setting, input: Partial<RolloutInput<Problem>> = {}): Promise<Rollout> =>
  withHost(agent, (host) => host.on(settingsOf(setting)).run(inputOf(input)));

export function finished(rollout: Rollout): Trajectory {
  if (rollout.kind !== 'finished') throw new Error(`the rollout was lost: ${rollout.error}`);
  return rollout.trajectory;
}
