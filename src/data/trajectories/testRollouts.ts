/** Trajectories written by hand, for tests: turns as texts, calls and what came back. */
import { parseTurn } from '../../chat/parseTurn.js';
import type { Problem } from '../../domain/problem.js';
import type { CallSegment } from '../../domain/segment.js';
import type { Trajectory } from '../../domain/trajectory.js';
import type { Reply, Turn } from '../../domain/turn.js';
import type { StoredRollout } from './journal.js';

export const PROBLEM: Problem = { id: 'p', question: 'What is 6 * 7?', answer: '42' };

/** A call in the text of a turn. */
export const call = (code: string, name = 'code_interpreter'): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: { code } })}\n</tool_call>`;

/** A turn as the model writes it, then one result a call; `!` begins a failed one, `?` a refused one. */
export type Written = readonly [text: string, ...results: string[]];

export function trajectoryOf(turns: readonly Written[], more: Partial<Trajectory> = {}): Trajectory {
  return {
    trajectoryId: 'p/0',
    groupId: 'p',
    problem: PROBLEM,
    promptTokens: [1, 2],
    tokens: [3, 4, 5],
    mask: [1, 0, 1],
    samplerLogProbs: [-0.5, 0, -0.25],
    turns: turns.map(turnOf),
    finalText: turns.at(-1)?.[0] ?? '',
    stopReason: { kind: 'answered' },
    seconds: 0.5,
    ...more,
  };
}

export const stored = (sample: number, turns: readonly Written[], correct = true): StoredRollout => ({
  sample,
  trajectory: trajectoryOf(turns, { trajectoryId: `p/${sample}` }),
  verdict: { kind: 'graded', correct, score: correct ? 1 : 0, reason: correct ? 'match' : 'mismatch' },
});

function turnOf([text, ...results]: Written): Turn {
  const segments = parseTurn(text, false);
  const calls = segments.filter(({ kind }) => kind === 'call' || kind === 'malformedCall');
  const replies = results.map((result, i): Reply => {
    const made = calls[i] as CallSegment;
    if (result.startsWith('?'))
      return { kind: 'refused', problem: made.kind === 'call' ? 'badArguments' : 'malformed', text: result.slice(1) };
    const failed = result.startsWith('!');
    return { kind: 'executed', call: made, success: !failed, text: failed ? result.slice(1) : result, seconds: 0.1 };
  });
  return { text, segments, stop: 'stop', tokens: 10, policyVersion: 0, replies };
}
