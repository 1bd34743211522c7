/** What is wrong with an endpoint, by itself and for an arm that it is to be read from, before anything runs. Reads no results. */
import { samplingSettings } from '../evaluation/samplingSettings.js';
import { nearest } from '../recipe/nearest.js';
import type { Recipe } from '../recipe/schema.js';
import { sftUpdates } from '../training/sft.js';
import { type Endpoint, unitOf } from './endpoint.js';
import { curveNames, evaluationNames, whyNot } from './metricNames.js';

/** @param at before the names of its keys, for example `endpoint.` */
export function mistakesInValues(endpoint: Endpoint, at: string): string[] {
  if ('mean' in endpoint) {
    const { from, to } = endpoint;
    return to !== undefined && from > to ? [`${at}from (${from}) is above ${at}to (${to}): no step lies between`] : [];
  }
  return 'stepsTo' in endpoint ? outsideShare(endpoint.stepsTo, endpoint.reach, `${at}reach`) : [];
}

/** A share stands in points in verdicts, and as it was measured, 0 to 1, in `reach` and `atLeast`. */
export function outsideShare(metric: string, value: number, path: string): string[] {
  if (unitOf(metric) !== 100 || (value >= 0 && value <= 1)) return [];
  const meant = value > 1 && value <= 100 ? `: for ${value} % write ${value / 100}` : '';
  return [`${path} is ${value}, and ${metric} is a share, from 0 to 1${meant}`];
}

/** What keeps the arm of this recipe from having such a number. @param at as above */
export function mistakesForArm(endpoint: Endpoint, recipe: Recipe, at: string): string[] {
  const { stage } = endpoint;
  if (stage === 'base') {
    if (!('final' in endpoint)) return [`${at}stage is base, which has no steps and so no curves: take sft or rl, or final`];
    if (!recipe.evaluation.base)
      return [`${at}stage is base, and evaluation.base is false: nothing is measured before training. Set it to true`];
  } else if (!recipe.stages.includes(stage)) {
    const [first] = recipe.stages;
    const others = [...recipe.stages, ...('final' in endpoint && recipe.evaluation.base ? ['base'] : [])];
    return [`${at}stage is ${stage}, which is not among its stages (${others.join(', ')}): write stage: ${first}`];
  }
  if ('final' in endpoint) return inEvaluation(endpoint, recipe, at);
  if (stage === 'base') return [];
  return [...inCurve(endpoint, recipe, stage, at), ...beyondSteps(endpoint, recipe, stage, at)];
}

type Final = Extract<Endpoint, { final: string }>;
type Curve = Exclude<Endpoint, Final>;

function inEvaluation({ final, evaluation = 'main' }: Final, recipe: Recipe, at: string): string[] {
  const settings = samplingSettings(recipe, true);
  const setting = settings.find(({ name }) => name === evaluation);
  if (setting === undefined) {
    const names = settings.map(({ name }) => name);
    const near = nearest(evaluation, names);
    const hint = near === undefined ? 'Add it to evaluation.extra, or take main' : `Did you mean ${near}?`;
    return [`${at}evaluation is ${evaluation}, which its recipe does not make (${names.join(', ')}). ${hint}`];
  }
  const why = whyNot(evaluationNames(recipe, setting), final, 'no evaluation gives');
  return why === undefined ? [] : [`${at}final is ${final}, ${why}`];
}

function inCurve(endpoint: Curve, recipe: Recipe, stage: 'sft' | 'rl', at: string): string[] {
  const [key, metric] = 'mean' in endpoint ? ['mean', endpoint.mean] : ['stepsTo', endpoint.stepsTo];
  const why = whyNot(curveNames(recipe, stage), metric, `no step of ${stage} gives`);
  return why === undefined ? [] : [`${at}${key} is ${metric}, ${why}`];
}

function beyondSteps(endpoint: Curve, recipe: Recipe, stage: 'sft' | 'rl', at: string): string[] {
  const known = stage === 'rl' ? rlSteps(recipe) : sftSteps(recipe);
  if (known === undefined) return [];
  const { steps, text } = known;
  const values = 'mean' in endpoint ? { from: endpoint.from, to: endpoint.to } : { window: endpoint.window };
  return Object.entries(values).flatMap(([key, value]) =>
    value !== undefined && value > steps ? [`${at}${key} is ${value}, and ${stage} has ${text}`] : [],
  );
}

interface Steps {
  readonly steps: number;
  readonly text: string;
}

const rlSteps = ({ rl }: Recipe): Steps | undefined =>
  rl && { steps: rl.steps, text: `${rl.steps} ${rl.steps === 1 ? 'step' : 'steps'} (rl.steps)` };

/** Fewer where conversations are left out; of a file nothing is known before it is read. */
function sftSteps({ sft }: Recipe): Steps | undefined {
  if (sft === undefined || !('count' in sft.demonstrations)) return undefined;
  const { count } = sft.demonstrations;
  const steps = sftUpdates(count, sft);
  return { steps, text: `at most ${steps} updates (${count} conversations by ${sft.batchSize}, epochs ${sft.epochs})` };
}
