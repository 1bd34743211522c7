/**
 * `report.html` of a run: figures with intervals, plots and a sample of rollouts, read from the run's store. One self-contained page (see
 * `html/page.ts`); whatever a model wrote is escaped.
 */
import type { EvaluationRecord, Metrics, TrajectoryRecord } from '../domain/event.js';
import type { Turn } from '../domain/turn.js';
import { type Html, html } from '../html/html.js';
import { facts, folded, page, quote, section, table } from '../html/page.js';
import { barPlot, linePlot, type Point } from '../html/plot.js';
import { deriveSeed } from '../random.js';
import type { Run } from '../runs/reader.js';
import { type Accuracy, accuracy, type Figure, type Figures, type ProblemSamples, type Sample } from './metrics.js';
import { type Modes, modesOf } from './modes.js';

/** Rollouts of which the whole text is shown. */
const SHOWN_ROLLOUTS = 12;
/** Problems in the table. */
const SHOWN_PROBLEMS = 200;
/** Characters shown of one turn. */
const SHOWN_TEXT = 6_000;

const STAGES = { base: 'before training', sft: 'after SFT', rl: 'after RL' } as const;

export function reportPage(run: Run): string {
  const { info } = run;
  const last = lastEvaluations(run);
  const stages = last.map((evaluation) => evaluationSection(run, evaluation));
  const model = info.model.name;
  return page({
    title: `${info.recipe.name}: ${model}`,
    subtitle: `seed ${info.seed}`,
    body: [
      facts([
        ['model', `${model}${info.model.source === undefined ? '' : `, ${info.model.source}`}`],
        ...(info.model.weightsHash === undefined ? [] : ([['weights', info.model.weightsHash]] as const)),
        ...Object.entries(info.versions).map(([name, version]) => [name, String(version)] as const),
        ...Object.entries(info.extra ?? {}).map(
          ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
        ),
      ]),
      last.length > 1 && overviewSection(last),
      trainingSection(run),
      ...stages,
      notesSection(run),
    ].filter((part) => part !== false && part !== undefined),
  });
}

/** The last evaluation of each stage and name, in the order in which they were made. */
function lastEvaluations(run: Run): EvaluationRecord[] {
  const last = new Map<string, EvaluationRecord>();
  for (const record of run.evaluations()) {
    const key = `${record.stage} ${record.name}`;
    last.delete(key);
    last.set(key, record);
  }
  return [...last.values()];
}

const nameOf = ({ stage, name, metrics }: EvaluationRecord): string =>
  `${STAGES[stage]}, ${name === 'main' ? '' : `${name}, `}T=${metrics.temperature} top-p ${metrics.topP}`;

function overviewSection(evaluations: readonly EvaluationRecord[]): Html {
  return section(
    'Right answers',
    barPlot({
      caption: 'avg@n with its 95 % interval over problems',
      bars: evaluations.map((record) => ({
        label: `${record.stage} ${record.name}`,
        value: record.metrics.accuracy ?? Number.NaN,
        ...(record.metrics.intervalLow !== undefined && { low: record.metrics.intervalLow }),
        ...(record.metrics.intervalHigh !== undefined && { high: record.metrics.intervalHigh }),
      })),
      y: { label: 'share right', range: [0, 1], format: percent },
    }),
  );
}

/** Curves of the RL stage; absent where there was none. */
function trainingSection(run: Run): Html | false {
  const curve = (name: string): Point[] => run.metric('rl', name).map(({ step, value }) => ({ x: step + 1, y: value }));
  const right = curve('rollout/accuracy');
  const reward = curve('reward/total');
  if (right.length === 0 && reward.length === 0) return false;
  const step = { label: 'RL step' };
  return section(
    'Training',
    linePlot({
      caption: 'Right rollouts',
      x: step,
      y: { label: 'share right', range: [0, 1], format: percent },
      series: [{ name: 'right', points: right }],
    }),
    linePlot({ caption: 'Mean reward', x: step, y: { label: 'reward' }, series: [{ name: 'reward', points: reward }] }),
    linePlot({ caption: 'Calls a rollout', x: step, y: { label: 'calls' }, series: [{ name: 'calls', points: curve('rollout/calls') }] }),
    linePlot({
      caption: 'Entropy',
      x: step,
      y: { label: 'nats a token' },
      series: [{ name: 'entropy', points: curve('rollout/entropy') }],
    }),
  );
}

interface Measured {
  readonly problems: readonly MeasuredProblem[];
  readonly accuracy: Accuracy;
  readonly modes: Modes;
}

interface MeasuredProblem extends ProblemSamples {
  readonly question: string;
  readonly gold: string | undefined;
  /** Ids of its stored rollouts. */
  readonly ids: readonly number[];
}

