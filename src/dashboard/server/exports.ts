/** Metrics and rollouts as CSV and JSON Lines, a piece at a time: neither the run nor the file is ever whole in memory. */
import type { TrajectoryQuery } from '../api.js';
import { metricNames } from './metrics.js';
import type { RunView } from './runView.js';
import { linesOf, recordOf } from './trajectories.js';
import { filterOf, orderOf } from './trajectoryFilter.js';

type Cell = string | number | boolean | null | undefined;

/** Rollouts, or steps, read at once. */
const SLICE = 200;

/** One row a step: stage, step, and a column for each metric of the run. */
export function* metricsCsv(view: RunView): Generator<string> {
  const stages = (['base', 'sft', 'rl'] as const).map((stage) => ({ stage, names: metricNames(view, stage) }));
  const names = [...new Set(stages.flatMap((one) => one.names))].sort();
  yield csvRow(['stage', 'step', ...names]);
  for (const { stage, step, values } of stepsOf(view)) yield csvRow([stage, step, ...names.map((name) => values[name])]);
}

export function* metricsJsonl(view: RunView): Generator<string> {
  for (const { stage, step, values } of stepsOf(view)) yield `${JSON.stringify({ stage, step, metrics: values })}\n`;
}

function* stepsOf(view: RunView): Generator<{ stage: string; step: number; values: Record<string, number | null> }> {
  for (const stage of ['base', 'sft', 'rl'] as const) {
    const read = metricNames(view, stage).map(
      (name) =>
        [name, view.db.prepare('SELECT step, value FROM metrics WHERE stage = ? AND name = ? AND step >= ? AND step <= ?').raw()] as const,
    );
    const steps = view.db.prepare('SELECT step FROM steps WHERE stage = ? AND step > ? ORDER BY step LIMIT ?').pluck();
    for (let after = -1; ; ) {
      const some = steps.all(stage, after, SLICE) as number[];
      if (some.length === 0) break;
      const [first, last] = [some[0]!, some.at(-1)!];
      const rows = new Map(some.map((step) => [step, {} as Record<string, number | null>]));
      for (const [name, statement] of read) {
        for (const [step, value] of statement.all(stage, name, first, last) as [number, number | null][]) {
          const row = rows.get(step);
          if (row) row[name] = value;
        }
      }
      for (const [step, values] of rows) yield { stage, step, values };
      after = last;
    }
  }
}

const COLUMNS = [
  'id',
  'stage',
  'step',
  'split',
  'trajectoryId',
  'groupId',
  'problemId',
  'correct',
  'reason',
  'reward',
  'advantage',
  'stopReason',
  'modelTokens',
  'tokens',
  'turns',
  'calls',
  'seconds',
] as const;

/** One row a rollout, as it is listed. */
export function* trajectoriesCsv(view: RunView, query: TrajectoryQuery): Generator<string> {
  yield csvRow([...COLUMNS, 'flags']);
  for (const ids of slices(view, query))
    for (const line of linesOf(view, ids)) yield csvRow([...COLUMNS.map((name) => line[name]), line.flags.join(' ')]);
}

/** One rollout a line, with its texts; tokens only where they are asked for. */
export function* trajectoriesJsonl(view: RunView, query: TrajectoryQuery, tokens: boolean): Generator<string> {
  for (const ids of slices(view, query)) {
    for (const line of linesOf(view, ids)) {
      const { trajectory, verdict, reward, sampledFrom, ratios } = recordOf(view, line.id);
      const {
        promptTokens,
        tokens: response,
        mask,
        samplerLogProbs,
        problem,
        turns,
        finalText,
        stopReason,
        entropy,
        branches,
      } = trajectory;
      const own = { promptTokens, responseTokens: response, mask, samplerLogProbs, ratios, branches };
      const texts = { problem, segmentsOf: turns, finalText, stop: stopReason, verdict, rewardParts: reward?.parts, entropy, sampledFrom };
      yield `${JSON.stringify({ ...line, ...texts, ...(tokens && own) })}\n`;
    }
  }
}

function* slices(view: RunView, query: TrajectoryQuery): Generator<number[]> {
  const filter = filterOf(view, query);
  const ids = view.db
    .prepare(`SELECT t.id FROM ${filter.from} ${filter.where} ${orderOf(query.sort)} LIMIT ? OFFSET ?`)
    .pluck()
    .all(...filter.values, query.limit ?? -1, query.offset ?? 0) as number[];
  for (let at = 0; at < ids.length; at += SLICE) yield ids.slice(at, at + SLICE);
}

/** A line of CSV (RFC 4180), ended by a newline. */
export const csvRow = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** A spreadsheet takes a text that begins so for a formula. */
const FORMULA = /^[\s]*[=+\-@\t\r|]/;

function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
