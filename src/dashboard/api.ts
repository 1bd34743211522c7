/**
 * What the dashboard's server and its page say to each other: types alone, shared by both. Every answer is JSON; a refusal is
 * `{ error: string }` with a status of 4xx. Numbers that are NaN or infinite travel as null. Does not read runs and does not draw.
 *
 *     GET /api/runs                                        RunSummary[]
 *     GET /api/runs/RUN                                    RunDetail
 *     GET /api/runs/RUN/metrics?stage=rl&name=a&name=b&points=1000&from=0&to=99     Series[]
 *     GET /api/runs/RUN/trajectories?...TrajectoryQuery    TrajectoryPage
 *     GET /api/runs/RUN/trajectories/ID                    TrajectoryView
 *     GET /api/runs/RUN/trajectories/ID/tokens             TokensView
 *     GET /api/runs/RUN/groups?id=GROUP&stage=rl&step=3    GroupView
 *     GET /api/runs/RUN/groups?...GroupQuery               GroupPage
 *     GET /api/runs/RUN/problems?split=train&text=&sort=&offset=&limit=   ProblemPage
 *     GET /api/runs/RUN/problem?id=PROBLEM                 ProblemView
 *     GET /api/runs/RUN/modes                              ModesView
 *     GET /api/runs/RUN/reports                            ReportLink[]
 *     GET /api/runs/RUN/reports/NAME                       the report's file as it is (HTML under a policy that runs nothing, JSON, Markdown as text)
 *     GET /api/runs/RUN/export/metrics.csv | metrics.jsonl | trajectories.csv | trajectories.jsonl?...TrajectoryQuery
 *     GET /api/reports                                     ReportLink[]  (data reports in the folder, outside runs)
 *     GET /api/reports/NAME                                the report's file as it is
 *     GET /api/studies                                     StudySummary[]
 *     GET /api/studies/STUDY                               StudyDetail
 *     GET /api/events                                      server-sent events: LiveEvent, each with an id; Last-Event-ID resumes
 *
 * RUN is the run's folder relative to the one that is shown, encoded by encodeURIComponent; `@` is that folder itself. So is STUDY.
 */
import type { EnvironmentOutcome } from '../domain/environmentOutcome.js';
import type { CheckpointRecord, Metrics, Stage } from '../domain/event.js';
import type { StopReason } from '../domain/stopReason.js';
import type { Turn } from '../domain/turn.js';
import type { Verdict } from '../domain/verdict.js';
import type { Outcome } from '../study/verdict.js';

/** JSON has no NaN: null stands for it. */
export type Num = number | null;

/** `running`: a live process holds its lock; `interrupted`: begun, not ended, nobody writes it. */
export type RunState = 'running' | 'ended' | 'interrupted' | 'unreadable';

export interface RunSummary {
  readonly id: string;
  /** Last part of the folder's path. */
  readonly name: string;
  readonly state: RunState;
  /** Absent where the run cannot be read. */
  readonly recipe?: string;
  readonly model?: string;
  readonly seed?: number;
  /** ISO times. */
  readonly startedAt?: string;
  readonly updatedAt: string;
  readonly stages: readonly StageProgress[];
  /** Of the newest step of the last stage. */
  readonly last: Readonly<Record<string, Num>>;
  /** The newest evaluation of each name. */
  readonly evaluations: readonly EvaluationSummary[];
  readonly trajectories: number;
  /** Why it is shown only in part, for a person: half-written, older, newer, foreign. */
  readonly note?: string;
}

export interface StageProgress {
  readonly stage: Stage;
  /** Planned. */
  readonly steps: number;
  readonly done: number;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly seconds?: number;
}

export interface EvaluationSummary {
  readonly name: string;
  readonly stage: Stage;
  /** Steps of the stage that were made before. */
  readonly step: number;
  readonly metrics: Readonly<Record<string, Num>>;
}

export interface RunDetail extends RunSummary {
  /** The whole recipe, resolved. */
  readonly recipeText?: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly metricNames: Readonly<Partial<Record<Stage, readonly string[]>>>;
  readonly allEvaluations: readonly EvaluationSummary[];
  readonly checkpoints: readonly CheckpointRecord[];
  readonly notes: readonly { readonly at: string; readonly level: 'info' | 'warning'; readonly text: string }[];
  /** Stages and splits that have trajectories, with the number of them. */
  readonly splits: readonly { readonly stage: Stage; readonly split: string; readonly count: number }[];
}

