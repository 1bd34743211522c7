/** How far a run is and how long it may take still. Pure. */
import type { RunState, RunSummary, StageProgress } from '../../api.js';
import type { Tone } from '../components/bits.js';
import { count, duration, STAGE_NAMES } from '../format.js';

/** Seconds that the stage takes still at its speed so far; undefined where nobody can say. */
export function secondsLeft({ steps, done, startedAt, endedAt }: StageProgress, updatedAt: string, now = Date.now()): number | undefined {
  if (endedAt !== undefined || steps <= 0 || done <= 0 || done >= steps) return undefined;
  const last = Math.min(now, Math.max(Date.parse(updatedAt), Date.parse(startedAt)));
  const each = (last - Date.parse(startedAt)) / 1000 / done;
  if (!Number.isFinite(each)) return undefined;
  return Math.max(0, each * (steps - done) - Math.max(0, now - last) / 1000);
}

export const stageText = ({ stage, steps, done, endedAt, seconds }: StageProgress): string =>
  steps === 0
    ? `${STAGE_NAMES[stage]}${endedAt === undefined ? ' …' : ' done'}`
    : `${STAGE_NAMES[stage]} ${count(done)}/${count(steps)}${seconds === undefined ? '' : ` in ${duration(seconds)}`}`;

export const STATE_WORDS: Readonly<Record<RunState, string>> = {
  running: 'running',
  ended: 'ended',
  interrupted: 'interrupted',
  unreadable: 'unreadable',
};

export const STATE_TONES: Readonly<Record<RunState, Tone>> = { running: 'good', ended: 'neutral', interrupted: 'warn', unreadable: 'bad' };

export const STATE_HINTS: Readonly<Record<RunState, string>> = {
  running: 'A process is writing it now',
  ended: 'It came to its end',
  interrupted: 'It has begun and not ended, and nobody writes it: toolwise train --resume goes on from its newest checkpoint',
  unreadable: 'Its record cannot be read',
};

/** The stage that a person asks about: the one that runs, else the last. Without the evaluation before training, where there is more. */
export const mainStage = ({ stages }: Pick<RunSummary, 'stages'>): StageProgress | undefined =>
  stages.find(({ endedAt, steps }) => endedAt === undefined && steps > 0) ??
  stages.filter(({ steps }) => steps > 0).at(-1) ??
  stages.at(-1);
