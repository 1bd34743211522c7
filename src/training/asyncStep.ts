/** One step of asynchronous reinforcement learning: publish, take the groups that are in, train while further ones are sampled. */
import type { Metrics } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { AsyncRollouts } from './asyncRollouts.js';
import { type RlContext, trainStep, warnWhereShort } from './rl.js';

/** @param step 0-based */
export async function asyncStep<P extends Problem>(context: RlContext<P>, rollouts: AsyncRollouts<P>, step: number): Promise<Metrics> {
  const started = performance.now();
  const sampler = await context.trainer.publish(context.signal);
  const published = performance.now();
  const batch = await rollouts.batch(context, sampler, step);
  const sampled = performance.now();
  warnWhereShort(context, batch.trained.length);
  return { ...(await trainStep(context, batch, step, { started, published, sampled })), ...batch.metrics };
}
