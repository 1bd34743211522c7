/**
 * A whole training run: opens what it needs, goes through the stages of its recipe from wherever the run stands (new, resumed, or after
 * the engine died), evaluates between them, keeps everything in the run's folder. A step's work is in `rl.ts` and `sft.ts`.
 */
import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { broadcast, type CheckpointRecord, type EventSink, type Metrics, type Stage } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Trainer } from '../engine/trainer.js';
import { type EvaluationResult, evaluatePolicy, type SamplingSetting } from '../evaluation/evaluate.js';
import { type Report, writeReport } from '../evaluation/report.js';
import { loadProblems } from '../problems/load.js';
import { deriveSeed } from '../random.js';
import { loadRecipe, recipeDiff, resolveRecipe } from '../recipe/load.js';
import type { Recipe, RecipeInput } from '../recipe/schema.js';
import type { Grader } from '../reward/grader.js';
import { mathGrader } from '../reward/mathGrader.js';
import { paperReward } from '../reward/paperReward.js';
import { type RewardFunction, type Scoring, toReward } from '../reward/rewardFunction.js';
import { openRun } from '../runs/reader.js';
import { RunWriter } from '../runs/writer.js';
import { Session } from '../session/session.js';
import { versions } from '../session/versions.js';
import type { AnyTool } from '../tools/callTool.js';
import { UserError } from '../userError.js';
import { alarms } from './alarms.js';
import { CheckpointKeeper } from './checkpoints.js';
import { buildDemonstrations } from './demonstrations.js';
import { checkRecipe } from './requirements.js';
import { rlStep } from './rl.js';
import { sftStep, sftUpdates } from './sft.js';

export interface TrainOptions<P extends Problem = Problem> {
  /** A packaged name, a YAML file, or the recipe itself. */
  readonly recipe: string | RecipeInput;
  /** Assignments over the recipe, for example `rl.steps=20`. */
  readonly set?: readonly string[];
  /** The run's folder; default `runs/<name>-<time>`. */
  readonly out?: string;
  /** Go on with the run in `out`. */
  readonly resume?: boolean;
  /** Go on although the recipe changed since. */
  readonly acceptChanges?: boolean;
  /** In place of the recipe's problems. */
  readonly problems?: { readonly train: readonly P[]; readonly evaluation?: readonly P[] };
  /** In place of the tools that the recipe names; add `code_interpreter` to the recipe to keep it. */
  readonly tools?: readonly AnyTool[];
  /** In place of the paper's reward. */
  readonly reward?: RewardFunction<P>;
  /** In place of the grader of boxed answers. */
  readonly grader?: Grader<P>;
  readonly onEvent?: EventSink;
  /** Lines for a person: set-up, deviations, warnings. */
  readonly log?: (line: string, level?: 'info' | 'warning') => void;
  /** How far the present work is: rollouts of a step, of an evaluation. */
  readonly onProgress?: (what: string, done: number, all: number) => void;
  /** Told where the run is kept, as soon as that is settled. */
  readonly onFolder?: (folder: string) => void;
  readonly signal?: AbortSignal;
}

export interface TrainResult {
  readonly folder: string;
  readonly report: Report;
  /** The end of the last stage; loads with `samplerFrom` or `--resume`. */
  readonly checkpoint?: string;
}

/**
 * Trains as the recipe says.
 *
 * @throws UserError for what the user can mend, before anything is computed where possible
 * @throws EngineStopped when the engine died twice; the run can be resumed
 * @throws the signal's reason when it is aborted; the run can be resumed
 */
