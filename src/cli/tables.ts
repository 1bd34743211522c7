/** Tables for the terminal. Knows reports, not runs. */
import type { EvalMode, PublishedScore } from '../benchmarks/benchmark.js';
import type { EvaluationResult } from '../evaluation/evaluate.js';
import type { Figure } from '../evaluation/metrics.js';
import type { Report, StageReport } from '../evaluation/report.js';
import { percent } from './narrator.js';

const NAMES = { base: 'before training', sft: 'after SFT', rl: 'after RL' } as const;

/** Aligned columns; the first is left-aligned. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => [...(row[column] ?? '')].length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('   ');
  const [head, ...body] = rows.map(line);
  return [head, '─'.repeat([...(head ?? '')].length), ...body].join('\n');
}

/** One row a stage: accuracy with its 95 % interval under each sampling, tools, tokens. */
export function reportTable(report: Report): string {
  const rows = (['base', 'sft', 'rl'] as const).flatMap((stage) => {
    const found = report.stages[stage];
    return found ? [row(NAMES[stage], found)] : [];
  });
  const first = Object.values(report.stages)[0];
  const main = first ? `T=${first.temperature} top-p ${first.topP}` : '';
  const head = ['', `${main}: right [95%]`, 'top-p 0.6', 'greedy', 'calls', 'tool ok', 'malformed', 'tokens'];
  return table([head, ...rows]);
}

function row(name: string, stage: StageReport): string[] {
  const withInterval = (value: number | null, interval: readonly [number, number] | null): string =>
    value === null ? '–' : `${percent(value)}${interval ? ` [${percent(interval[0])}, ${percent(interval[1])}]` : ''}`;
  return [
    name,
    withInterval(stage.accuracy, stage.interval),
    withInterval(stage.accuracyTopP06, stage.intervalTopP06),
    withInterval(stage.greedy, stage.intervalGreedy),
    stage.callsPerRollout.toFixed(2),
    percent(stage.toolSuccess),
    percent(stage.malformed),
    stage.tokens.toFixed(0),
  ];
}

/** Everything that an evaluation measured, one figure a line. */
export function evaluationTable(result: EvaluationResult): string {
  const { accuracy, statistics, modes, setting } = result;
  const several = (by: Readonly<Record<number, Figure>> | undefined, name: string): string[][] =>
    Object.entries(by ?? {}).flatMap(([k, value]) => (k === '1' ? [] : [[`${name}@${k}`, figure(value)]]));
  const { valid, all, infra, problems } = accuracy;
  const figure = (value: Figure | undefined): string =>
    value === undefined
      ? '–'
      : `${percentWithTenth(value.value)} [${percentWithTenth(value.interval.low)}, ${percentWithTenth(value.interval.high)}]`;
  return table([
    [
      `T=${setting.temperature} top-p ${setting.topP}${setting.topK === undefined ? '' : ` top-k ${setting.topK}`}, ${problems} ${problems === 1 ? 'problem' : 'problems'} x ${setting.samples}`,
      'value [95% over problems]',
    ],
    [`avg@${setting.samples}`, figure(valid?.average)],
    ...several(valid?.passAt, 'pass'),
    ...several(valid?.majorityAt, 'maj'),
    ...several(valid?.referenceBestAt, 'reference best').slice(-1),
    ...(infra === 0
      ? []
      : [[`lost to infrastructure: ${infra} (${percentWithTenth(infra / accuracy.samples)}); avg over all`, figure(all?.average)]]),
    ['calls a rollout', statistics.callsPerRollout.toFixed(2)],
    ['tool success', percent(statistics.toolSuccess)],
    ['malformed', percent(statistics.malformed)],
    ['truncated', percent(statistics.truncated)],
    ['turns', statistics.turnsPerRollout.toFixed(2)],
    ['tokens a turn', statistics.tokensPerTurn.toFixed(0)],
    ['deliberative, reactive', `${percent(modes.deliberative.share)}, ${percent(modes.reactive.share)}`],
  ]);
}

/** The paper's scores with ours among them, best first; the mode of ours comes first. */
export function publishedTable(
  title: string,
  mode: EvalMode,
  published: readonly PublishedScore[],
  ours: { readonly model: string; readonly score: number | undefined },
): string {
  const rows = (of: EvalMode): string[][] =>
    [
      ...published
        .filter((row) => row.mode === of)
        .map(({ model, score, selfEvaluated }) => ({ name: model, score, star: selfEvaluated === true })),
      ...(of === mode && ours.score !== undefined ? [{ name: `> ${ours.model} (this run)`, score: ours.score * 100, star: false }] : []),
    ]
      .sort((a, b) => b.score - a.score)
      .map(({ name, score, star }) => [name, `${score.toFixed(1)}${star ? '*' : ' '}`, of]);
  const other = mode === 'plain' ? 'agentic' : 'plain';
  const star = published.some(({ selfEvaluated }) => selfEvaluated) ? "\n* evaluated by the paper's authors" : '';
  return `${table([[`${title}, paper's Table 2`, '% ', 'mode'], ...rows(mode), ...rows(other)])}${star}`;
}

const percentWithTenth = (share: number): string => `${(share * 100).toFixed(1)}%`;
