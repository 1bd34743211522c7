/** Evaluations and checkpoints of a run as marks and dots on the charts of a stage. Pure. */
import type { Stage } from '../../../domain/event.js';
import type { EvaluationSummary, RunDetail } from '../../api.js';
import type { ChartDot, ChartMark } from '../charts/types.js';
import { count, metric, STAGE_NAMES } from '../format.js';
import { href } from '../router.js';
import type { XScale } from './xAxis.js';

export interface PlacedEvaluation {
  readonly evaluation: EvaluationSummary;
  /** Steps of the stage that were made before. */
  readonly steps: number;
}

const ORDER: readonly Stage[] = ['base', 'sft', 'rl'];

/** Those of the stage, and at 0 those of what it began from: the end of the stage before. */
export function evaluationsOn(
  stage: Stage,
  { allEvaluations, stages }: Pick<RunDetail, 'allEvaluations' | 'stages'>,
): readonly PlacedEvaluation[] {
  const own = allEvaluations.filter((each) => each.stage === stage).map((evaluation) => ({ evaluation, steps: evaluation.step }));
  const present = ORDER.filter((each) => stages.some((one) => one.stage === each) || allEvaluations.some((one) => one.stage === each));
  const before = present[present.indexOf(stage) - 1];
  if (before === undefined) return own;
  const ends = allEvaluations.filter((each) => each.stage === before);
  const last = Math.max(...ends.map(({ step }) => step));
  return [...ends.filter(({ step }) => step === last).map((evaluation) => ({ evaluation, steps: 0 })), ...own];
}

export function marksOf(run: RunDetail, stage: Stage, scale: XScale, { prefix = '', checkpoints = true } = {}): readonly ChartMark[] {
  return [
    ...evaluationsOn(stage, run).map(
      ({ evaluation, steps }): ChartMark => ({
        x: scale.toX(steps),
        kind: 'evaluation',
        label: `${prefix}evaluation ${evaluationLabel(evaluation)}`,
        href: rolloutsOf(run.id, evaluation),
      }),
    ),
    ...(checkpoints ? run.checkpoints : [])
      .filter((each) => each.stage === stage)
      .map(
        ({ step, reason }): ChartMark => ({
          x: scale.toX(step),
          kind: 'checkpoint',
          label: `${prefix}checkpoint after step ${count(step)} (${reason})`,
          href: href(['run', run.id, 'overview'], { show: 'checkpoints' }),
        }),
      ),
  ];
}

/** The rollouts of an evaluation. */
export const rolloutsOf = (run: string, { stage, step, name }: EvaluationSummary): string =>
  href(['run', run, 'trajectories'], { stage, fromStep: step, toStep: step, split: name });

export const evaluationLabel = ({ name, stage, step, metrics }: EvaluationSummary): string =>
  `${name} after ${stage === 'base' ? 'nothing (base)' : `step ${count(step)} of ${STAGE_NAMES[stage]}`}${
    metrics.accuracy === undefined ? '' : `: accuracy ${metric('accuracy', metrics.accuracy)}`
  }`;

/** The accuracies that compare with training: of the evaluation `main`, or the first there is. */
export function dotsOf(run: RunDetail, stage: Stage, scale: XScale, colour: number): readonly ChartDot[] {
  const all = evaluationsOn(stage, run).filter(({ evaluation }) => typeof evaluation.metrics.accuracy === 'number');
  const name = all.some(({ evaluation }) => evaluation.name === 'main') ? 'main' : all[0]?.evaluation.name;
  return all
    .filter(({ evaluation }) => evaluation.name === name)
    .map(({ evaluation: { metrics }, steps }) => ({
      x: scale.toX(steps),
      y: metrics.accuracy!,
      colour,
      ...(typeof metrics.intervalLow === 'number' && typeof metrics.intervalHigh === 'number'
        ? { low: metrics.intervalLow, high: metrics.intervalHigh }
        : {}),
    }));
}
