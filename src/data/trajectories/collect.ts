/**
 * A set of real trajectories: a teacher runs the agent loop on problems, tools really run, answers are graded, and what is right, distinct
 * and did use a tool becomes a row of an SFT set. Every rollout is kept in a folder beside the set the moment it is graded, so that nothing is
 * paid for twice; a later call with other filters samples nothing.
 */

import type { Trajectory } from '../../domain/trajectory.js';
import { EngineError } from '../../engine/engineError.js';
import type { RecipeInput } from '../../recipe/schema.js';
import type { EndpointSettings } from '../../session/endpointPolicy.js';
import { type Policy, withPolicy } from '../../session/policy.js';
import type { Log } from '../../session/withRun.js';
import { createTable, refuseOverwrite } from '../../tables/writeTable.js';
import type { AnyTool } from '../../tools/callTool.js';
import type { ToolDescription } from '../../tools/jsonSchema.js';
import { type DataCard, writeCard } from '../card.js';
import { conversationRow } from '../conversations/conversationRow.js';
import { BEHAVIOUR_NAMES, type Behaviour } from './behaviours.js';
import { Journal } from './journal.js';
import { compact, SamplingProgress } from './progress.js';
import { readTeacherProblems, type TeacherProblem, type TeacherProblems } from './readTeacherProblems.js';
import { scoreAll } from './scoreAll.js';
import type { TrajectoryScorer } from './scorer.js';
import { type Candidate, FILTERS, type Filter, messagesOf, selectOfProblem, topOfEachSource } from './select.js';

export interface TrajectoriesOptions {
  /** A file of any known form, or `calc`, `calc-small`. */
  readonly problems: string;
  /** At most so many problems. Default: all of a file, 128 of a generator. */
  readonly count?: number;
  /** As `PolicyOptions.model`. */
  readonly teacher: string;
  readonly recipe?: string | RecipeInput;
  readonly set?: readonly string[];
  readonly tools?: readonly AnyTool[];
  readonly endpoint?: EndpointSettings;
  /** Rollouts a problem. Default 4. */
  readonly samples?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Default 1. */
  readonly topP?: number;
  /** Default 1. */
  readonly seed?: number;
  readonly scorer?: TrajectoryScorer;
  /** Scores asked for at once. Default 8. */
  readonly scorerConcurrency?: number;
  /** Trajectories of each source, at most. Default: all. */
  readonly topK?: number;
  /** The set: `.parquet` or `.jsonl`. */
  readonly out: string;
  readonly force?: boolean;
  /** Folder of the rollouts. Default: `<out>.rollouts`. */
  readonly work?: string;
  /** Go on with the rollouts that are there. */
  readonly resume?: boolean;
  /** End at the first bad row of the problems. */
  readonly strict?: boolean;
  readonly log?: Log;
  readonly onProgress?: (what: string, done: number, all: number) => void;
  readonly signal?: AbortSignal;
}

export interface TrajectoriesReport {
  readonly file: string;
  readonly card: string;
  /** Where the rollouts are. */
  readonly work: string;
  readonly teacher: string;
  readonly scorer?: string;
  readonly problems: number;
  readonly badProblems: number;
  readonly repeatedProblems: number;
  readonly tooLongProblems: number;
  readonly rollouts: {
    readonly wanted: number;
    /** Finished and graded, earlier calls' included. */
    readonly graded: number;
    /** Made by this call. */
    readonly made: number;
    /** Taken by failures of engine, endpoint, sandbox or grader; a later `resume` makes them anew. */
    readonly lost: number;
    /** The last failure. */
    readonly lastLoss?: string;
    /** That the model wrote, of all that are graded. */
    readonly tokens: number;
  };
  /** Rollouts that each filter left out, in its order. */
  readonly removed: Readonly<Record<Filter, number>>;
  readonly unscored: number;
  readonly rows: number;
  /** Problems that at least one row is of. */
  readonly problemsWithRows: number;
  readonly rowsBySource: Readonly<Record<string, number>>;
  /** Rows that show each behaviour. */
  readonly behaviours: Readonly<Record<Behaviour, number>>;
  readonly seconds: number;
}

/** Columns of the set beside `messages` and `tools`. */
const TITLE = 'Trajectories of a teacher that called its tools';

/**
 * @throws UserError for options, files or rollouts of another call that cannot be used
 * @throws what ended the sampling or the scoring; rollouts and scores that were made stay in the folder
 */