export async function train<P extends Problem = Problem>(options: TrainOptions<P>): Promise<TrainResult> {
  const recipe = await recipeOf(options);
  const signal = options.signal ?? new AbortController().signal;
  // Every call to the engine listens to it.
  setMaxListeners(0, signal);
  const folder = resolve(options.out ?? join('runs', `${recipe.name}-${new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19)}`));
  const log = options.log ?? (() => undefined);
  if (options.resume) refuseChanges(folder, recipe, options.acceptChanges ?? false, log);
  else if (existsSync(join(folder, 'run.sqlite')))
    throw new UserError(`${folder} holds a run already`, 'Go on with --resume, or choose another --out.');

  const loaded = await loadData(options, recipe);
  const session = await Session.open({
    recipe,
    folder,
    ...(options.tools && { tools: options.tools }),
    log,
    warn: (line) => log(line, 'warning'),
    signal,
  });
  let writer: RunWriter | undefined;
  try {
    for (const line of checkRecipe(recipe, session.engine.capabilities)) log(line, 'warning');
    const data = fitting(loaded, session);
    writer = options.resume
      ? RunWriter.resume(folder)
      : RunWriter.create(folder, {
          recipe,
          model: { name: session.model.name, path: session.model.folder, source: session.model.source, weightsHash: session.model.hash },
          versions: versions(session.engine.capabilities, recipe.engine.url === undefined),
          seed: recipe.seed,
          extra: session.machine(),
        });
    if (options.resume && options.acceptChanges) writer.updateInfo({ recipe }, 'resumed with a changed recipe');
    options.onFolder?.(folder);
    const sink = broadcast(writer.sink, options.onEvent ?? (() => undefined));
    const run = new TrainingRun({
      recipe,
      session,
      writer,
      sink,
      data,
      scoring: scoringOf(options, recipe),
      grader: graderOf(options),
      options,
      signal,
      log,
    });
    await run.toTheEnd();
    const report = writeReport(folder);
    const checkpoint = writer.checkpoints().at(-1)?.path;
    return { folder, report, ...(checkpoint !== undefined && { checkpoint }) };
  } finally {
    writer?.close();
    await session.close();
  }
}

/** The engine died and could not be brought back; everything up to the last ended step is in the run's folder. */
export class EngineStopped extends Error {
  override readonly name = 'EngineStopped';
}

/** Rollouts of an evaluation in flight at once: enough to fill a batch, few enough for the caches. */
const EVALUATION_CONCURRENCY = 192;

/** Held-out problems of a generator are the same in every run. */
const EVALUATION_SEED = 0;

interface Data<P extends Problem> {
  readonly train: readonly P[];
  readonly evaluation: readonly P[];
}

interface RunParts<P extends Problem> {
  readonly recipe: Recipe;
  readonly session: Session;
  readonly writer: RunWriter;
  readonly sink: EventSink;
  readonly data: Data<P>;
  readonly scoring: Scoring<P>;
  readonly grader: Grader<P>;
  readonly options: TrainOptions<P>;
  readonly signal: AbortSignal;
  readonly log: (line: string, level?: 'info' | 'warning') => void;
}

/** Where a run stands: the stage to go on with, the steps of it that are done, and the checkpoint they are in. */
interface Position {
  readonly stage: 'sft' | 'rl';
  readonly step: number;
  readonly checkpoint?: CheckpointRecord;
}

class TrainingRun<P extends Problem> {
  readonly #parts: RunParts<P>;
  #trainer!: Trainer;
  #keeper!: CheckpointKeeper;

  constructor(parts: RunParts<P>) {
    this.#parts = parts;
  }

  /** Goes through the stages; a dead engine is started anew once. */
  async toTheEnd(): Promise<void> {
    const { session, log, signal } = this.#parts;
    let deaths = 0;
    for (;;) {
      try {
        await this.#stages();
        return;
      } catch (error) {
        signal.throwIfAborted();
        const death = session.engineDeath;
        if (!death) throw error;
        if (++deaths > 1) {
          throw new EngineStopped(
            `${death.message}. It was restarted once already; nothing up to the last ended step is lost: go on with --resume`,
          );
        }
        log(`${death.message}; starting it anew, from the last checkpoint`, 'warning');
        this.#note('warning', `engine restarted: ${death.message}`);
        await session.restartEngine();
      }
    }
  }