/** Reads the rollouts one by one; tokens are not kept. */
function measured(run: Run, { stage, step, name, metrics }: EvaluationRecord): Measured {
  const problems = new Map<string, MeasuredProblem & { samples: Sample[]; ids: number[] }>();
  const turns: { readonly turns: readonly Turn[] }[] = [];
  for (const row of run.trajectories({ stage, step, split: name })) {
    const record = run.trajectory(row.id);
    if (record === undefined) continue;
    const { problem } = record.trajectory;
    const found = problems.get(row.groupId) ?? {
      problemId: problem.id,
      question: problem.question,
      gold: problem.answer,
      samples: [],
      ids: [],
    };
    problems.set(row.groupId, found);
    found.samples.push(sampleOf(record));
    found.ids.push(row.id);
    turns.push({ turns: record.trajectory.turns });
  }
  const samples = metrics.samples ?? 1;
  // What infrastructure took is not stored: of these problems the difference, of others all.
  for (const problem of problems.values()) while (problem.samples.length < samples) problem.samples.push({ kind: 'infra' });
  const list: MeasuredProblem[] = [...problems.values()];
  for (let i = list.length; i < (metrics.problems ?? 0); i++)
    list.push({
      problemId: `(lost ${i + 1})`,
      question: '',
      gold: undefined,
      ids: [],
      samples: Array.from({ length: samples }, () => ({ kind: 'infra' }) as const),
    });
  const seed = deriveSeed(run.info.recipe.seed, 'evaluation');
  return { problems: list, accuracy: accuracy(list, { passAt: powersUpTo(samples), seed }), modes: modesOf(turns) };
}

function sampleOf({ verdict }: TrajectoryRecord): Sample {
  if (verdict?.kind !== 'graded') return { kind: 'infra' };
  return { kind: 'graded', correct: verdict.correct, ...(verdict.extracted !== undefined && { answer: verdict.extracted }) };
}

function evaluationSection(run: Run, record: EvaluationRecord): Html {
  const heading = `Evaluation ${nameOf(record)}`;
  const { problems, accuracy: figures, modes } = measured(run, record);
  const { valid, all } = figures;
  if (valid === undefined) return section(heading, html`<p>No rollout is valid: all ${figures.samples} were lost to infrastructure.</p>`);
  const n = record.metrics.samples ?? 1;
  return section(
    heading,
    html`<p>${figures.problems} problems, ${n} ${n === 1 ? 'rollout' : 'rollouts'} each; ${lostText(figures)}</p>`,
    figureTable(valid, all, figures.infra, n),
    n > 1 && samplingPlot(valid),
    sharePlot(problems, n),
    statisticsTable(record.metrics),
    modesTable(modes),
    folded(`Problems (${problems.length})`, problemTable(problems)),
    folded('A sample of rollouts', sampleRollouts(run, problems)),
  );
}

const lostText = ({ infra, samples }: Accuracy): string =>
  infra === 0 ? 'none lost to infrastructure.' : `${infra} of ${samples} (${percent(infra / samples)}) lost to infrastructure.`;

function figureTable(valid: Figures, all: Figures | undefined, infra: number, n: number): Html {
  const row = (name: string, of: (figures: Figures) => Figure | undefined): string[] => [
    name,
    withInterval(of(valid)),
    ...(infra > 0 ? [withInterval(all && of(all))] : []),
  ];
  const ks = Object.keys(valid.passAt).map(Number);
  const rows = [
    row(`avg@${n}`, ({ average }) => average),
    ...ks.filter((k) => k > 1).map((k) => row(`pass@${k}`, ({ passAt }) => passAt[k])),
    ...ks.filter((k) => k > 1).map((k) => row(`maj@${k}`, ({ majorityAt }) => majorityAt[k])),
    ...ks.filter((k) => valid.referenceBestAt[k]).map((k) => row(`reference best@${k}`, ({ referenceBestAt }) => referenceBestAt[k])),
    ...ks
      .filter((k) => valid.referenceMajorityAt[k])
      .map((k) => row(`reference maj@${k}`, ({ referenceMajorityAt }) => referenceMajorityAt[k])),
  ];
  return table([['', `over valid rollouts [95 %]`, ...(infra > 0 ? ['over all'] : [])], ...rows]);
}

function samplingPlot(valid: Figures): Html {
  const points = (by: Readonly<Record<number, Figure>>): Point[] =>
    Object.entries(by).map(([k, { value, interval }]) => ({ x: Number(k), y: value, low: interval.low, high: interval.high }));
  const reference = points(valid.referenceBestAt).map(({ x, y }) => ({ x, y }));
  return linePlot({
    caption: 'k rollouts: one of them right, their majority right. Bands: 95 % over problems.',
    x: { label: 'k', log: true },
    y: { label: 'share of problems', range: [0, 1], format: percent },
    series: [
      { name: 'pass@k', points: points(valid.passAt) },
      { name: 'maj@k', points: points(valid.majorityAt) },
      ...(reference.length > 0 ? [{ name: 'reference best@k', points: reference, dashed: true }] : []),
    ],
  });
}

