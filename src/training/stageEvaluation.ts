/** The evaluations that a run makes of its own policy: before, between and after its stages. */
import type { Stage } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Trainer } from '../engine/trainer.js';
import { evaluatePolicy } from '../evaluation/evaluate.js';
import { samplingSettings } from '../evaluation/samplingSettings.js';
import { deriveSeed } from '../random.js';
import { openRun } from '../runs/reader.js';
import type { RunParts } from './trainingRun.js';

/** Rollouts of an evaluation in flight at once: enough to fill a batch, few enough for the caches. */
const CONCURRENCY = 192;

/**
 * The policy as it is now on the held-out problems. What the run's record has already is not measured again.
 *
 * @param step steps of the stage that were made before
 * @param extra whether the recipe's further samplings are measured too
 */
export async function evaluateStage<P extends Problem>(
  parts: RunParts<P>,
  trainer: Trainer,
  { stage, step, extra }: { readonly stage: Stage; readonly step: number; readonly extra: boolean },
): Promise<void> {
  const { recipe, session, data, grader, sink, signal, options, writer } = parts;
  if (data.evaluation.length === 0) return;
  if (stage === 'base') sink({ kind: 'stageStarted', stage: 'base', steps: 0 });
  const started = performance.now();
  const known = openRun(writer.folder);
  const settings = samplingSettings(recipe, extra).filter(
    ({ name }) => !known.evaluations().some((row) => row.stage === stage && row.step === step && row.name === name),
  );
  known.close();
  const sampler = await trainer.publish(signal);
  const rollout = session.rolloutSettings();
  const answerer = parts.agent
    ? { agent: parts.agent({ ...rollout, sampler, sampling: { temperature: 1, topP: 1 } }) }
    : { sampler, rollout };
  await evaluatePolicy({
    ...answerer,
    problems: data.evaluation,
    settings,
    grader,
    stage,
    step,
    seed: deriveSeed(recipe.seed, 'evaluation'),
    concurrency: recipe.rl === undefined || recipe.rl.concurrency === 'auto' ? CONCURRENCY : recipe.rl.concurrency,
    lockstep: recipe.engine.deterministic,
    sink,
    signal,
    onProgress: (done, all) => options.onProgress?.('evaluation', done, all),
  });
  if (stage === 'base') sink({ kind: 'stageEnded', stage: 'base', seconds: (performance.now() - started) / 1000 });
}
