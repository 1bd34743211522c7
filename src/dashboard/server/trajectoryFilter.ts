/** A question about rollouts as SQL: which rows, in which order. Every value of the user's is a parameter. */
import { type FACTS, searchWords } from '../../runs/facts.js';
import type { Flag, TrajectoryQuery } from '../api.js';
import type { Sort } from './query.js';
import type { RunView } from './runView.js';

type Value = string | number;

export interface Filter {
  readonly from: string;
  /** With its WHERE; empty where all rows are meant. */
  readonly where: string;
  readonly values: readonly Value[];
  /** Needs what an older run has to be read through for. */
  readonly needsFacts: boolean;
  /** Looks for words. */
  readonly searches: boolean;
}

const EXTREME_ADVANTAGE = 2;

type FactName = (typeof FACTS)[number];

const FLAG_SQL: Readonly<Record<Flag, (fact: (name: FactName) => string) => string>> = {
  wrongThoughToolSucceeded: (fact) => `t.correct = 0 AND ${fact('lastToolSucceeded')} = 1`,
  malformed: (fact) => `${fact('malformed')} > 0`,
  truncated: () => `t.stopReason = 'tokenLimit'`,
  infra: () => `t.verdict = 'infra'`,
  toolFailed: (fact) => `${fact('toolFailures')} > 0`,
  noCall: () => 't.calls = 0',
  gradersDisagree: () => '((t.correct = 1 AND t.reward < 0) OR (t.correct = 0 AND t.reward > 0))',
  extremeAdvantage: () => `abs(t.advantage) > ${EXTREME_ADVANTAGE}`,
};
const NEED_FACTS: ReadonlySet<Flag> = new Set(['wrongThoughToolSucceeded', 'malformed', 'toolFailed']);

export function filterOf(view: RunView, query: TrajectoryQuery): Filter {
  const parts: string[] = [];
  const values: Value[] = [];
  const add = (sql: string, ...own: Value[]): void => {
    parts.push(sql);
    values.push(...own);
  };
  for (const column of ['stage', 'step', 'split', 'problemId', 'groupId', 'stopReason'] as const) {
    const value = query[column];
    if (value !== undefined) add(`t.${column} = ?`, value);
  }
  if (query.fromStep !== undefined) add('t.step >= ?', query.fromStep);
  if (query.toStep !== undefined) add('t.step <= ?', query.toStep);
  if (query.correct !== undefined) add('t.correct = ?', Number(query.correct));
  const needsFacts = (query.flags ?? []).some((flag) => NEED_FACTS.has(flag));
  const { from, fact } = needsFacts ? view.source() : { from: 'trajectories t', fact: (name: string) => `t.${name}` };
  for (const flag of query.flags ?? []) add(FLAG_SQL[flag](fact));
  if (query.text !== undefined) {
    const words = searchWords(query.text);
    if (words.length === 0) add('0');
    else {
      const { sql, marks } = view.matching();
      add(`t.id IN (${sql})`, ...Array<string>(marks).fill(matchOf(words)));
    }
  }
  return {
    from,
    where: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`,
    values,
    needsFacts: needsFacts || query.text !== undefined,
    searches: query.text !== undefined,
  };
}

const MOST_WORDS = 32;

/** All words, each by its beginning. Words hold letters and digits only, so nothing in them is an operator. */
const matchOf = (words: readonly string[]): string =>
  words
    .slice(0, MOST_WORDS)
    .map((word) => `"${word}"*`)
    .join(' AND ');

/** Keys of an order; the id decides between equals, so that every row has its place. Unknown numbers come last. */
const SORT_SQL: Readonly<Record<Sort, { readonly key: string; readonly down: boolean }>> = {
  newest: { key: 't.id', down: true },
  oldest: { key: 't.id', down: false },
  longest: { key: 't.modelTokens', down: true },
  shortest: { key: 't.modelTokens', down: false },
  reward: { key: 'coalesce(t.reward, 9e999)', down: false },
  '-reward': { key: 'coalesce(t.reward, -9e999)', down: true },
  advantage: { key: 'coalesce(t.advantage, 9e999)', down: false },
  '-advantage': { key: 'coalesce(t.advantage, -9e999)', down: true },
  calls: { key: 't.calls', down: true },
};

export function orderOf(sort: Sort = 'newest'): string {
  const { key, down } = SORT_SQL[sort];
  const way = down ? 'DESC' : 'ASC';
  return key === 't.id' ? `ORDER BY t.id ${way}` : `ORDER BY ${key} ${way}, t.id DESC`;
}

/** Ids beside one row in the order of a listing; the row itself need not be in it. */
export function neighboursOf(view: RunView, filter: Filter, sort: Sort = 'newest', id: number): { previous?: number; next?: number } {
  const { key, down } = SORT_SQL[sort];
  const value = view.db.prepare(`SELECT ${key} FROM trajectories t WHERE t.id = ?`).pluck().get(id) as number | undefined;
  if (value === undefined) return {};
  const plain = key === 't.id';
  const beside = (forwards: boolean): number | undefined => {
    const keyDown = down === forwards;
    // equal keys are listed newest first
    const idDown = plain ? keyDown : forwards;
    const past = plain
      ? `t.id ${keyDown ? '<' : '>'} ?`
      : `(${key} ${keyDown ? '<' : '>'} ? OR (${key} = ? AND t.id ${idDown ? '<' : '>'} ?))`;
    const where = filter.where === '' ? `WHERE ${past}` : `${filter.where} AND ${past}`;
    const order = plain ? `t.id ${keyDown ? 'DESC' : 'ASC'}` : `${key} ${keyDown ? 'DESC' : 'ASC'}, t.id ${idDown ? 'DESC' : 'ASC'}`;
    return view.db
      .prepare(`SELECT t.id FROM ${filter.from} ${where} ORDER BY ${order} LIMIT 1`)
      .pluck()
      .get(...filter.values, ...(plain ? [id] : [value, value, id])) as number | undefined;
  };
  const [previous, next] = [beside(false), beside(true)];
  return { ...(previous !== undefined && { previous }), ...(next !== undefined && { next }) };
}
