import { describe, expect, it } from 'vitest';
import { choicesOf, figureOf, lineOf, type Moment, rolloutsOf } from './modeSeries.js';

const figures = (mode: Moment['modes'][number]['mode'], rollouts: number, right: number, toolSuccess: number | null = null) => ({
  mode,
  rollouts,
  right,
  toolSuccess,
  callsPerRollout: toolSuccess === null ? 0 : 1.5,
  tokensPerTurn: 40,
});
const moment = (step: number, modes: Moment['modes'], split = 'train', stage: Moment['stage'] = 'rl'): Moment => ({
  stage,
  step,
  split,
  modes,
});

describe('figures of the modes', () => {
  const early = moment(0, [figures('reactive', 3, 1, 0.5), figures('withoutCall', 1, 0)]);
  const late = moment(1, [figures('deliberative', 4, 3, 0.9)]);

  it('are shares of all rollouts of a moment; a mode that nobody was in has the share 0 and no accuracy', () => {
    expect(rolloutsOf(early)).toBe(4);
    expect(figureOf(early, 'reactive', 'share')).toBe(0.75);
    expect(figureOf(early, 'deliberative', 'share')).toBe(0);
    expect(figureOf(early, 'deliberative', 'accuracy')).toBeUndefined();
    expect(figureOf(late, 'deliberative', 'accuracy')).toBe(0.75);
    expect(figureOf(early, 'withoutCall', 'toolSuccess')).toBeUndefined();
    expect(figureOf(moment(0, []), 'reactive', 'share')).toBeUndefined();
  });

  it('make lines that leave out what has no value', () => {
    expect(lineOf([early, late], 'reactive', 'toolSuccess')).toEqual({ x: [0], y: [0.5] });
    expect(lineOf([early, late], 'deliberative', 'share')).toEqual({ x: [0, 1], y: [0, 1] });
  });

  it('are offered by stage and split, those with most moments first', () => {
    const rows = [moment(0, [], 'greedy', 'base'), early, late, moment(1, [], 'greedy')];
    expect(choicesOf(rows)).toEqual([
      { stage: 'rl', split: 'train', moments: 2 },
      { stage: 'base', split: 'greedy', moments: 1 },
      { stage: 'rl', split: 'greedy', moments: 1 },
    ]);
  });
});