/**
 * One metric over the steps of a stage; where it was decimated each point stands for a bucket of neighbouring steps: its last step, the mean
 * of its values, and the least and most of them.
 */
export interface Series {
  readonly stage: Stage;
  readonly name: string;
  readonly steps: readonly number[];
  readonly values: readonly Num[];
  /** Only where decimated. */
  readonly low?: readonly Num[];
  readonly high?: readonly Num[];
  /** Points before decimation. */
  readonly count: number;
}

/** Filters that matter, each by name; several narrow further. */
export type Flag =
  /** Wrong, though its last executed call succeeded. */
  | 'wrongThoughToolSucceeded'
  | 'malformed'
  | 'truncated'
  /** Graded by an infrastructure failure, or lost (told by a note). */
  | 'infra'
  | 'toolFailed'
  | 'noCall'
  /** The reward's parts or a second grader disagree with the verdict: right with a negative total, wrong with a positive one. */
  | 'gradersDisagree'
  /** |advantage| above 2. */
  | 'extremeAdvantage';

export interface TrajectoryQuery {
  readonly stage?: Stage;
  readonly step?: number;
  readonly fromStep?: number;
  readonly toStep?: number;
  readonly split?: string;
  readonly correct?: boolean;
  readonly problemId?: string;
  readonly groupId?: string;
  readonly stopReason?: StopReason['kind'];
  readonly flags?: readonly Flag[];
  /** Words of question, text, code, results and answer; all must occur. */
  readonly text?: string;
  readonly sort?: 'newest' | 'oldest' | 'longest' | 'shortest' | 'reward' | '-reward' | 'advantage' | '-advantage' | 'calls';
  readonly offset?: number;
  /** At most 500. Default 50. */
  readonly limit?: number;
}

export interface TrajectoryLine {
  readonly id: number;
  readonly stage: Stage;
  readonly step: number;
  readonly split: string;
  readonly trajectoryId: string;
  readonly groupId: string;
  readonly problemId: string;
  readonly correct?: boolean;
  readonly reason?: string;
  readonly reward?: Num;
  readonly advantage?: Num;
  readonly stopReason: StopReason['kind'];
  readonly modelTokens: number;
  readonly tokens: number;
  readonly turns: number;
  readonly calls: number;
  readonly seconds: number;
  readonly flags: readonly Flag[];
}

export interface TrajectoryPage {
  readonly rows: readonly TrajectoryLine[];
  /** Of all that match; `atLeast` where counting was cut short. */
  readonly total: number;
  readonly atLeast?: boolean;
  /** What could not be done here, for example a search in a run without an index. */
  readonly note?: string;
}

export interface TrajectoryView extends TrajectoryLine {
  readonly question: string;
  /** The gold answer. */
  readonly answer?: string;
  /** Fields of the problem beyond id, question and answer. */
  readonly problem: Readonly<Record<string, unknown>>;
  readonly system: string;
  /** Of the first line of tokens; nearly always the only one. */
  readonly segmentsOf: readonly Turn[];
  /** Of an agent whose requests did not each extend the one before: the turns of its further lines of tokens. */
  readonly branches?: readonly { readonly turns: readonly Turn[] }[];
  readonly finalText: string;
  readonly stop: StopReason;
  readonly verdict?: Verdict;
  readonly rewardParts?: Readonly<Record<string, Num>>;
  readonly entropy?: Num;
  readonly sampledFrom?: number;
  /** Of a task of several steps. */
  readonly environment?: EnvironmentOutcome;
  /** Texts that were cut for size, by name, with their whole length in characters: ask with `?whole=1`. */
  readonly cut: readonly { readonly what: string; readonly length: number }[];
  /** Ids of the neighbours under the same filter order (newest first within the run). */
  readonly previous?: number;
  readonly next?: number;
}

/** A prompt, and what the model and others wrote after it. */
export interface TokenLine {
  readonly prompt: TokenList;
  readonly response: TokenList & {
    /** 1 where the model wrote the token. */
    readonly mask: readonly number[];
    readonly logProbs: readonly Num[];
    /** Ratio of the policy at its last update over the one that sampled, where it was kept. */
    readonly ratios?: readonly Num[];
  };
}

