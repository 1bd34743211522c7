/** A recipe, a run's facts and trajectories for tests of the run store. */
import type { TrajectoryRecord } from '../../src/domain/event.js';
import type { Trajectory } from '../../src/domain/trajectory.js';
import { packagedRecipe } from '../../src/recipe/load.js';
import type { RunInfo } from '../../src/runs/runInfo.js';

export const someInfo = (): RunInfo => ({
  recipe: packagedRecipe('nano'),
  model: { name: 'nano', source: 'package', weightsHash: 'abc' },
  versions: { toolwise: '0.1.0', node: process.version },
  seed: 1,
});

/** One tool call and an answer; log-probs that need 64 bits. */
export function someTrajectory(id: string, groupId = 'group'): Trajectory {
  const call = { kind: 'call', name: 'code_interpreter', arguments: { code: 'print(6*7)' }, repairs: [] } as const;
  return {
    trajectoryId: id,
    groupId,
    problem: { id: `problem of ${groupId}`, question: 'What is 6 · 7?', answer: '42', tags: { family: 'product', level: 1 } },
    promptTokens: [1, 2, 70_000],
    tokens: [5, 6, 7, 8, 9],
    mask: [1, 1, 0, 1, 1],
    samplerLogProbs: [-0.1, -1e-9, 0, -12.345678901234, Number.NEGATIVE_INFINITY],
    turns: [
      {
        text: '<tool_call>…</tool_call>',
        segments: [call],
        stop: 'stop',
        tokens: 2,
        policyVersion: 3,
        replies: [{ kind: 'executed', call, success: true, text: '42', seconds: 0.01 }],
      },
      { text: '\\boxed{42}', segments: [{ kind: 'text', text: '\\boxed{42}' }], stop: 'stop', tokens: 2, policyVersion: 3, replies: [] },
    ],
    finalText: '\\boxed{42}',
    stopReason: { kind: 'answered' },
    seconds: 0.25,
  };
}

export const someRecord = (step: number, sample: number, split = 'train', correct = true): TrajectoryRecord => ({
  stage: 'rl',
  step,
  split,
  trajectory: someTrajectory(`${split}/${step}/${sample}`, `${split}/${step}/${Math.floor(sample / 4)}`),
  verdict: { kind: 'graded', correct, score: correct ? 1 : 0, reason: correct ? 'match' : 'mismatch', extracted: '42' },
  reward: { total: 1.1, parts: { outcome: 1, tool: 0.1 } },
  advantage: 0.5,
});