  async #stages(): Promise<void> {
    const { recipe, session, writer, sink } = this.#parts;
    const { model, trainUnembed, loraRank, seed } = recipe;
    this.#trainer = await session.engine.createTrainer({ model, trainUnembed, loraRank, seed });
    let position = this.#position();
    if (position) await this.#goTo(position);
    const best = this.#bestSoFar();
    this.#keeper = new CheckpointKeeper(this.#trainer, {
      sink,
      keep: recipe.checkpoints.keep,
      existing: writer.checkpoints(),
      ...(best && { best }),
      remove: (path) => this.#removeCheckpoint(path),
    });
    if (recipe.evaluation.base && position?.step === 0 && !position.checkpoint) await this.#evaluate('base', 0, true);
    while (position) {
      await (position.stage === 'sft' ? this.#sft(position.step) : this.#rl(position));
      position = this.#position();
    }
    await this.#trainer.unload();
  }

  /** The first stage that has not ended. */
  #position(): Position | undefined {
    const { recipe, writer } = this.#parts;
    const states = writer.stages();
    const checkpoints = writer.checkpoints();
    let before: CheckpointRecord | undefined;
    for (const stage of recipe.stages) {
      const own = checkpoints.filter((record) => record.stage === stage);
      if (states.find((state) => state.stage === stage)?.endedAt !== undefined) {
        before = own.at(-1) ?? before;
        continue;
      }
      const newest = own.at(-1);
      const checkpoint = newest ?? before;
      return { stage, step: newest?.step ?? 0, ...(checkpoint && { checkpoint }) };
    }
    return undefined;
  }

  async #goTo({ stage, step, checkpoint }: Position): Promise<void> {
    const { writer, log } = this.#parts;
    for (const path of writer.rollbackAfter(stage, step)) await this.#removeCheckpoint(path).catch(() => undefined);
    if (!checkpoint) return;
    // SFT to RL: same weights, new optimizer state.
    const optimizer = checkpoint.optimizer && checkpoint.stage === stage;
    await this.#trainer.load(checkpoint.path, { optimizer, policyVersion: checkpoint.policyVersion });
    if (step > 0) log(`going on after step ${step} of stage ${stage}`);
  }

  async #sft(from: number): Promise<void> {
    const { recipe, session, sink, signal, options } = this.#parts;
    const stage = recipe.sft;
    if (!stage) throw new UserError('the recipe has a stage "sft" but no section sft');
    const started = performance.now();
    const demonstrations = await buildDemonstrations(stage, session, recipe.seed, {
      warn: (text) => this.#note('warning', text),
      signal,
      onProgress: (done, all) => options.onProgress?.('demonstrations', done, all),
    });
    const updates = sftUpdates(demonstrations.length, stage);
    sink({ kind: 'stageStarted', stage: 'sft', steps: updates });
    for (let update = from; update < updates; update++) {
      signal.throwIfAborted();
      const metrics = await sftStep(this.#trainer, demonstrations, stage, recipe.seed, update, signal);
      this.#refuseNaN('sft', update, metrics);
      await this.#endStep('sft', update, updates, metrics, recipe.checkpoints.sftEverySteps);
    }
    await this.#endStage('sft', updates, started);
  }

  async #rl(position: Position): Promise<void> {
    const { recipe, session, data, scoring, sink, signal, options, log } = this.#parts;
    const stage = recipe.rl;
    if (!stage) throw new UserError('the recipe has a stage "rl" but no section rl');
    const started = performance.now();
    const reference = stage.algorithm.klCoefficient > 0 ? await this.#reference() : undefined;
    sink({ kind: 'stageStarted', stage: 'rl', steps: stage.steps });
    let first: Metrics | undefined;
    for (let step = position.step; step < stage.steps; step++) {
      signal.throwIfAborted();
      const begun = performance.now();
      const context = {
        recipe,
        stage,
        problems: data.train,
        trainer: this.#trainer,
        ...(reference && { reference }),
        rollout: session.rolloutSettings(),
        scoring,
        sink,
        signal,
        onProgress: (done: number, all: number) => options.onProgress?.('rollouts', done, all),
      };
      const metrics: Metrics = { ...(await rlStep(context, step)), 'seconds/step': (performance.now() - begun) / 1000 };
      first ??= metrics;
      const found = alarms(metrics, first);
      for (const alarm of found) {
        log(`step ${step + 1}: ${alarm.text}`, 'warning');
        this.#note('warning', `step ${step + 1}: ${alarm.text}`);
      }
      if (found.some(({ kind }) => kind === 'nan')) {
        const best = this.#keeper.best ?? position.checkpoint;
        throw new UserError(
          `step ${step + 1} of rl gave ${found[0]!.text}; the run ends here`,
          best
            ? `The best checkpoint is kept: ${best.path}. Lower rl.learningRate and start anew.`
            : 'Lower rl.learningRate and start anew.',
        );
      }
      await this.#endStep('rl', step, stage.steps, metrics, recipe.checkpoints.everySteps);
      const every = recipe.evaluation.everySteps;
      if (every > 0 && (step + 1) % every === 0 && step + 1 < stage.steps) await this.#evaluate('rl', step + 1, false);
    }
    await reference?.unload();
    await this.#endStage('rl', stage.steps, started);
  }

  async #endStep(stage: 'sft' | 'rl', step: number, steps: number, metrics: Metrics, every: number): Promise<void> {
    const { sink } = this.#parts;
    const last = step + 1 === steps;
    const due = last || (step + 1) % every === 0;
    const begun = performance.now();
    const checkpoint = due
      ? await this.#keeper.save(stage, step + 1, { optimizer: !(last && stage === 'sft'), reason: last ? `end of ${stage}` : 'newest' })
      : undefined;
    const saved = due ? { 'seconds/checkpoint': (performance.now() - begun) / 1000 } : {};
    sink({ kind: 'stepEnded', stage, step, metrics: { ...metrics, ...saved }, ...(checkpoint && { checkpoint }) });
    const score = scoreOf(metrics);
    if (checkpoint && score !== undefined && !last && this.#keeper.score(checkpoint, score)) this.#keeper.mark(checkpoint, 'best');
    if (checkpoint) await this.#keeper.prune();
  }

  /** The checkpoint that an earlier sitting found best, with the score of its step. */
  #bestSoFar(): { path: string; score: number } | undefined {
    const { writer } = this.#parts;
    const record = writer.checkpoints().find(({ reason }) => reason === 'best');
    if (!record) return undefined;
    const run = openRun(writer.folder);
    const metrics = run.steps(record.stage).find(({ step }) => step === record.step - 1)?.metrics;
    run.close();
    const score = metrics && scoreOf(metrics);
    return score === undefined ? undefined : { path: record.path, score };
  }

  async #endStage(stage: 'sft' | 'rl', steps: number, started: number): Promise<void> {
    await this.#evaluate(stage, steps, true);
    this.#parts.sink({ kind: 'stageEnded', stage, seconds: (performance.now() - started) / 1000 });
  }

  /** The policy as it is now on the held-out problems; the extra samplings only where asked for. */
  async #evaluate(stage: Stage, step: number, extra: boolean): Promise<EvaluationResult<P>[]> {
    const { recipe, session, data, grader, sink, signal, options, writer } = this.#parts;
    if (data.evaluation.length === 0) return [];
    if (stage === 'base') sink({ kind: 'stageStarted', stage: 'base', steps: 0 });
    const started = performance.now();
    const settings = evaluationSettings(recipe, extra);
    const known = openRun(writer.folder);
    const missing = settings.filter(
      ({ name }) => !known.evaluations().some((row) => row.stage === stage && row.step === step && row.name === name),
    );
    known.close();
    const results = await evaluatePolicy({
      sampler: await this.#trainer.publish(signal),
      problems: data.evaluation,
      settings: missing,
      rollout: session.rolloutSettings(),
      grader,
      stage,
      step,
      seed: deriveSeed(recipe.seed, 'evaluation'),
      concurrency: recipe.rl === undefined || recipe.rl.concurrency === 'auto' ? EVALUATION_CONCURRENCY : recipe.rl.concurrency,
      lockstep: recipe.engine.deterministic,
      sink,
      signal,
      onProgress: (done, all) => options.onProgress?.('evaluation', done, all),
    });
    if (stage === 'base') sink({ kind: 'stageEnded', stage: 'base', seconds: (performance.now() - started) / 1000 });
    return results;
  }

  /** The policy at the start of the stage, as a model of its own that is never stepped. */
  async #reference(): Promise<Trainer> {
    const { recipe, session, writer } = this.#parts;
    const reference = await session.engine.createTrainer({
      model: recipe.model,
      trainUnembed: recipe.trainUnembed,
      loraRank: recipe.loraRank,
      seed: recipe.seed,
    });
    const start = writer
      .checkpoints()
      .filter(({ stage }) => stage === 'sft')
      .at(-1);
    if (start && recipe.stages.includes('sft')) await reference.load(start.path, { optimizer: false, policyVersion: start.policyVersion });
    return reference;
  }

  #refuseNaN(stage: string, step: number, metrics: Metrics): void {
    const broken = Object.entries(metrics).find(([, value]) => !Number.isFinite(value));
    if (broken)
      throw new UserError(
        `step ${step + 1} of ${stage}: ${broken[0]} is ${broken[1]}; the run ends here`,
        `Lower ${stage}.learningRate and start anew.`,
      );
  }

  #note(level: 'info' | 'warning', text: string): void {
    this.#parts.sink({ kind: 'note', level, text });
  }

  async #removeCheckpoint(path: string): Promise<void> {
    const { session, recipe } = this.#parts;
    if (recipe.engine.url !== undefined) return;
    const place = /^tinker:\/\/([\w-]+)\/(weights|sampler_weights)\/([\w.-]+)$/.exec(path);
    if (place) await rm(join(session.checkpointFolder, place[1]!, place[2]!, place[3]!), { recursive: true, force: true });
  }
}