export async function collectTrajectories(options: TrajectoriesOptions): Promise<TrajectoriesReport> {
  const started = performance.now();
  const { out, force = false, work = `${out}.rollouts`, resume = false, seed = 1, strict = false } = options;
  const log = options.log ?? (() => undefined);
  const signal = options.signal ?? new AbortController().signal;
  refuseOverwrite(out, force);
  const bad = badRows(log);
  const given = await readTeacherProblems(options.problems, { count: options.count, seed, strict, onBad: bad.tell, signal });
  bad.end();
  if (given.repeated > 0) log(`${given.repeated} problems say the same as an earlier one and are left out`);
  const journal = Journal.open(work, resume);
  try {
    const sampled = await sampleMissing(options, given, journal, log, signal);
    const selected = selectAll(sampled.problems, journal, sampled);
    const { candidates, unscored } = await scored(options, sampled.problems, selected.candidates, journal, signal);
    const best = options.topK === undefined ? candidates : topOfEachSource(candidates, options.topK);
    const removed = { ...selected.removed, [FILTERS[4]]: candidates.length - best.length };
    await writeSet(options, sampled, best, journal, signal);
    const report = { ...reportOf(options, given, sampled, removed, best, unscored, selected.tokens), file: out, work };
    const card = await writeCard(out, cardOf(options, given, report));
    return { ...report, card, seconds: (performance.now() - started) / 1000 };
  } finally {
    journal.close();
  }
}

/** What is known once all rollouts are there. */
interface Sampled {
  readonly problems: readonly TeacherProblem[];
  readonly teacher: string;
  readonly system: string;
  readonly tools: readonly ToolDescription[];
  readonly samples: number;
  readonly tooLong: number;
  readonly made: number;
  readonly lastLoss: string | undefined;
}

/** Opens the teacher where a rollout is missing. */
async function sampleMissing(
  options: TrajectoriesOptions,
  given: TeacherProblems,
  journal: Journal,
  log: Log,
  signal: AbortSignal,
): Promise<Sampled> {
  const { samples = 4, temperature = 1, topP = 1, seed = 1, teacher } = options;
  const asked = { teacher, recipe: options.recipe ?? null, set: options.set ?? [] };
  const sampling = { temperature, topP, seed };
  const missing = (problems: readonly TeacherProblem[]): number =>
    problems.reduce((sum, { key }) => sum + Array.from({ length: samples }, (_, i) => i).filter((i) => !journal.has(key, i)).length, 0);
  const known = journal.identity();
  if (JSON.stringify(known.asked) === JSON.stringify(asked)) {
    const tooLong = new Set(known.tooLong as readonly string[]);
    const problems = given.problems.filter(({ key }) => !tooLong.has(key));
    if (missing(problems) === 0) {
      journal.require(sampling);
      log(`all ${problems.length * samples} rollouts are there: nothing is sampled`);
      const { teacher: name, system, tools } = known as { teacher: string; system: string; tools: ToolDescription[] };
      const left = given.problems.length - problems.length;
      return { problems, teacher: name, system, tools, samples, tooLong: left, made: 0, lastLoss: undefined };
    }
  }
  const { recipe, set, tools, endpoint } = options;
  const opening = {
    model: teacher,
    ...(recipe !== undefined && { recipe }),
    ...(set && { set }),
    ...(tools && { tools }),
    ...(endpoint && { endpoint }),
    folder: journal.folder,
    log,
    signal,
  };
  return withPolicy(opening, async (policy) => {
    journal.require({
      ...sampling,
      teacher: policy.name,
      fingerprint: policy.fingerprint,
      settings: policy.settings,
      system: policy.system,
      tools: policy.tools,
    });
    const problems = fitting(given.problems, policy, log);
    const fit = new Set(problems.map(({ key }) => key));
    journal.note('asked', asked);
    journal.note(
      'tooLong',
      given.problems.flatMap(({ key }) => (fit.has(key) ? [] : [key])),
    );
    return sampleWith(policy, problems, missing(problems), { ...options, samples, temperature, topP, seed }, given, journal, log, signal);
  });
}

