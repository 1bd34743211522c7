/** A policy for tests that samples nothing: how many of a problem's rollouts are right, or lost, is said by a function. */
import type { Problem } from '../../domain/problem.js';
import type { Verdict } from '../../domain/verdict.js';
import { packagedRecipe } from '../../recipe/load.js';
import type { GradedRollout, Policy, SampleOptions } from '../../session/policy.js';

export interface Outcome {
  readonly correct: number;
  readonly lost?: number;
}

export interface TestPolicy extends Policy {
  /** Ids of the problems whose rollouts were asked for, in their order. */
  readonly asked: string[];
}

/** @param tokens that each rollout writes */
export function testPolicy(
  outcome: (problem: Problem) => Outcome,
  { tokens = 5, promptLimit = 100, settings = {} as Record<string, unknown> } = {},
): TestPolicy {
  const asked: string[] = [];
  return {
    asked,
    name: 'scripted',
    fingerprint: 'weights',
    recipe: packagedRecipe('nano'),
    settings,
    tools: [],
    system: '',
    promptTokens: ({ question }) => question.length,
    promptLimit,
    sample: async (problems, options) => {
      let done = 0;
      for (const problem of problems) {
        const wanted = rollouts(problem, outcome(problem), options, tokens).filter((_, sample) => options.skip?.(problem, sample) !== true);
        if (wanted.length > 0) asked.push(problem.id);
        for (const graded of wanted) {
          options.signal?.throwIfAborted();
          const sample = Number(/\d+$/.exec(idOf(graded))![0]);
          await options.onRollout?.(graded, problem, sample);
          options.onProgress?.(++done, problems.length * options.samples);
        }
      }
    },
  };
}

const idOf = ({ rollout }: GradedRollout): string => (rollout.kind === 'finished' ? rollout.trajectory.trajectoryId : rollout.trajectoryId);

function rollouts(problem: Problem, { correct, lost = 0 }: Outcome, { samples }: SampleOptions, tokens: number): GradedRollout[] {
  return Array.from({ length: samples }, (_, i): GradedRollout => {
    const trajectoryId = `${problem.id}/${i}`;
    const groupId = problem.id;
    if (i < lost) {
      const error = 'the network failed';
      return { rollout: { kind: 'infra', trajectoryId, groupId, problem, error }, verdict: { kind: 'infra', error } };
    }
    const right = i < lost + correct;
    const verdict: Verdict = { kind: 'graded', correct: right, score: right ? 1 : 0, reason: right ? 'match' : 'mismatch' };
    const trajectory = {
      trajectoryId,
      groupId,
      problem,
      promptTokens: [1],
      tokens: new Array<number>(tokens + 2).fill(7),
      // Two tokens are a tool's.
      mask: [...new Array<number>(tokens).fill(1), 0, 0],
      samplerLogProbs: new Array<number>(tokens + 2).fill(0),
      turns: [],
      finalText: '',
      stopReason: { kind: 'answered' } as const,
      seconds: 0,
    };
    return { rollout: { kind: 'finished', trajectory }, verdict };
  });
}