/** By what steps are compared: the share of right rollouts, else the reward. */
const scoreOf = (metrics: Metrics): number | undefined => metrics['rollout/accuracy'] ?? metrics['reward/total'];

/** The main sampling of the recipe, and the extra ones of its tables with one rollout a problem each. */
export function evaluationSettings(recipe: Recipe, extra: boolean): SamplingSetting[] {
  const { samples, temperature, topP } = recipe.evaluation;
  const main: SamplingSetting = { name: 'main', samples, temperature, topP };
  if (!extra) return [main];
  const known: Record<(typeof recipe.evaluation.extra)[number], SamplingSetting> = {
    topP06: { name: 'topP06', samples: 1, temperature: 1, topP: 0.6 },
    greedy: { name: 'greedy', samples: 1, temperature: 0, topP: 1 },
  };
  return [main, ...recipe.evaluation.extra.map((name) => known[name])];
}

async function recipeOf<P extends Problem>(options: TrainOptions<P>): Promise<Recipe> {
  const { recipe, set = [] } = options;
  if (typeof recipe === 'string') return (await loadRecipe(recipe, { set })).recipe;
  if (set.length > 0) throw new UserError('`set` goes with a recipe by name or file', 'Write the values into the recipe object.');
  return resolveRecipe(recipe);
}

