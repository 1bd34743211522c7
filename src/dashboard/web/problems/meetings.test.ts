import { describe, expect, it } from 'vitest';
import { type Meeting, placed, stageStarts } from './meetings.js';

const meeting = (stage: Meeting['stage'], step: number, split: string, right: number): Meeting => ({
  stage,
  step,
  split,
  groupId: `${stage}/${step}/${split}`,
  rollouts: 4,
  right,
});

describe('meetings of a problem', () => {
  const meetings = [
    meeting('rl', 1, 'greedy', 3),
    meeting('rl', 1, 'train', 2),
    meeting('rl', 0, 'train', 1),
    meeting('base', 0, 'greedy', 0),
  ];

  it('stand in the order of training: an evaluation after so many steps lies before the next step', () => {
    expect(placed(meetings).map(({ split, places }) => [split, places.map(({ meeting: own, x, y }) => [own.groupId, x, y])])).toEqual([
      [
        'train',
        [
          ['rl/0/train', 1 / 3, 0.25],
          ['rl/1/train', 1, 0.5],
        ],
      ],
      [
        'greedy',
        [
          ['base/0/greedy', 0, 0],
          ['rl/1/greedy', 2 / 3, 0.75],
        ],
      ],
    ]);
    expect(stageStarts(meetings)).toEqual([
      { stage: 'base', x: 0 },
      { stage: 'rl', x: 1 / 3 },
    ]);
  });

  it('stand in the middle where there is one moment, and nowhere where there is none', () => {
    expect(placed([meeting('rl', 0, 'train', 4)])[0]?.places).toMatchObject([{ x: 0.5, y: 1 }]);
    expect(placed([])).toEqual([]);
    expect(stageStarts([])).toEqual([]);
  });
});
