/** Words and tones for studies, and what their page derives from cells. Pure. */
import type { StudyClaim, StudyDetail, StudyEstimate, StudyProgress, StudyState } from '../../api.js';
import type { Tone } from '../components/bits.js';
import { count, counted, duration, STAGE_NAMES } from '../format.js';

export const STATE_WORDS: Readonly<Record<StudyState, string>> = {
  running: 'running',
  stopped: 'not running',
  complete: 'complete',
  unreadable: 'unreadable',
};

export const STATE_TONES: Readonly<Record<StudyState, Tone>> = {
  running: 'good',
  stopped: 'warn',
  complete: 'neutral',
  unreadable: 'bad',
};

export const STATE_HINTS: Readonly<Record<StudyState, string>> = {
  running: 'A process runs it now',
  stopped: 'Something is left to run and nobody runs it: the command that began it goes on',
  complete: 'Every arm of every block is there',
  unreadable: 'Its plans cannot be read',
};

type Verdict = NonNullable<StudyClaim['verdict']>;

/** A sign beside the words and the colour. */
export const OUTCOMES: Readonly<Record<Verdict['outcome'], readonly [sign: string, tone: Tone]>> = {
  supported: ['✓', 'good'],
  contradicted: ['✗', 'bad'],
  noMaterialEffect: ['=', 'info'],
  undecided: ['?', 'warn'],
  exploratory: ['…', 'neutral'],
  notTested: ['–', 'neutral'],
};

/** `RL 12/30`. */
export const progressText = (progress: StudyProgress | undefined): string =>
  progress === undefined
    ? 'beginning'
    : `${STAGE_NAMES[progress.stage]} ${progress.steps === 0 ? '…' : `${count(progress.done)}/${count(progress.steps)}`}`;

export const estimateText = ({ each, of, beside }: StudyEstimate): string =>
  `an estimate: ${duration(Math.round(each))} an arm-run, by the ${count(of)} that have ended, ${beside === 1 ? 'one at a time' : `${beside} side by side`}`;

/** In whole minutes, for nobody knows the seconds. */
export const aboutTime = (seconds: number): string => {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return minutes < 90 ? `about ${counted(minutes, 'minute')}` : `about ${(minutes / 60).toFixed(1)} hours`;
};

export interface RunningNow {
  readonly key: string;
  /** As a plan calls it; a start has none. */
  readonly arm?: string;
  readonly plan?: string;
  readonly block: number;
  readonly run: string | undefined;
  readonly progress: StudyProgress | undefined;
}

/** Each run once, whatever plans share it. */
export function runningNow({ grids, starts }: Pick<StudyDetail, 'grids' | 'starts'>): readonly RunningNow[] {
  const found = new Map<string, RunningNow>();
  for (const { block, run, running, progress } of starts) if (running) found.set(run, { key: run, block, run, progress });
  for (const { plan, arms, blocks } of grids)
    for (const { block, cells } of blocks)
      for (const [i, { key, state, run, progress }] of cells.entries())
        if (state === 'running' && !found.has(key)) found.set(key, { key, arm: arms[i]!, plan, block, run, progress });
  return [...found.values()];
}