function refuseChanges(folder: string, recipe: Recipe, accept: boolean, log: (line: string, level?: 'info' | 'warning') => void): void {
  const run = openRun(folder);
  const changes = recipeDiff(run.info.recipe, recipe);
  run.close();
  if (changes.length === 0) return;
  const lines = changes.map(({ path, was, is }) => `  ${path}: ${JSON.stringify(was)} -> ${JSON.stringify(is)}`).join('\n');
  if (!accept)
    throw new UserError(
      `the recipe differs from that of the run in ${folder}:\n${lines}`,
      'Take the changes back, or go on with them by --accept-changes.',
    );
  log(`going on with a changed recipe:\n${lines}`, 'warning');
}

/** Evaluations count a rollout as right where its grader says so; with a reward function alone, where the reward is above 0. */
function graderOf<P extends Problem>(options: Pick<TrainOptions<P>, 'grader' | 'reward'>): Grader<P> {
  const { grader, reward } = options;
  if (grader || !reward) return grader ?? mathGrader;
  return async (trajectory, context) => {
    const { total } = toReward(await reward(trajectory, context));
    return { kind: 'graded', correct: total > 0, score: Math.min(1, Math.max(0, total)), reason: total > 0 ? 'match' : 'mismatch' };
  };
}

function scoringOf<P extends Problem>(options: TrainOptions<P>, recipe: Recipe): Scoring<P> {
  if (options.reward) return { reward: options.reward };
  const rules = recipe.rl?.reward;
  const reward = paperReward({
    tool: rules ? { perCall: rules.toolBonus.perCall, cap: rules.toolBonus.max } : false,
    ...(rules?.overlong && { overlong: { maxTokens: rules.overlong.maxTokens, bufferTokens: rules.overlong.cacheTokens } }),
    reference: rules?.reference ?? false,
  });
  return { grader: options.grader ?? mathGrader, reward };
}

/** The problems of a run, before anything is started: a bad file is told at once. */
async function loadData<P extends Problem>(options: TrainOptions<P>, recipe: Recipe): Promise<Data<P>> {
  const { problems } = options;
  const perRun = recipe.rl ? recipe.rl.steps * recipe.rl.groupsPerStep : 1;
  const trained = async (): Promise<readonly P[]> =>
    problems?.train ??
    ((await loadProblems(recipe.problems.train, { split: 'train', seed: deriveSeed(recipe.seed, 'train'), count: perRun })) as P[]);
  return {
    train: recipe.stages.includes('rl') ? await trained() : [],
    evaluation: problems
      ? (problems.evaluation ?? [])
      : ((await loadProblems(recipe.problems.evaluation, { split: 'evaluation', seed: EVALUATION_SEED })) as P[]),
  };
}

/** Leaves out what is too long for the recipe's prompts. */
const fitting = <P extends Problem>({ train, evaluation }: Data<P>, session: Session): Data<P> => ({
  train: train.length > 0 ? session.fitting(train, 'training') : [],
  evaluation: evaluation.length > 0 ? session.fitting(evaluation, 'evaluation') : [],
});
