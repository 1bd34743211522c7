/**
 * How many rollouts a second everything but the engine and the sandbox can do: chat format, parser, tools, scheduler, against a sampler
 * that answers at once. Prints nothing by itself and knows no models: it takes a model folder.
 */
import { z } from 'zod';
import { ChatFormat } from '../chat/chatFormat.js';
import { systemText } from '../chat/prompts.js';
import type { Problem } from '../domain/problem.js';
import type { Sample, Sampler } from '../engine/sampler.js';
import { recipeSchema } from '../recipe/schema.js';
import { planGroups, runRollouts } from '../rollout/scheduler.js';
import { rolloutStatistics } from '../rollout/statistics.js';
import { Toolbox } from '../tools/callTool.js';
import { tool } from '../tools/tool.js';

export interface RolloutBenchmark {
  readonly rollouts: number;
  readonly rolloutsPerSecond: number;
  /** Prompt, model and tool tokens of all rollouts, each counted once. */
  readonly tokensPerSecond: number;
  /** Checks that the work was done: 1 each. */
  readonly callsPerRollout: number;
  readonly answered: number;
}

/** Answers at once: the first of the two turns where it is not in the context yet, then the second; each ended by a stop token. */
export function nullSampler(turns: readonly [opening: readonly number[], answer: readonly number[]], stopToken: number): Sampler {
  const sampleOf = (tokens: readonly number[]): Sample => ({
    tokens: [...tokens, stopToken],
    logProbs: new Array<number>(tokens.length + 1).fill(-0.5),
    stop: 'stop',
  });
  const [opening, answer] = turns.map(sampleOf) as [Sample, Sample];
  return {
    policyVersion: 0,
    async sample({ prompt }) {
      return holds(prompt, turns[0]) ? answer : opening;
    },
  };
}

/** Whether the tokens stand somewhere in the context. */
function holds(context: readonly number[], tokens: readonly number[]): boolean {
  for (let start = context.length - tokens.length; start >= 0; start--) {
    let i = 0;
    while (i < tokens.length && context[start + i] === tokens[i]) i++;
    if (i === tokens.length) return true;
  }
  return false;
}

/** One call with a multi-line result and an answer a rollout, in groups of 8. */
export async function benchmarkRollouts(modelFolder: string, rollouts = 2048): Promise<RolloutBenchmark> {
  const format = await ChatFormat.load(modelFolder);
  const call = `I multiply first, then add the remainder.\n<tool_call>\n{"name": "calculator", "arguments": {"code": "total = 37 * 12 + 5\\nprint(total)"}}\n</tool_call>`;
  const turns = [format.encode(call), format.encode('The result is right.\n\\boxed{449}')] as const;
  const tools = new Toolbox([
    tool({
      name: 'calculator',
      description: 'Runs Python code and returns what it prints.',
      parameters: z.object({ code: z.string() }),
      execute: () => 'stdout:\n449\nfinished in 0.02 s\n',
    }),
  ]);
  const limits = recipeSchema.shape.limits.parse({});
  const problems: Problem[] = Array.from({ length: Math.ceil(rollouts / 8) }, (_, i) => ({
    id: `${i}`,
    question: `A crate holds ${i} boxes with 12 jars each, and 5 jars stand beside it. How many jars are there?`,
  }));
  const plans = planGroups(problems, 8, 'bench').slice(0, rollouts);
  const started = performance.now();
  const finished = await runRollouts(
    plans,
    {
      sampler: nullSampler(turns, format.stopTokenIds[0]!),
      format,
      tools,
      limits,
      sampling: { temperature: 1, topP: 1 },
      system: systemText('deliberative'),
    },
    { runSeed: 1, step: 0, concurrency: 256 },
  );
  const seconds = (performance.now() - started) / 1000;
  const trajectories = finished.flatMap((rollout) => (rollout.kind === 'finished' ? [rollout.trajectory] : []));
  const { callsPerRollout, answered } = rolloutStatistics(trajectories);
  const tokens = trajectories.reduce((sum, trajectory) => sum + trajectory.promptTokens.length + trajectory.tokens.length, 0);
  return {
    rollouts: trajectories.length,
    rolloutsPerSecond: trajectories.length / seconds,
    tokensPerSecond: tokens / seconds,
    callsPerRollout,
    answered,
  };
}
