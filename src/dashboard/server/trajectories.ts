/** Lists of rollouts, and one rollout whole as a person reads it. Tokens: see `tokens.ts`. */
import type { TrajectoryRecord } from '../../domain/event.js';
import { type Facts, factsOf } from '../../runs/facts.js';
import type { Flag, TrajectoryLine, TrajectoryPage, TrajectoryQuery, TrajectoryView } from '../api.js';
import { cutTexts } from './cutTexts.js';
import { Refusal } from './refusal.js';
import type { RunView } from './runView.js';
import { type Filter, filterOf, neighboursOf, orderOf } from './trajectoryFilter.js';

export type Row = Readonly<Record<string, string | number | null>> & { readonly id: number };

const DEFAULT_LIMIT = 50;
/** An older run is read through for so long before what was found so far is shown. */
const PATIENCE_MS = 2_000;

export async function listTrajectories(view: RunView, query: TrajectoryQuery): Promise<TrajectoryPage> {
  const filter = filterOf(view, query);
  const remaining = filter.needsFacts ? await view.readThrough(PATIENCE_MS) : 0;
  const { ids, total } = pageOf(view, filter, query);
  const lines = linesOf(view, ids);
  const lost = query.flags?.includes('infra') ? lostOf(view, query) : 0;
  if (remaining === 0) {
    const note = `${lost} more were lost to infrastructure before they had ended; nothing of them is stored.`;
    return { rows: lines, total, ...(lost > 0 && { note }) };
  }
  return {
    rows: lines,
    total,
    atLeast: true,
    note: `An older run is being read through: ${remaining} rollouts are still to come. Ask again for more.`,
  };
}

/** Rollouts that were never stored, by the metric that counts them. */
function lostOf(view: RunView, { stage, step }: TrajectoryQuery): number {
  const lost = view.db.prepare(
    `SELECT coalesce(sum(value), 0) FROM metrics WHERE name = 'rollout/lost' AND ($stage IS NULL OR stage = $stage) AND ($step IS NULL OR step = $step)`,
  );
  return lost.pluck().get({ stage: stage ?? null, step: step ?? null }) as number;
}

function pageOf(
  view: RunView,
  { from, where, values, searches }: Filter,
  query: TrajectoryQuery,
): { readonly ids: number[]; readonly total: number } {
  const { limit = DEFAULT_LIMIT, offset = 0 } = query;
  const ids = view.db.prepare(`SELECT t.id FROM ${from} ${where} ${orderOf(query.sort)} LIMIT ? OFFSET ?`).pluck();
  if (searches) {
    // to search twice costs more than to hold all ids
    const all = ids.all(...values, -1, 0) as number[];
    return { ids: all.slice(offset, offset + limit), total: all.length };
  }
  const total = view.db
    .prepare(`SELECT count(*) FROM ${from} ${where}`)
    .pluck()
    .get(...values) as number;
  return { ids: ids.all(...values, limit, offset) as number[], total };
}

/** In the order of the ids. */
export function linesOf(view: RunView, ids: readonly number[]): TrajectoryLine[] {
  const rows = view.db.prepare('SELECT * FROM trajectories WHERE id IN (SELECT value FROM json_each(?))').all(JSON.stringify(ids)) as Row[];
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row ? [lineOf(view, row)] : [];
  });
}

/** A row of the table as it travels; its facts are read from the rollout itself where the row has none. */
export function lineOf(view: RunView, row: Row, record?: TrajectoryRecord): TrajectoryLine {
  const facts = factsIn(row) ?? factsBy(view, row.id, record);
  return {
    id: row.id,
    stage: row.stage as TrajectoryLine['stage'],
    step: Number(row.step),
    split: String(row.split),
    trajectoryId: String(row.trajectoryId),
    groupId: String(row.groupId),
    problemId: String(row.problemId),
    ...(row.correct !== null && { correct: row.correct === 1 }),
    ...(row.reason !== null && { reason: String(row.reason) }),
    ...(row.reward !== null && { reward: Number(row.reward) }),
    ...(row.advantage !== null && { advantage: Number(row.advantage) }),
    stopReason: row.stopReason as TrajectoryLine['stopReason'],
    modelTokens: Number(row.modelTokens),
    tokens: Number(row.tokens),
    turns: Number(row.turns),
    calls: Number(row.calls),
    seconds: Number(row.seconds),
    flags: flagsOf(row, facts),
  };
}

