import { describe, expect, it } from 'vitest';
import type { CheckpointRecord } from '../domain/event.js';
import type { StageState } from '../runs/runInfo.js';
import { positionOf } from './position.js';

const saved = (stage: 'sft' | 'rl', step: number): CheckpointRecord => ({
  path: `${stage}-${step}`,
  stage,
  step,
  policyVersion: step,
  optimizer: true,
  reason: 'newest',
});
const state = (stage: 'sft' | 'rl', ended: boolean): StageState => ({
  stage,
  steps: 8,
  startedAt: 'then',
  ...(ended && { endedAt: 'now' }),
});
const of = (states: readonly StageState[], checkpoints: readonly CheckpointRecord[], steps = 8) =>
  positionOf({ stages: ['sft', 'rl'], rl: { steps } }, { stages: () => states, checkpoints: () => checkpoints });

describe('a run goes on', () => {
  it('at the start of its first stage where nothing was kept', () => {
    expect(of([], [])).toEqual({ stage: 'sft', step: 0 });
    expect(of([state('sft', false)], [])).toEqual({ stage: 'sft', step: 0 });
  });

  it('after the newest checkpoint of a stage that was cut off', () => {
    expect(of([state('sft', false)], [saved('sft', 2), saved('sft', 4)])).toEqual({ stage: 'sft', step: 4, checkpoint: saved('sft', 4) });
  });

  it('in the next stage from the end of the one before', () => {
    const checkpoints = [saved('sft', 4), saved('sft', 8)];
    expect(of([state('sft', true)], checkpoints)).toEqual({ stage: 'rl', step: 0, checkpoint: saved('sft', 8) });
    expect(of([state('sft', true), state('rl', false)], checkpoints)).toEqual({ stage: 'rl', step: 0, checkpoint: saved('sft', 8) });
  });

  it('in a last stage whose steps are done but whose evaluation is not', () => {
    const checkpoints = [saved('sft', 8), saved('rl', 8)];
    expect(of([state('sft', true), state('rl', false)], checkpoints)).toEqual({ stage: 'rl', step: 8, checkpoint: saved('rl', 8) });
  });

  it('nowhere once every stage has ended', () => {
    expect(of([state('sft', true), state('rl', true)], [saved('rl', 8)])).toBeUndefined();
    expect(of([state('sft', true), state('rl', true)], [saved('rl', 8)], 4)).toBeUndefined();
  });

  it('after the end of RL where the recipe has more steps now', () => {
    expect(of([state('sft', true), state('rl', true)], [saved('rl', 8)], 12)).toEqual({ stage: 'rl', step: 8, checkpoint: saved('rl', 8) });
  });
});
