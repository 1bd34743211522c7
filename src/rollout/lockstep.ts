/**
 * Rollouts that take their turns together: in each round every live one samples, as one fixed batch in plan order; then all tools run; then
 * comes the next round. So a batch never depends on how fast a tool was. One whose sample failed tries again in the next round.
 */
import type { Problem } from '../domain/problem.js';
import type { Rollout } from '../domain/trajectory.js';
import { EngineError } from '../engine/engineError.js';
import type { Sample } from '../engine/sampler.js';
import { type Episode, openEpisode, type RolloutSettings } from './episode.js';
import { ATTEMPTS_PER_TURN, type RolloutInput, trySample, tryTake } from './runRollout.js';

interface Runner<P extends Problem> {
  readonly index: number;
  readonly input: RolloutInput<P>;
  readonly episode: Episode<P>;
  attempt: number;
}

let batches = 0;

/**
 * @param label begins the keys of the batches; each call's keys are its own
 * @param done told of each rollout that ends, by its place in `inputs`
 * @throws as `runRollout`, after all in flight have ended
 */
export async function runInLockstep<P extends Problem>(
  settings: RolloutSettings,
  inputs: readonly RolloutInput<P>[],
  label: string,
  done: (index: number, rollout: Rollout<P>) => void,
): Promise<void> {
  const batch = batches++;
  const runners = await openAll(settings, inputs, done);
  try {
    let live = runners;
    for (let round = 0; live.length > 0; round++) {
      const key = `${label} batch ${batch} round ${round}`;
      const size = live.length;
      const samples = await settle(
        live.map(({ episode, input, attempt }, index) =>
          trySample(settings, episode, {
            ...episode.request(),
            seed: input.seed(episode.turn, attempt),
            lockstep: { key, size, index },
          }),
        ),
      );
      const ends = await settle(live.map((runner, i) => advance(runner, samples[i]!)));
      for (const [i, end] of ends.entries()) if (end !== undefined) done(live[i]!.index, end);
      live = live.filter((_, i) => ends[i] === undefined);
    }
  } finally {
    await Promise.all(runners.map(({ episode }) => episode.close()));
  }
}

/** Begins all of them; one whose environment could not be reset is done already. @throws the first error, after the others are closed */
async function openAll<P extends Problem>(
  settings: RolloutSettings,
  inputs: readonly RolloutInput<P>[],
  done: (index: number, rollout: Rollout<P>) => void,
): Promise<Runner<P>[]> {
  const opened = await Promise.allSettled(
    inputs.map((input) => openEpisode(input.sampling ? { ...settings, sampling: input.sampling } : settings, input)),
  );
  const runners: Runner<P>[] = [];
  const lost: [number, Rollout<P>][] = [];
  for (const [index, result] of opened.entries()) {
    if (result.status === 'rejected') continue;
    if ('kind' in result.value) lost.push([index, result.value]);
    else runners.push({ index, input: inputs[index]!, episode: result.value, attempt: 0 });
  }
  const failed = opened.find((result) => result.status === 'rejected');
  try {
    if (failed) throw failed.reason;
    for (const [index, rollout] of lost) done(index, rollout);
  } catch (error) {
    await Promise.all(runners.map(({ episode }) => episode.close()));
    throw error;
  }
  return runners;
}

/** Undefined where the rollout goes on. */
async function advance<P extends Problem>(runner: Runner<P>, sampled: Sample | EngineError | 'deadline'): Promise<Rollout<P> | undefined> {
  if (sampled === 'deadline') return runner.episode.endAtDeadline();
  const taken = sampled instanceof EngineError ? sampled : await tryTake(runner.episode, sampled);
  if (taken instanceof EngineError) {
    runner.attempt++;
    return runner.attempt === ATTEMPTS_PER_TURN ? runner.episode.fail(taken.message) : undefined;
  }
  runner.attempt = 0;
  return taken;
}

/** As Promise.all, but waits for all before it throws the first error. */
async function settle<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
