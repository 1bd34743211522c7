/**
 * An environment played by a script in place of a policy: for demonstrations that supervised fine-tuning can imitate, and for tests of an
 * environment of one's own. The replies are word for word those of a rollout. Knows no tokens: its limit is a number of turns.
 */
import type { EnvironmentOutcome } from '../domain/environmentOutcome.js';
import type { Message } from '../domain/message.js';
import type { Problem } from '../domain/problem.js';
import { Toolbox, ToolSession } from '../tools/callTool.js';
import type { Environment } from './environment.js';
import type { World } from './world.js';

/** A call, with what is said before it. */
export interface ScriptedCall {
  readonly action: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly text?: string;
}

/** What the script sees when it is its turn. */
export interface Moment<P extends Problem = Problem> {
  readonly problem: P;
  /** What the last call was answered; in the first turn the question with the first observation. */
  readonly observation: string;
  /** Turns made before this one. */
  readonly turn: number;
}

/** A call, or a text that ends the rollout. */
export type Player<P extends Problem = Problem> = (moment: Moment<P>) => ScriptedCall | string | Promise<ScriptedCall | string>;

export interface PlayOptions<P extends Problem = Problem> {
  readonly problem: P;
  /** Of the start. */
  readonly seed: number;
  readonly player: Player<P>;
  /** Turns, as `limits.turns` counts them: a call in the last one is not run. Default 16. */
  readonly turns?: number;
  readonly signal?: AbortSignal;
}

export interface Played {
  /** From the question to the last turn; a reply that no policy would read any more is left out. */
  readonly messages: readonly Message[];
  readonly outcome: EnvironmentOutcome;
}

/**
 * Plays one rollout, from reset to tear-down.
 * @throws Error where the environment fails, also in its tear-down; what the player throws; the signal's reason
 */
export async function play<P extends Problem>(environment: Environment<P>, options: PlayOptions<P>): Promise<Played> {
  const { problem, seed, signal = new AbortController().signal } = options;
  const trajectoryId = `play:${problem.id}`;
  const started = await environment.start({ problem, trajectoryId, seed, signal });
  if (started.kind === 'infra') throw new Error(started.error);
  const { world } = started;
  let played: Played;
  try {
    played = await playIn(world, environment, options, signal);
  } catch (error) {
    await world.close();
    throw error;
  }
  const left = await world.close();
  if (left !== undefined) throw new Error(left);
  return played;
}

async function playIn<P extends Problem>(
  world: World<P>,
  environment: Environment<P>,
  { player, turns = 16 }: PlayOptions<P>,
  signal: AbortSignal,
): Promise<Played> {
  const { problem } = world;
  const session = new ToolSession(new Toolbox(environment.tools), {
    problem,
    trajectoryId: `play:${problem.id}`,
    signal,
    timeoutSeconds: 300,
    shorten: (text) => text,
  });
  const messages: Message[] = [{ role: 'user', content: problem.question }];
  const end = async (stopReason: Parameters<World['finish']>[0]['stopReason'], finalText = ''): Promise<Played> => {
    const ended = await world.finish({ stopReason, finalText, signal });
    if (ended.kind === 'infra') throw new Error(ended.error);
    return { messages, outcome: ended.outcome };
  };
  let observation = problem.question;
  for (let turn = 0; ; turn++) {
    signal.throwIfAborted();
    const move = await player({ problem, observation, turn });
    if (typeof move === 'string') {
      messages.push({ role: 'assistant', content: move });
      return end({ kind: 'answered' }, move);
    }
    const { action: name, arguments: args = {}, text = '' } = move;
    messages.push({ role: 'assistant', content: text, toolCalls: [{ name, arguments: args }] });
    if (turn + 1 >= turns) return end({ kind: 'turnLimit' });
    const outcome = await session.call({ kind: 'call', name, arguments: args, repairs: [] });
    if (outcome.kind === 'infra') throw new Error(outcome.error);
    if (world.done) return end({ kind: 'stopTool', tool: name });
    observation = outcome.reply.text;
    messages.push({ role: 'tool', name, content: observation });
  }
}
