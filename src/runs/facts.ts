/**
 * What a listing wants to know of a rollout beyond its columns, and the words that it is found by. Made once, when the rollout is written;
 * of older runs from the stored rollout.
 */
import type { TrajectoryRecord } from '../domain/event.js';
import { type Mode, modeOf } from '../domain/mode.js';
import { turnsOf } from '../domain/trajectory.js';

/** Columns of a table of the same names. */
export interface Facts {
  readonly mode: Mode;
  /** Executed calls that succeeded, and that failed. */
  readonly toolSuccesses: number;
  readonly toolFailures: number;
  /** Calls that could not be read, cut-off ones among them. */
  readonly malformed: number;
  /** Of the last executed call; null where there was none. */
  readonly lastToolSucceeded: 0 | 1 | null;
}

export const FACTS = [
  'mode',
  'toolSuccesses',
  'toolFailures',
  'malformed',
  'lastToolSucceeded',
] as const satisfies readonly (keyof Facts)[];

export function factsOf({ trajectory }: Pick<TrajectoryRecord, 'trajectory'>): Facts {
  let toolSuccesses = 0;
  let toolFailures = 0;
  let malformed = 0;
  let lastToolSucceeded: 0 | 1 | null = null;
  for (const { segments, replies } of turnsOf(trajectory)) {
    for (const segment of segments) if (segment.kind === 'malformedCall' || segment.kind === 'cutOffCall') malformed++;
    for (const reply of replies) {
      if (reply.kind !== 'executed') continue;
      if (reply.success) toolSuccesses++;
      else toolFailures++;
      lastToolSucceeded = reply.success ? 1 : 0;
    }
  }
  return { mode: modeOf(trajectory), toolSuccesses, toolFailures, malformed, lastToolSucceeded };
}

/** Characters of one rollout that are searched; what comes after them is not found. */
const MOST_SEARCHED = 100_000;

/** Question, what the model wrote, code, results and answer as words, ready to be indexed: see `searchWords`. */
export function searchText({ trajectory }: Pick<TrajectoryRecord, 'trajectory'>): string {
  const parts: string[] = [trajectory.problem.question];
  for (const { text, segments, replies } of turnsOf(trajectory)) {
    parts.push(text);
    // in the text as it was written a newline of code is \n
    for (const segment of segments) {
      if (segment.kind === 'call') for (const value of Object.values(segment.arguments)) if (typeof value === 'string') parts.push(value);
    }
    for (const reply of replies) parts.push(reply.text);
  }
  parts.push(trajectory.finalText, trajectory.problem.answer ?? '');
  return spaced(parts.join('\n').slice(0, MOST_SEARCHED));
}

/** Scripts without spaces: each sign is a word of its own. */
const SIGN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/**
 * Brings a text to the form in which the index divides it into words, which knows capitals and signs of ASCII only: accents and other marks
 * left out, small letters, a space for every sign that belongs to no word.
 */
function spaced(text: string): string {
  // nearly all texts are ASCII alone
  if (!/[\u0080-\uffff]/.test(text)) return text;
  return text
    .toLowerCase()
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^\p{L}\p{N}\p{Co}]+/gu, ' ')
    .replace(SIGN, ' $& ');
}

/** The words of a text as the index knows them: letters and digits in a row, of scripts without spaces each sign. */
export const searchWords = (text: string): string[] => spaced(text).match(/[\p{L}\p{N}\p{Co}]+/gu) ?? [];