async function sampleWith(
  policy: Policy,
  problems: readonly TeacherProblem[],
  all: number,
  options: TrajectoriesOptions & { readonly samples: number; readonly temperature: number; readonly topP: number; readonly seed: number },
  given: TeacherProblems,
  journal: Journal,
  log: Log,
  signal: AbortSignal,
): Promise<Sampled> {
  const { samples, temperature, topP, seed } = options;
  const keys = new Map(problems.map(({ problem, key }) => [problem.id, key]));
  const wanted = problems.length * samples;
  const most = policy.recipe.limits.responseTokens;
  const there = wanted - all;
  log(
    `${problems.length} problems of ${given.name}, ${samples} rollouts each by ${policy.name}: ${all} to make${there > 0 ? `, ${there} are there` : ''}; each of at most ${compact(most)} tokens, ${compact(all * most)} in all`,
  );
  const progress = new SamplingProgress({ all, concurrency: policy.concurrency, log });
  let made = 0;
  let lastLoss: string | undefined;
  try {
    await policy.sample(
      problems.map(({ problem }) => problem),
      {
        samples,
        temperature,
        topP,
        seed,
        signal,
        skip: ({ id }, sample) => journal.has(keys.get(id)!, sample),
        onRollout: ({ rollout, verdict }, { id }, sample) => {
          if (rollout.kind === 'infra' || verdict.kind === 'infra') {
            lastLoss = verdict.kind === 'infra' ? verdict.error : 'lost';
            progress.add(undefined, false);
            return;
          }
          journal.put(keys.get(id)!, sample, rollout.trajectory, verdict);
          made++;
          progress.add(written(rollout.trajectory), verdict.correct);
        },
        onProgress: (done) => options.onProgress?.('rollouts', done, all),
      },
    );
    if (all > 0 && there + made === 0)
      throw new EngineError('server', `all ${all} rollouts were lost to failures. The last one: ${lastLoss ?? 'unknown'}`);
  } catch (error) {
    log(`${there + made} of ${wanted} rollouts are kept in ${journal.folder}; go on with --resume`, 'warning');
    throw error;
  }
  const { name, system, tools } = policy;
  return { problems, teacher: name, system, tools, samples, tooLong: given.problems.length - problems.length, made, lastLoss };
}

function fitting(problems: readonly TeacherProblem[], policy: Policy, log: Log): TeacherProblem[] {
  const { promptLimit } = policy;
  if (promptLimit === undefined) return [...problems];
  const fit = problems.filter(({ problem }) => (policy.promptTokens(problem) ?? 0) <= promptLimit);
  const left = problems.length - fit.length;
  if (left > 0) log(`${left} of ${problems.length} problems are longer than ${promptLimit} tokens and are left out`, 'warning');
  return fit;
}

/** Reads the rollouts of one problem at a time. */
function selectAll(
  problems: readonly TeacherProblem[],
  journal: Journal,
  { system, samples }: Sampled,
): { candidates: Candidate[]; removed: Record<Filter, number>; tokens: number } {
  let tokens = 0;
  const removed = Object.fromEntries(FILTERS.map((filter) => [filter, 0])) as Record<Filter, number>;
  const candidates = problems.flatMap(({ key, source }, problem) => {
    const rollouts = journal.ofProblem(key, samples);
    for (const { trajectory } of rollouts) tokens += written(trajectory);
    const selection = selectOfProblem(rollouts, system);
    for (const [filter, count] of Object.entries(selection.removed)) removed[filter as Filter] += count;
    return selection.chosen.map((chosen): Candidate => ({ ...chosen, source, problem }));
  });
  return { candidates, removed, tokens };
}

/** Tokens that the model wrote. */
const written = ({ turns }: Trajectory): number => turns.reduce((sum, turn) => sum + turn.tokens, 0);

async function scored(
  { scorer, scorerConcurrency = 8, onProgress }: TrajectoriesOptions,
  problems: readonly TeacherProblem[],
  candidates: readonly Candidate[],
  journal: Journal,
  signal: AbortSignal,
): Promise<{ candidates: readonly Candidate[]; unscored: number }> {
  if (scorer === undefined) return { candidates, unscored: 0 };
  const scores = await scoreAll(candidates, {
    scorer,
    concurrency: scorerConcurrency,
    journal,
    keyOf: ({ problem }) => problems[problem]!.key,
    onProgress: (done, all) => onProgress?.('scores', done, all),
    signal,
  });
  const unscored = scores.filter((score) => score === undefined).length;
  return {
    candidates: candidates.map((candidate, i) => (scores[i] === undefined ? candidate : { ...candidate, score: scores[i] })),
    unscored,
  };
}

