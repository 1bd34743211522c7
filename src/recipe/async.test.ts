/** Asynchronous training and dynamic sampling in a recipe: what is refused, what is told. */
import { describe, expect, it } from 'vitest';
import { describeRecipe } from './describe.js';
import { deviations } from './deviations.js';
import { loadRecipe } from './load.js';

const TIS = 'rl.algorithm.truncatedImportanceSampling=2';
const TRAINER = 'rl.algorithm.oldLogProbs=trainer';
const recipeOf = async (...set: string[]) => (await loadRecipe('demo', { set })).recipe;
const refusal = (...set: string[]): Promise<string> =>
  recipeOf(...set).then(
    () => 'taken',
    (error: Error) => error.message,
  );

describe('rl.async', () => {
  it('is absent by default; given, the policy may be one step ahead and late groups are awaited', async () => {
    expect((await recipeOf()).rl!.async).toBeUndefined();
    expect((await recipeOf('rl.async={}', TIS, TRAINER)).rl!.async).toEqual({ staleness: 1, stale: 'wait' });
  });

  it('needs truncated importance sampling, and log-probs of the trainer, where the policy may be ahead', async () => {
    expect(await refusal('rl.async={}')).toContain(
      'rl.async.staleness (1) needs rl.algorithm.truncatedImportanceSampling, for example 2: rollouts of an older policy are weighed by it.',
    );
    expect(await refusal('rl.async={}', TIS, 'rl.algorithm.oldLogProbs=sampler')).toContain('needs oldLogProbs trainer');
    expect(await refusal('rl.async={}', TIS, TRAINER)).toBe('taken');
    expect(await refusal('rl.async.staleness=0')).toBe('taken');
  });

  it('is refused with bit-equal repeats, with more steps than the embedded engine has snapshots, with nothing to carry over to', async () => {
    expect(await refusal('rl.async={}', TIS, TRAINER, 'engine.deterministic=true')).toContain('engine.deterministic and rl.async exclude');
    expect(await refusal('rl.async.staleness=4', TIS, TRAINER)).toContain('rl.async.staleness (4) is above 3: the embedded engine keeps');
    expect(await refusal('rl.async.staleness=4', TIS, TRAINER, 'engine.url=http://127.0.0.1:1')).toBe('taken');
    expect(await refusal('rl.async={staleness: 0, deadline: {share: 0.9, rest: carryOver}}')).toContain('needs a staleness of at least 1');
    expect(await refusal('rl.async={staleness: 0, deadline: {share: 0}}')).toContain('rl.async.deadline.share');
  });

  it('is told before a run, and as a deviation from the paper', async () => {
    const recipe = await recipeOf('rl.async={stale: requeue, deadline: {share: 0.9}}', TIS, TRAINER, 'rl.dynamicSampling={}');
    const text = describeRecipe(recipe).join('\n');
    expect(text).toContain(
      "asynchronous: rollouts are at most 1 step old when they are trained on, later ones are sampled anew; once 90 % of a step's rollouts are in, the rest is cut",
    );
    expect(text).toContain('groups without a gradient are replaced, until a step has sampled 4 batches');
    const paths = deviations(recipe).map(({ path }) => path);
    expect(paths).toContain('rl.async');
    expect(paths).toContain('rl.dynamicSampling');
  });
});
