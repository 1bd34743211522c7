/** Rollouts by a script: a few calls of a tool, then an answer, each turn of a given length. What benchmarks sample in place of a model. */
import { z } from 'zod';
import type { ChatFormat } from '../chat/chatFormat.js';
import type { Problem } from '../domain/problem.js';
import type { Sample } from '../engine/sampler.js';
import { recipeSchema } from '../recipe/schema.js';
import type { RolloutSettings } from '../rollout/episode.js';
import { Toolbox } from '../tools/callTool.js';
import { tool } from '../tools/tool.js';

export interface ScriptSize {
  readonly turns: number;
  /** The model's tokens of each turn, its stop token included. */
  readonly turnTokens: number;
}

const CALL = '\n<tool_call>\n{"name": "calculator", "arguments": {"code": "print(37 * 12 + 5)"}}\n</tool_call>';
const ANSWER = '\n\\boxed{449}';
const REPLY = 'stdout:\n449\nfinished in 0.02 s\n';
const FILLER = 'I multiply first, then add the remainder, and look at it once more. ';

export class Script {
  readonly #call: Sample;
  readonly #answer: Sample;
  readonly #made = new Map<string, number>();

  constructor(
    format: ChatFormat,
    readonly size: ScriptSize,
  ) {
    const filler = format.encode(FILLER);
    const turn = (end: string): Sample => {
      const tail = [...format.encode(end), format.stopTokenIds[0]!];
      const before = Math.max(0, size.turnTokens - tail.length);
      const tokens = [...Array.from({ length: before }, (_, i) => filler[i % filler.length]!), ...tail];
      return { tokens, logProbs: new Array<number>(tokens.length).fill(-0.5), stop: 'stop' };
    };
    this.#call = turn(CALL);
    this.#answer = turn(ANSWER);
  }

  /** The next turn of a conversation, in arrays of its own. */
  next(conversation: string): Sample {
    const made = (this.#made.get(conversation) ?? 0) + 1;
    const last = made >= this.size.turns;
    if (last) this.#made.delete(conversation);
    else this.#made.set(conversation, made);
    const { tokens, logProbs, stop } = last ? this.#answer : this.#call;
    return { tokens: [...tokens], logProbs: [...logProbs], stop };
  }
}

/** What all rollouts of a benchmark share beside their sampler. @param execute how long the tool takes */
export function scriptedSettings(format: ChatFormat, execute: () => Promise<void> | void): Omit<RolloutSettings, 'sampler'> {
  const calculator = tool({
    name: 'calculator',
    description: 'Runs Python code and returns what it prints.',
    parameters: z.object({ code: z.string() }),
    execute: async () => {
      await execute();
      return REPLY;
    },
  });
  return {
    format,
    tools: new Toolbox([calculator]),
    // Neither deadline nor time-out of real seconds may fall into virtual time.
    limits: recipeSchema.shape.limits.parse({ deadlineSeconds: 1e6 }),
    toolTimeoutSeconds: 1e6,
    sampling: { temperature: 1, topP: 1 },
    system: '',
  };
}

export const scriptedProblems = (count: number): Problem[] =>
  Array.from({ length: count }, (_, i) => ({ id: `${i}`, question: `A crate holds ${i} boxes with 12 jars each. How many jars?` }));
