/**
 * Runs one rollout to its end. A sample that the engine failed to make is made anew under another seed, a few times; then the rollout is an
 * infrastructure failure. Nothing that the model or a tool does throws.
 */
import type { Problem } from '../domain/problem.js';
import type { Rollout } from '../domain/trajectory.js';
import { EngineError } from '../engine/engineError.js';
import type { Sample, SampleRequest } from '../engine/sampler.js';
import { untilAborted } from '../tools/callTool.js';
import { type Episode, type EpisodeOptions, openEpisode, type RolloutSettings } from './episode.js';

/** Times that one turn is sampled before the rollout is given up. */
export const ATTEMPTS_PER_TURN = 3;

export interface RolloutInput<P extends Problem> extends EpisodeOptions<P> {
  /** The seed of a turn's sample; a failed one is made anew as the next attempt. */
  readonly seed: (turn: number, attempt: number) => number;
  /** In place of the settings' own. */
  readonly sampling?: RolloutSettings['sampling'];
}

/**
 * @throws the signal's reason when it is aborted
 * @throws EngineError (user) when the engine refuses the request: that is no failure of the machine, and no retry mends it
 */
export async function runRollout<P extends Problem>(settings: RolloutSettings, input: RolloutInput<P>): Promise<Rollout<P>> {
  const episode = await openEpisode(input.sampling ? { ...settings, sampling: input.sampling } : settings, input);
  if ('kind' in episode) return episode;
  try {
    let attempt = 0;
    for (;;) {
      const request: SampleRequest = { ...episode.request(), seed: input.seed(episode.turn, attempt) };
      const sampled = await trySample(settings, episode, request);
      if (sampled === 'deadline') return await episode.endAtDeadline();
      if (sampled instanceof EngineError) {
        attempt++;
        if (attempt === ATTEMPTS_PER_TURN) return await episode.fail(sampled.message);
        continue;
      }
      const taken = await tryTake(episode, sampled);
      if (taken instanceof EngineError) {
        attempt++;
        if (attempt === ATTEMPTS_PER_TURN) return await episode.fail(taken.message);
        continue;
      }
      if (taken !== undefined) return taken;
      attempt = 0;
    }
  } finally {
    await episode.close();
  }
}

/** A sample, the engine's failure, or the deadline. */
export async function trySample(
  settings: RolloutSettings,
  episode: Pick<Episode<Problem>, 'signal' | 'outOfTime'>,
  request: SampleRequest,
): Promise<Sample | EngineError | 'deadline'> {
  try {
    return await untilAborted(settings.sampler.sample(request, episode.signal), episode.signal);
  } catch (error) {
    if (episode.outOfTime) return 'deadline';
    episode.signal.throwIfAborted();
    return retriable(error);
  }
}

/** What `take` gives, or the engine's failure where the sample was not well formed. */
export async function tryTake<P extends Problem>(episode: Episode<P>, sample: Sample): Promise<Rollout<P> | undefined | EngineError> {
  try {
    return await episode.take(sample);
  } catch (error) {
    return retriable(error);
  }
}

/** @throws the error itself where trying again cannot help. */
function retriable(error: unknown): EngineError {
  if (error instanceof EngineError && error.category !== 'user') return error;
  throw error;
}