function factsIn(row: Row): Facts | undefined {
  return typeof row.mode === 'string' ? (row as unknown as Facts) : undefined;
}

function factsBy(view: RunView, id: number, record = tryRecord(view, id)): Facts | undefined {
  return record && factsOf(record);
}

function tryRecord(view: RunView, id: number): TrajectoryRecord | undefined {
  try {
    return view.record(id);
  } catch {
    return undefined;
  }
}

const within = (row: Row, name: string): number => Number(row[name] ?? Number.NaN);

function flagsOf(row: Row, facts: Facts | undefined): Flag[] {
  const flags: Flag[] = [];
  const reward = within(row, 'reward');
  if (row.correct === 0 && facts?.lastToolSucceeded === 1) flags.push('wrongThoughToolSucceeded');
  if ((facts?.malformed ?? 0) > 0) flags.push('malformed');
  if (row.stopReason === 'tokenLimit') flags.push('truncated');
  if (row.verdict === 'infra') flags.push('infra');
  if ((facts?.toolFailures ?? 0) > 0) flags.push('toolFailed');
  if (row.calls === 0) flags.push('noCall');
  if ((row.correct === 1 && reward < 0) || (row.correct === 0 && reward > 0)) flags.push('gradersDisagree');
  if (Math.abs(within(row, 'advantage')) > 2) flags.push('extremeAdvantage');
  return flags;
}

export function rowOf(view: RunView, id: number): Row {
  const row = view.db.prepare('SELECT * FROM trajectories WHERE id = ?').get(id) as Row | undefined;
  if (!row) throw new Refusal(404, `this run has no rollout ${id}`);
  return row;
}

/** @throws Refusal where it is gone, or cannot be read */
export function recordOf(view: RunView, id: number): TrajectoryRecord {
  let record: TrajectoryRecord | undefined;
  try {
    record = view.record(id);
  } catch (error) {
    throw new Refusal(422, `rollout ${id} cannot be read: ${(error as Error).message}`);
  }
  if (!record) throw new Refusal(404, `this run has no rollout ${id}`);
  return record;
}

export async function viewTrajectory(
  view: RunView,
  id: number,
  query: TrajectoryQuery,
  options: { readonly whole: boolean; readonly systemOf: (view: RunView, record: TrajectoryRecord) => Promise<string> },
): Promise<TrajectoryView> {
  const row = rowOf(view, id);
  const record = recordOf(view, id);
  const system = await options.systemOf(view, record);
  const filter = filterOf(view, query);
  if (filter.needsFacts) await view.readThrough(PATIENCE_MS);
  const { trajectory, verdict, reward, sampledFrom } = record;
  const { id: _, question, answer, ...problem } = trajectory.problem as unknown as Record<string, unknown>;
  const texts = {
    question: String(question),
    ...(typeof answer === 'string' && { answer }),
    problem,
    system,
    segmentsOf: trajectory.turns,
    ...(trajectory.branches && { branches: trajectory.branches.map(({ turns }) => ({ turns })) }),
    finalText: trajectory.finalText,
    ...(verdict && { verdict }),
    ...(trajectory.environment && { environment: trajectory.environment }),
  };
  const { value, cut } = options.whole ? { value: texts, cut: [] } : cutTexts(texts);
  return {
    ...lineOf(view, row, record),
    ...value,
    stop: trajectory.stopReason,
    ...(reward && { rewardParts: reward.parts }),
    ...(trajectory.entropy !== undefined && { entropy: trajectory.entropy }),
    ...(sampledFrom !== undefined && { sampledFrom }),
    cut,
    ...neighboursOf(view, filter, query.sort, id),
  };
}