async function writeSet(
  { out, force = false, scorer }: TrajectoriesOptions,
  { problems, system, tools }: Sampled,
  chosen: readonly Candidate[],
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const table = await createTable(out, { force });
  try {
    for (const candidate of chosen) {
      signal.throwIfAborted();
      const { problem, key, source } = problems[candidate.problem]!;
      const extra = {
        id: `${problem.id}/${candidate.sample}`,
        problem_id: problem.id,
        source,
        answer: problem.answer ?? null,
        behaviours: candidate.behaviours,
        calls: candidate.calls,
        ...(scorer && { score: candidate.score ?? null }),
      };
      await table.write(conversationRow(messagesOf(journal.one(key, candidate.sample), system), tools, extra));
    }
    await table.close();
  } catch (error) {
    await table.discard();
    throw error;
  }
}

function reportOf(
  { scorer }: TrajectoriesOptions,
  given: TeacherProblems,
  { problems, teacher, samples, tooLong, made, lastLoss }: Sampled,
  removed: Readonly<Record<Filter, number>>,
  best: readonly Candidate[],
  unscored: number,
  tokens: number,
): Omit<TrajectoriesReport, 'file' | 'card' | 'work' | 'seconds'> {
  const wanted = problems.length * samples;
  const graded = Object.values(removed).reduce((sum, count) => sum + count, best.length);
  const rowsBySource: Record<string, number> = {};
  for (const { source } of best) rowsBySource[source] = (rowsBySource[source] ?? 0) + 1;
  const showing = (name: Behaviour): number => best.filter(({ behaviours }) => behaviours.includes(name)).length;
  return {
    teacher,
    ...(scorer && { scorer: scorer.name }),
    problems: problems.length,
    badProblems: given.bad,
    repeatedProblems: given.repeated,
    tooLongProblems: tooLong,
    rollouts: { wanted, graded, made, lost: wanted - graded, ...(lastLoss !== undefined && { lastLoss }), tokens },
    removed,
    unscored,
    rows: best.length,
    problemsWithRows: new Set(best.map(({ problem }) => problem)).size,
    rowsBySource,
    behaviours: Object.fromEntries(BEHAVIOUR_NAMES.map((name) => [name, showing(name)])) as Record<Behaviour, number>,
  };
}

function cardOf(options: TrajectoriesOptions, given: TeacherProblems, report: Omit<TrajectoriesReport, 'card' | 'seconds'>): DataCard {
  const { rollouts, removed, behaviours, rowsBySource, scorer, teacher } = report;
  const { samples = 4, temperature = 1, topP = 1, seed = 1, topK } = options;
  return {
    title: TITLE,
    sources: [{ name: options.problems, rows: given.problems.length + given.bad + given.repeated, kept: report.problemsWithRows }],
    filters: [
      { name: 'problems: bad rows', removed: report.badProblems },
      { name: 'problems: repeated', removed: report.repeatedProblems },
      { name: 'problems: longer than the prompt may be', removed: report.tooLongProblems },
      { name: 'rollouts: lost to failures', removed: rollouts.lost },
      ...FILTERS.map((name) => ({ name: `rollouts: ${name}`, removed: removed[name] })),
    ],
    counts: {
      rows: report.rows,
      ...Object.fromEntries(Object.entries(rowsBySource).map(([name, count]) => [`source: ${name}`, count])),
      'rollouts graded': rollouts.graded,
      'tokens that the teacher wrote': rollouts.tokens,
      ...Object.fromEntries(BEHAVIOUR_NAMES.map((name) => [`behaviour: ${name}`, behaviours[name]])),
    },
    seed,
    notes: [
      `Teacher: ${teacher}, ${samples} rollouts a problem at temperature ${temperature}, top-p ${topP}. Of a source, rows are problems, and kept are those with a trajectory in the set.`,
      ...(scorer === undefined ? [] : [`Scorer: ${scorer}; ${report.unscored} trajectories could not be scored.`]),
      ...(topK === undefined ? [] : [`At most ${topK} of each source.`]),
    ],
  };
}

/** The first few in words, the others in number. */
function badRows(log: Log): { tell(where: string, error: string): void; end(): void } {
  let told = 0;
  return {
    tell: (where, error) => {
      if (++told <= 5) log(`${where}: ${error}; left out`, 'warning');
    },
    end: () => {
      if (told > 5) log(`${told} bad problems are left out`, 'warning');
    },
  };
}
