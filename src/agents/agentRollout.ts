/**
 * One rollout of an agent from its set-up to its tear-down: opens a recording for its model calls, has the agent work, and makes a rollout
 * of what came of it. An agent that throws is told apart from an engine that fails and from a limit that it ran into.
 */
import type { Problem } from '../domain/problem.js';
import { type Reward, sumReward } from '../domain/reward.js';
import type { StopReason } from '../domain/stopReason.js';
import type { Rollout } from '../domain/trajectory.js';
import type { EngineError } from '../engine/engineError.js';
import type { RolloutSettings } from '../rollout/episode.js';
import { onAbort } from '../rollout/onAbort.js';
import type { RolloutInput } from '../rollout/runRollout.js';
import { UserError } from '../userError.js';
import type { AgentAnswer } from './agent.js';
import type { AgentEnd } from './agentTask.js';
import { Recording } from './recording.js';

/** Has the agent work on the problem. Ends soon after the signal is aborted. Never rejects. */
export type AgentStart<P extends Problem> = (recording: Recording<P>, signal: AbortSignal) => Promise<AgentEnd>;

export interface AgentRolloutOptions<P extends Problem> {
  readonly settings: RolloutSettings;
  readonly input: RolloutInput<P>;
  readonly start: AgentStart<P>;
  readonly failure: 'lost' | 'wrong';
  readonly onNotice: (text: string) => void;
  /** How long an agent may go on after a limit refused it an answer. */
  readonly graceMs: number;
}

export interface AgentOutcome<P extends Problem> {
  readonly rollout: Rollout<P>;
  /** What the agent's own failure was, where that decided. */
  readonly failure?: string;
  /** Answers that its model gave. */
  readonly modelCalls: number;
}

/** @throws the input signal's reason; EngineError (user); UserError where no rollout of the agent can work */
export async function runAgentRollout<P extends Problem>(options: AgentRolloutOptions<P>): Promise<AgentOutcome<P>> {
  const { settings, input, start, failure, onNotice, graceMs } = options;
  const { signal, problem, groupId, trajectoryId } = input;
  const { deadlineSeconds } = settings.limits;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const deaf = signal ? onAbort(signal, () => stop.abort(signal.reason)) : () => undefined;
  let outOfTime = false;
  const timer = setTimeout(() => {
    outOfTime = true;
    stop.abort(new Error(`the rollout's ${deadlineSeconds} s are up`));
  }, deadlineSeconds * 1000);
  let engine: EngineError | undefined;
  let limited: NodeJS.Timeout | undefined;
  const recording = new Recording<P>({
    ...{ settings, input, signal: stop.signal, onNotice },
    onLimit: () => {
      limited = setTimeout(() => stop.abort(new Error('the rollout has run into a limit')), graceMs);
    },
    onFailure: (error) => {
      engine = error;
      stop.abort(error);
    },
  });
  const started = performance.now();
  try {
    const end = await start(recording, stop.signal);
    recording.close();
    signal?.throwIfAborted();
    const infra = (error: string): AgentOutcome<P> => ({
      rollout: { kind: 'infra', trajectoryId, groupId, problem, error },
      modelCalls: recording.answers,
    });
    const finish = (stopReason: StopReason, answer: Exclude<AgentAnswer, string> = {}): AgentOutcome<P> => {
      const [own = NO_BRANCH, ...branches] = recording.branches();
      const reward = answer.reward === undefined ? undefined : rewardOf(answer.reward);
      const trajectory = {
        ...{ trajectoryId, groupId, problem, ...own, ...(branches.length > 0 && { branches }) },
        ...{ finalText: answer.answer ?? '', stopReason, seconds: (performance.now() - started) / 1000 },
        ...(reward && { givenReward: reward }),
      };
      return { rollout: { kind: 'finished', trajectory }, modelCalls: recording.answers };
    };
    if (engine) {
      if (engine.category === 'user') throw engine;
      return infra(engine.message);
    }
    if (outOfTime) {
      if (recording.answers > 0) return finish({ kind: 'deadline' });
      const what = recording.asked > 0 ? "the agent's model gave no answer" : 'the agent neither asked its model nor answered';
      return infra(`${what} within ${deadlineSeconds} s`);
    }
    if (end.kind === 'unusable') throw new UserError(`the agent cannot be used: ${end.error}`);
    if (end.kind === 'answered') return finish(recording.limit ?? { kind: 'answered' }, end.answer);
    // An agent may well throw when its model refuses to go on.
    if (recording.limit) return finish(recording.limit);
    const failed = failure === 'lost' ? infra(`the agent failed: ${end.error}`) : finish({ kind: 'agentError' });
    return { ...failed, failure: end.error };
  } finally {
    recording.close();
    clearTimeout(timer);
    clearTimeout(limited);
    deaf();
  }
}

const NO_BRANCH = { promptTokens: [], tokens: [], mask: [], samplerLogProbs: [], turns: [] };

const rewardOf = (given: number | Readonly<Record<string, number>>): Reward =>
  sumReward(typeof given === 'number' ? { reward: given } : given);
