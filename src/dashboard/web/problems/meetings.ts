/** The meetings of a problem in the order of training, as places of a small chart. Pure. */
import type { Stage } from '../../../domain/event.js';
import type { ProblemView } from '../../api.js';

export type Meeting = ProblemView['meetings'][number];

const STAGES: readonly Stage[] = ['base', 'sft', 'rl'];

export interface Place {
  readonly meeting: Meeting;
  /** 0 to 1 from the first moment to the last. */
  readonly x: number;
  /** Share that was right, 0 to 1. */
  readonly y: number;
}

export interface PlacedSplit {
  readonly split: string;
  readonly places: readonly Place[];
}

/** A step of training lies just before the evaluation that follows it: `step` of an evaluation counts the steps made before. */
export const momentOf = ({ stage, step, split }: Pick<Meeting, 'stage' | 'step' | 'split'>): readonly [stage: number, step: number] => [
  STAGES.indexOf(stage),
  split === 'train' ? step + 0.5 : step,
];

const before = (a: Meeting, b: Meeting): number => {
  const [x, y] = [momentOf(a), momentOf(b)];
  return x[0] - y[0] || x[1] - y[1];
};

/** One series a split, train first. Moments are spread evenly in their order, since stages have no common clock. */
export function placed(meetings: readonly Meeting[]): PlacedSplit[] {
  const ordered = [...meetings].sort(before);
  const moments = [...new Set(ordered.map((meeting) => momentOf(meeting).join()))];
  const last = Math.max(1, moments.length - 1);
  const splits = [...new Set(ordered.map(({ split }) => split))].sort((a, b) => Number(b === 'train') - Number(a === 'train'));
  return splits.map((split) => ({
    split,
    places: ordered
      .filter((meeting) => meeting.split === split)
      .map((meeting) => ({
        meeting,
        x: moments.length === 1 ? 0.5 : moments.indexOf(momentOf(meeting).join()) / last,
        y: meeting.rollouts === 0 ? 0 : meeting.right / meeting.rollouts,
      })),
  }));
}

/** First place of each stage on the same axis, for a line between stages. */
export function stageStarts(meetings: readonly Meeting[]): { readonly stage: Stage; readonly x: number }[] {
  const ordered = [...meetings].sort(before);
  const moments = [...new Set(ordered.map((meeting) => momentOf(meeting).join()))];
  const last = Math.max(1, moments.length - 1);
  return STAGES.flatMap((stage) => {
    const first = ordered.find((meeting) => meeting.stage === stage);
    return first === undefined ? [] : [{ stage, x: moments.length === 1 ? 0.5 : moments.indexOf(momentOf(first).join()) / last }];
  });
}