export interface TokensView extends TokenLine {
  /** Further lines of tokens, as in `TrajectoryView.branches`. */
  readonly branches?: readonly TokenLine[];
  /** One for all tokens of the rollout (Eq. 3). */
  readonly advantage?: Num;
  /** Why there are no texts, for example that the tokenizer is gone. */
  readonly note?: string;
}

export interface TokenList {
  readonly ids: readonly number[];
  /** Text of each token, special ones written out; absent where the tokenizer is not to be had. A character split over tokens stands with the last of them. */
  readonly texts?: readonly string[];
  readonly special?: readonly boolean[];
}

export interface GroupView {
  readonly groupId: string;
  readonly question: string;
  readonly answer?: string;
  /** `text`: what the model wrote and what came back, in order. */
  readonly members: readonly (TrajectoryLine & { readonly text: string; readonly rewardParts?: Readonly<Record<string, Num>> })[];
  /** Where there are more members than are shown. */
  readonly note?: string;
}

export interface GroupQuery {
  readonly stage?: Stage;
  readonly split?: string;
  readonly fromStep?: number;
  readonly toStep?: number;
  readonly problemId?: string;
  /** Rewards that differ or are equal; all right, all wrong. */
  readonly kind?: 'mixed' | 'equal' | 'allRight' | 'allWrong';
  readonly sort?: 'newest' | 'oldest' | 'spread' | 'reward' | '-reward';
  readonly offset?: number;
  /** At most 500. Default 50. */
  readonly limit?: number;
}

export interface GroupLine {
  readonly groupId: string;
  readonly stage: Stage;
  readonly step: number;
  readonly split: string;
  readonly problemId: string;
  readonly rollouts: number;
  readonly right: number;
  /** Mean, least and greatest; absent where nothing was rewarded. */
  readonly reward?: Num;
  readonly low?: Num;
  readonly high?: Num;
  /** Executed ones, a rollout. */
  readonly calls: number;
}

export interface GroupPage {
  readonly groups: readonly GroupLine[];
  readonly total: number;
  readonly note?: string;
}

export interface ProblemPage {
  readonly problems: readonly ProblemLine[];
  readonly total: number;
  /** Why it is not whole yet. */
  readonly note?: string;
}

export interface ProblemLine {
  readonly problemId: string;
  readonly question: string;
  readonly rollouts: number;
  readonly right: number;
  /** First and last step at which it was met. */
  readonly firstStep: number;
  readonly lastStep: number;
  /** Accuracy in the first and in the last third of its meetings; absent where it was met once. */
  readonly early?: Num;
  readonly late?: Num;
}

export interface ProblemView {
  readonly problemId: string;
  readonly question: string;
  readonly answer?: string;
  /** One entry a meeting, in order. */
  readonly meetings: readonly {
    readonly stage: Stage;
    readonly step: number;
    readonly split: string;
    readonly groupId: string;
    readonly rollouts: number;
    readonly right: number;
  }[];
}

/** What section 5 of the paper compares, over training and in evaluations. */
export interface ModesView {
  readonly rows: readonly {
    readonly stage: Stage;
    readonly step: number;
    readonly split: string;
    readonly modes: readonly ModeFigures[];
  }[];
  /** Why it is not whole yet. */
  readonly note?: string;
}

export interface ModeFigures {
  readonly mode: 'deliberative' | 'reactive' | 'withoutCall';
  readonly rollouts: number;
  readonly right: number;
  readonly toolSuccess: Num;
  readonly callsPerRollout: Num;
  readonly tokensPerTurn: Num;
}

export interface ReportLink {
  readonly name: string;
  readonly title: string;
  readonly bytes: number;
  readonly kind: 'html' | 'json' | 'markdown';
}

/** `running`: a live process holds its lock; `stopped`: something is left to run, and nobody runs it. */
export type StudyState = 'running' | 'stopped' | 'complete' | 'unreadable';

export interface StudySummary {
  readonly id: string;
  /** Last part of the folder's path. */
  readonly name: string;
  readonly state: StudyState;
  readonly plans: readonly { readonly name: string; readonly title: string }[];
  readonly claims: number;
  /** Arm-runs that are there, of those that the plans ask for; what plans share counts once. */
  readonly done: number;
  readonly wanted: number;
  /** Complete ones. */
  readonly blocksDone: number;
  readonly blocksWanted: number;
  /** ISO. */
  readonly lastResultAt?: string;
  /** Why it cannot be read. */
  readonly note?: string;
}

