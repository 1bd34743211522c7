/** The report of a set of trajectories as text for a terminal. */
import { BEHAVIOUR_NAMES, BEHAVIOURS } from './behaviours.js';
import type { TrajectoriesReport } from './collect.js';
import { compact, roughly } from './progress.js';
import { FILTERS } from './select.js';

export function trajectoriesText(report: TrajectoriesReport): string {
  const { rollouts, removed, behaviours, rows, rowsBySource, unscored } = report;
  const share = (count: number, all: number): string => (all === 0 ? '' : `${Math.round((100 * count) / all)}%`.padStart(6));
  const line = (name: string, count: number, rest = ''): string => `  ${name.padEnd(54)}${String(count).padStart(7)}${rest}`;
  const sources = Object.entries(rowsBySource);
  return [
    `${report.problems} problems, ${rollouts.graded} rollouts of ${report.teacher} (${rollouts.made} by this call), ${compact(rollouts.tokens)} tokens written, ${roughly(report.seconds)}`,
    ...(rollouts.lost > 0
      ? [line('lost to failures; --resume makes them anew', rollouts.lost, `  last: ${rollouts.lastLoss ?? 'in an earlier call'}`)]
      : []),
    '',
    'Left out',
    ...FILTERS.map((filter) => line(filter, removed[filter], share(removed[filter], rollouts.graded))),
    line('kept', rows, `${share(rows, rollouts.graded)}  of ${report.problemsWithRows} problems`),
    ...(unscored > 0 ? [line('of these without a score: the scorer failed', unscored)] : []),
    ...(sources.length > 1 ? ['', 'By source', ...sources.map(([name, count]) => line(name, count, share(count, rows)))] : []),
    '',
    'Behaviours, share of the rows',
    ...BEHAVIOUR_NAMES.map((name) => line(`${name}: ${BEHAVIOURS[name].title}`, behaviours[name], share(behaviours[name], rows))),
    '',
    `Set: ${report.file}`,
    `Card: ${report.card}`,
    `Rollouts: ${report.work}`,
  ].join('\n');
}