/** How many problems are solved how often. */
function sharePlot(problems: readonly MeasuredProblem[], n: number): Html {
  const bins = Math.min(n, 10);
  const counts = new Array<number>(bins + 1).fill(0);
  for (const { samples } of problems) {
    const graded = samples.filter((sample) => sample.kind === 'graded');
    if (graded.length === 0) continue;
    const share = graded.filter(({ correct }) => correct).length / graded.length;
    // The ends stand for none and all.
    const bin = share === 0 ? 0 : share === 1 ? bins : Math.min(bins - 1, Math.max(1, Math.round(share * bins)));
    counts[bins === 1 ? Math.round(share) : bin]!++;
  }
  return barPlot({
    caption: 'Problems by their share of right rollouts; the ends are none and all.',
    bars: counts.map((count, i) => ({ label: percent(i / bins), value: count })),
    x: 'share of right rollouts',
    y: { label: 'problems' },
  });
}

function statisticsTable(metrics: Metrics): Html {
  const at = (name: string): number => metrics[name] ?? Number.NaN;
  return table([
    ['', ''],
    ['calls a rollout', fixed(at('callsPerRollout'), 2)],
    ['tool success', percent(at('toolSuccess'))],
    ['rounds a rollout', fixed(at('turnsPerRollout'), 2)],
    ['tokens a round', fixed(at('tokensPerTurn'), 0)],
    ['tokens a rollout that the model wrote', fixed(at('modelTokens'), 0)],
    ['rollouts that a token limit cut', percent(at('truncated'))],
    ['rollouts with a call that could not be read', percent(at('malformed'))],
  ]);
}

function modesTable(modes: Modes): Html {
  const names = { deliberative: 'deliberative', reactive: 'reactive', withoutCall: 'without a call' } as const;
  return html`${table([
    ['', 'rollouts', 'tool success', 'calls a rollout', 'tokens a round'],
    ...(['deliberative', 'reactive', 'withoutCall'] as const).map((mode) => [
      names[mode],
      percent(modes[mode].share),
      percent(modes[mode].toolSuccess),
      fixed(modes[mode].callsPerRollout, 2),
      fixed(modes[mode].tokensPerRound, 0),
    ]),
  ])}<p class="soft">Deliberative: in the rounds that call, at least as many characters of analysis as of calls; reactive: fewer.</p>`;
}

function problemTable(problems: readonly MeasuredProblem[]): Html {
  const rows = problems.slice(0, SHOWN_PROBLEMS).map(({ problemId, question, gold, samples }) => {
    const graded = samples.filter((sample) => sample.kind === 'graded');
    return [
      problemId,
      `${graded.filter(({ correct }) => correct).length} / ${graded.length}`,
      shorten(gold ?? '–', 60),
      shorten(question, 160),
    ];
  });
  return html`${table([['problem', 'right', 'answer', 'question'], ...rows], { left: [2, 3] })}
${problems.length > SHOWN_PROBLEMS && html`<p class="soft">… and ${problems.length - SHOWN_PROBLEMS} more.</p>`}`;
}

/** Spread over the problems, one rollout each. */
function sampleRollouts(run: Run, problems: readonly MeasuredProblem[]): Html {
  const known = problems.filter(({ ids }) => ids.length > 0);
  const every = Math.max(1, Math.ceil(known.length / SHOWN_ROLLOUTS));
  const records = known.filter((_, i) => i % every === 0).flatMap(({ ids }) => run.trajectory(ids[0]!) ?? []);
  return html`${records.map(rollout)}`;
}

function rollout({ trajectory, verdict }: TrajectoryRecord): Html {
  const { problem, turns, stopReason } = trajectory;
  const outcome =
    verdict?.kind === 'graded'
      ? verdict.correct
        ? html`<span class="good">right</span>`
        : html`<span class="bad">wrong</span>`
      : 'not graded';
  const extracted = verdict?.kind === 'graded' ? (verdict.extracted ?? '–') : '–';
  return folded(
    html`${problem.id}: ${outcome}`,
    quote(problem.question, SHOWN_TEXT),
    turns.map(
      (turn) =>
        html`<h3>model</h3>${quote(turn.text, SHOWN_TEXT)}${turn.replies.map((reply) => html`<h3>tool</h3>${quote(reply.text, SHOWN_TEXT)}`)}`,
    ),
    facts([
      ['read as the answer', shorten(extracted, 400)],
      ['right answer', shorten(problem.answer ?? '–', 400)],
      ['ended by', stopReason.kind],
    ]),
  );
}

function notesSection(run: Run): Html | false {
  const warnings = run.notes().filter(({ level }) => level === 'warning');
  if (warnings.length === 0) return false;
  return section('Warnings', html`<ul>${warnings.map(({ text }) => html`<li>${text}</li>`)}</ul>`);
}

function powersUpTo(n: number): number[] {
  const ks: number[] = [];
  for (let k = 1; k < n; k *= 2) ks.push(k);
  return [...ks, n];
}

const percent = (share: number): string => (Number.isFinite(share) ? `${(share * 100).toFixed(share === 0 || share === 1 ? 0 : 1)}%` : '–');
const fixed = (value: number, digits: number): string => (Number.isFinite(value) ? value.toFixed(digits) : '–');
const withInterval = (figure: Figure | undefined): string =>
  figure === undefined ? '–' : `${percent(figure.value)} [${percent(figure.interval.low)}, ${percent(figure.interval.high)}]`;
const shorten = (text: string, limit: number): string => (text.length > limit ? `${text.slice(0, limit)}…` : text);
