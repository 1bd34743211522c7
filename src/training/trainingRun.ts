/**
 * The stages of a run, from wherever it stands (new, resumed, or after the engine died) to the end of its recipe, with evaluations and
 * checkpoints between. A step's work is in `rl.ts` and `sft.ts`; what the run works with is opened by `train.ts`.
 */

import type { Target } from '../data/select/target.js';
import type { EventSink, Metrics } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Trainer } from '../engine/trainer.js';
import type { Recipe, RlStage } from '../recipe/schema.js';
import type { Grader } from '../reward/grader.js';
import type { Scoring } from '../reward/rewardFunction.js';
import { openRun } from '../runs/reader.js';
import type { RunWriter } from '../runs/writer.js';
import type { Session } from '../session/session.js';
import type { Log } from '../session/withRun.js';
import { UserError } from '../userError.js';
import { alarms } from './alarms.js';
import { asyncStartOf } from './asyncPosition.js';
import { AsyncRollouts } from './asyncRollouts.js';
import { asyncStep } from './asyncStep.js';
import { CheckpointKeeper } from './checkpoints.js';
import { buildDemonstrations } from './demonstrations.js';
import { Diverged } from './diverged.js';
import { type Position, positionOf } from './position.js';
import { Refresher } from './refresh.js';
import { type RlContext, rlStep } from './rl.js';
import { sftStep, sftUpdates } from './sft.js';
import { evaluateStage } from './stageEvaluation.js';
import type { TrainingData, TrainOptions } from './trainOptions.js';

export interface RunParts<P extends Problem> {
  readonly recipe: Recipe;
  readonly session: Session;
  readonly writer: RunWriter;
  readonly sink: EventSink;
  readonly data: TrainingData<P>;
  readonly scoring: Scoring<P>;
  readonly grader: Grader<P>;
  /** In place of the built-in loop. */
  readonly agent?: RlContext<P>['agent'];
  /** Of the recipe's `rl.refresh`, where it has one. */
  readonly target?: Target;
  readonly options: TrainOptions<P>;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The engine died and could not be brought back; everything up to the last ended step is in the run's folder. */
export class EngineStopped extends Error {
  override readonly name = 'EngineStopped';
}

export class TrainingRun<P extends Problem> {
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
    const { recipe, session, writer, sink, log } = this.#parts;
    const { model, trainUnembed, loraRank, seed } = recipe;
    this.#trainer = await session.engine.createTrainer({ model, trainUnembed, loraRank, seed });
    let position = positionOf(recipe, writer);
    if (position) await this.#goTo(position);
    else log('every stage of this run has ended: nothing is left to do. More RL: --set rl.steps=N --accept-changes', 'warning');
    const best = this.#bestSoFar();
    this.#keeper = new CheckpointKeeper(this.#trainer, {
      sink,
      keep: recipe.checkpoints.keep,
      existing: writer.checkpoints(),
      ...(best && { best }),
      remove: (path) => session.removeCheckpoint(path),
    });
    if (recipe.evaluation.base && position?.step === 0 && !position.checkpoint)
      await evaluateStage(this.#parts, this.#trainer, { stage: 'base', step: 0, extra: true });
    while (position) {
      await (position.stage === 'sft' ? this.#sft(position.step) : this.#rl(position));
      position = positionOf(recipe, writer);
    }
    await this.#trainer.unload();
  }

  async #goTo({ stage, step, checkpoint }: Position): Promise<void> {
    const { session, writer, log } = this.#parts;
    for (const path of writer.rollbackAfter(stage, step)) await session.removeCheckpoint(path).catch(() => undefined);
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
    const { recipe, sink, signal } = this.#parts;
    const stage = recipe.rl;
    if (!stage) throw new UserError('the recipe has a stage "rl" but no section rl');
    const started = performance.now();
    const reference = stage.algorithm.klCoefficient > 0 ? await this.#reference() : undefined;
    sink({ kind: 'stageStarted', stage: 'rl', steps: stage.steps });
    const refresher = new Refresher(this.#parts, this.#trainer);
    const ahead = stage.async && this.#ahead(position.step, stage);
    try {
      let first: Metrics | undefined;
      for (let step = position.step; step < stage.steps; step++) {
        signal.throwIfAborted();
        const { metrics: refreshed, ...stream } = await refresher.streamAt(step);
        const begun = performance.now();
        const context = { ...this.#context(stage), ...stream, ...(reference && { reference }) };
        const made = ahead ? await asyncStep(context, ahead, step) : await rlStep(context, step);
        const metrics: Metrics = { ...made, ...refreshed, 'seconds/step': (performance.now() - begun) / 1000 };
        first ??= metrics;
        this.#tellAlarms(step, metrics, first, position);
        await this.#endStep('rl', step, stage.steps, metrics, recipe.checkpoints.everySteps);
        const every = recipe.evaluation.everySteps;
        if (every > 0 && (step + 1) % every === 0 && step + 1 < stage.steps)
          await evaluateStage(this.#parts, this.#trainer, { stage: 'rl', step: step + 1, extra: false });
      }
    } finally {
      await ahead?.close();
    }
    await reference?.unload();
    await this.#endStage('rl', stage.steps, started);
  }

  #context(stage: RlStage): RlContext<P> {
    const { recipe, session, scoring, sink, signal, options, data, agent } = this.#parts;
    return {
      ...(agent && { agent }),
      ...{ recipe, stage, problems: data.train, trainer: this.#trainer, rollout: session.rolloutSettings(), scoring, sink, signal },
      onProgress: (done, all) => options.onProgress?.('rollouts', done, all),
    };
  }

  /** Rollouts across steps, from where the run's record stands. */
  #ahead(step: number, stage: RlStage): AsyncRollouts<P> {
    const run = openRun(this.#parts.writer.folder);
    try {
      return new AsyncRollouts(this.#context(stage), asyncStartOf(run, step, stage));
    } finally {
      run.close();
    }
  }

  /** @throws UserError where a number is not finite */
  #tellAlarms(step: number, metrics: Metrics, first: Metrics, position: Position): void {
    const found = alarms(metrics, first);
    for (const alarm of found) {
      this.#parts.log(`step ${step + 1}: ${alarm.text}`, 'warning');
      this.#parts.sink({ kind: 'note', level: 'warning', text: `step ${step + 1}: ${alarm.text}`, alarm: alarm.kind });
    }
    if (!found.some(({ kind }) => kind === 'nan')) return;
    const best = this.#keeper.best ?? position.checkpoint;
    throw new Diverged(
      `step ${step + 1} of rl gave ${found[0]!.text}; the run ends here`,
      best ? `The best checkpoint is kept: ${best.path}. Lower rl.learningRate and start anew.` : 'Lower rl.learningRate and start anew.',
    );
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
    await evaluateStage(this.#parts, this.#trainer, { stage, step: steps, extra: true });
    this.#parts.sink({ kind: 'stageEnded', stage, seconds: (performance.now() - started) / 1000 });
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
      throw new Diverged(
        `step ${step + 1} of ${stage}: ${broken[0]} is ${broken[1]}; the run ends here`,
        `Lower ${stage}.learningRate and start anew.`,
      );
  }

  #note(level: 'info' | 'warning', text: string): void {
    this.#parts.sink({ kind: 'note', level, text });
  }
}

/** By what steps are compared: the share of right rollouts, else the reward. */
const scoreOf = (metrics: Metrics): number | undefined => metrics['rollout/accuracy'] ?? metrics['reward/total'];