export interface StudyDetail extends StudySummary {
  readonly grids: readonly StudyGrid[];
  /** Runs that make what a block begins with. */
  readonly starts: readonly StudyStart[];
  readonly claimList: readonly StudyClaim[];
  /** What verdicts are about, in sentences. */
  readonly scope: readonly string[];
  readonly facts?: StudyFacts;
  readonly left?: StudyEstimate;
  /** Files that cannot be read, and results that belong to no plan: a sentence each. */
  readonly problems: readonly string[];
  /** Name of the study's report among the reports of the folder, where one was written. */
  readonly report?: string;
}

/** One plan's arms and blocks. */
export interface StudyGrid {
  readonly plan: string;
  readonly title: string;
  readonly done: number;
  readonly wanted: number;
  readonly arms: readonly string[];
  /** What its claims compare, each once in their order, and the accuracy at the end. `unit`: `points`, `steps` or `units`. */
  readonly endpoints: readonly { readonly text: string; readonly unit: string }[];
  /** Cells in the order of the arms. */
  readonly blocks: readonly { readonly block: number; readonly seed: number; readonly cells: readonly StudyCell[] }[];
}

/** One arm in one block. */
export interface StudyCell {
  /** Equal keys are one run, which plans share. */
  readonly key: string;
  /** `interrupted`: begun and not ended, and nobody writes it: the study goes on with it. */
  readonly state: 'done' | 'running' | 'interrupted' | 'waiting';
  /** Of its run, where that is there to be looked at. */
  readonly run?: string;
  /** Of one that has begun; absent where no stage has. */
  readonly progress?: StudyProgress;
  /** One an endpoint; null where the run gave none. */
  readonly values?: readonly Num[];
  readonly seconds?: number;
  readonly diverged?: string;
}

export interface StudyProgress {
  readonly stage: Stage;
  readonly done: number;
  readonly steps: number;
}

export interface StudyStart {
  /** 0-based. */
  readonly block: number;
  readonly seed: number;
  readonly run: string;
  readonly running: boolean;
  readonly progress?: StudyProgress;
}

/** From the arm-runs that have ended. */
export interface StudyEstimate {
  readonly seconds: number;
  /** Of an arm-run that is left, in the mean, with its part of its start. */
  readonly each: number;
  /** How many arm-runs tell so. */
  readonly of: number;
  /** Runs beside each other. */
  readonly beside: number;
}

export interface StudyFacts {
  readonly seeds: string;
  /** Of one engine. */
  readonly seconds: number;
  readonly tokens: number;
  readonly models: readonly string[];
  readonly machines: readonly string[];
}

/** Texts are plain text of a plan's author: whoever shows them escapes them. */
export interface StudyClaim {
  readonly plan: string;
  readonly id: string;
  readonly says: string;
  readonly paper?: string;
  /** Limits of the trial. */
  readonly fair: string;
  readonly models: readonly string[];
  /** So far; absent where no block holds both arms. */
  readonly verdict?: { readonly outcome: Outcome; readonly text: string; readonly sentence: string; readonly adjusted: string };
  readonly parts: readonly StudyPart[];
  readonly checks: readonly { readonly holds: boolean; readonly text: string }[];
  readonly notes: readonly string[];
  readonly blocksWanted: number;
}

export interface StudyPart {
  readonly above: string;
  readonly below: string;
  readonly endpoint: string;
  /** What its numbers would say if it stood alone. */
  readonly reading: Outcome;
  /** In words, with interval and unit. */
  readonly difference: string;
  readonly mean: Num;
  readonly low: Num;
  readonly high: Num;
  readonly margin: number;
  readonly unit: string;
  /** That count. */
  readonly blocks: number;
  readonly sentence: string;
}

export type LiveEvent =
  /** The list changed: a run came, went, or changed its state. */
  | { readonly kind: 'runs' }
  /** New steps of a stage. */
  | { readonly kind: 'steps'; readonly run: string; readonly stage: Stage; readonly step: number; readonly metrics: Metrics }
  | { readonly kind: 'evaluation'; readonly run: string; readonly evaluation: EvaluationSummary }
  | { readonly kind: 'note'; readonly run: string; readonly level: 'info' | 'warning'; readonly text: string }
  /** Events were missed: load anew. */
  | { readonly kind: 'reset' };
