/** The difficulty histogram of a profile, and how a terminal shows it. */
import { type Certainty, certaintyOf, type Difficulty, difficultyOf, levelOf } from './labels.js';
import type { ProfileRow } from './profile.js';

export interface Histogram {
  /** Rollouts a problem. */
  readonly n: number;
  /** Problems with 0/n .. n/n right, [n + 1]. */
  readonly counts: readonly number[];
  /** Problems with too few valid rollouts. */
  readonly unlabelled: number;
  /** Problems that a selection may take, by label. */
  readonly labels: Readonly<Record<Difficulty, number>>;
  readonly certain: Readonly<Record<Certainty, number>>;
}

/** @param n number of bars less one; default: the most rollouts that a row has */
export function histogramOf(
  rows: readonly Pick<ProfileRow, 'accuracy' | 'n'>[],
  n = rows.reduce((most, row) => Math.max(most, row.n), 1),
): Histogram {
  const counts = new Array<number>(n + 1).fill(0);
  const labels = { easy: 0, medium: 0, hard: 0 };
  const certain = { solved: 0, unsolved: 0 };
  let unlabelled = 0;
  for (const { accuracy } of rows) {
    if (accuracy === null) {
      unlabelled++;
      continue;
    }
    counts[levelOf(accuracy, n)]!++;
    const certainty = certaintyOf(accuracy);
    if (certainty) certain[certainty]++;
    else labels[difficultyOf(accuracy)]++;
  }
  return { n, counts, unlabelled, labels, certain };
}

const WIDTH = 32;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** One line a bar, then one of the labels. */
export function drawHistogram(histogram: Histogram): string[] {
  const { n, counts, unlabelled, labels, certain } = histogram;
  const all = counts.reduce((sum, count) => sum + count, 0) + unlabelled;
  const most = Math.max(1, ...counts);
  const digits = String(all).length;
  const lines = counts.map((count, k) => {
    const name = `${k}/${n}`.padStart(`${n}/${n}`.length);
    return `  ${name}  ${String(count).padStart(digits)} ${percent(count, all)}  ${bar(count / most)} ${noteOf(k, n)}`;
  });
  if (unlabelled > 0) lines.push(`  too few valid rollouts: ${unlabelled}`);
  const kept = labels.easy + labels.medium + labels.hard;
  const dropped = `${certain.unsolved} never solved and ${certain.solved} always solved are marked to be dropped`;
  lines.push(`  ${kept} of ${all} remain: ${labels.easy} easy, ${labels.medium} medium, ${labels.hard} hard; ${dropped}`);
  return lines;
}

function noteOf(level: number, n: number): string {
  const label = difficultyOf(level / n);
  return certaintyOf(level / n) === undefined ? label : `${label}, dropped`;
}

function bar(share: number): string {
  const eighths = Math.round(share * WIDTH * 8);
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8]}`.padEnd(WIDTH);
}

const percent = (count: number, all: number): string => `${(all === 0 ? 0 : (100 * count) / all).toFixed(1)}%`.padStart(6);
