/**
 * What a run works with, opened together and closed together: model folder, engine, chat format, sandbox, tools. Restarts a dead embedded
 * engine when asked to. Does not train and does not evaluate.
 */
import { rm } from 'node:fs/promises';
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { ChatFormat } from '../chat/chatFormat.js';
import { systemText } from '../chat/prompts.js';
import type { Problem } from '../domain/problem.js';
import { describeCapabilities } from '../engine/describeCapabilities.js';
import { type EmbeddedEngine, startEmbeddedEngine } from '../engine/embedded.js';
import type { Engine } from '../engine/engine.js';
import type { EngineError } from '../engine/engineError.js';
import { isEndpoint, refuseTraining } from '../engine/openaiEndpoint.js';
import { connectEngine } from '../engine/tinkerClient.js';
import type { Environment } from '../environments/environment.js';
import type { Recipe } from '../recipe/schema.js';
import { promptLimit, promptTooLong, type RolloutSettings } from '../rollout/episode.js';
import type { OpenedRunner } from '../sandbox/open.js';
import { type ResolvedModel, resolveModel } from '../setup/weights.js';
import type { AnyTool, Toolbox } from '../tools/callTool.js';
import { UserError } from '../userError.js';
import { type OpenTools, openTools } from './tools.js';

export interface SessionOptions {
  readonly recipe: Recipe;
  /** The run's folder: checkpoints and the engine's log live there. */
  readonly folder: string;
  /** Where checkpoints are, if not in that folder: those of another run. */
  readonly checkpoints?: string | undefined;
  /** Tools of the user's own, beside or in place of those that the recipe names. */
  readonly tools?: readonly AnyTool[];
  /** What rollouts happen in; its actions stand beside the tools. */
  readonly environment?: Environment;
  readonly log: (line: string) => void;
  readonly warn: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Bit-equal repeats need a number that does not depend on what else runs: all cores, then. */
const threadsOf = ({ engine }: Recipe): number | 'auto' =>
  engine.deterministic && engine.threads === 'auto' ? availableParallelism() : engine.threads;

const toolsOf = ({ tools = [], environment }: SessionOptions): AnyTool[] => [...tools, ...(environment?.tools ?? [])];

const API_KEY = 'TINKER_API_KEY';

export class Session {
  readonly recipe: Recipe;
  readonly model: ResolvedModel;
  readonly format: ChatFormat;
  readonly toolbox: Toolbox;
  readonly runner: OpenedRunner | undefined;
  readonly #options: SessionOptions;
  readonly #tools: OpenTools;
  #engine: Engine;
  #death: EngineError | undefined;

  private constructor(options: SessionOptions, parts: { model: ResolvedModel; format: ChatFormat; tools: OpenTools; engine: Engine }) {
    this.#options = options;
    this.recipe = options.recipe;
    this.model = parts.model;
    this.format = parts.format;
    this.#tools = parts.tools;
    this.toolbox = parts.tools.toolbox;
    this.runner = parts.tools.runner;
    this.#engine = parts.engine;
  }

  /** @throws UserError for what the user can mend; everything that was opened is closed again. */
  static async open(options: SessionOptions): Promise<Session> {
    const { recipe, log, warn } = options;
    if (isEndpoint(recipe.model)) refuseTraining(recipe.model);
    const model = await resolveModel(recipe.model, { log });
    const format = await ChatFormat.load(model.folder, { tools: recipe.prompt.tools });
    for (const note of format.notes) log(`chat template: ${note}`);
    const tools = await openTools({ recipe, tools: toolsOf(options), log, warn });
    try {
      const session = new Session(options, { model, format, tools, engine: undefined as never });
      await session.#start();
      return session;
    } catch (error) {
      await tools.close();
      throw error;
    }
  }

  get engine(): Engine {
    return this.#engine;
  }

  /** Why the embedded engine ended by itself; absent while it lives. */
  get engineDeath(): EngineError | undefined {
    return this.#death;
  }

  /** What the run's record should say of its tools. */
  get toolNotes(): readonly string[] {
    return this.#tools.notes;
  }

  /** By the name of an MCP server, what its tools are. */
  get toolHashes(): Readonly<Record<string, string>> {
    return this.#tools.hashes;
  }

  get checkpointFolder(): string {
    return this.#options.checkpoints ?? join(this.#options.folder, 'checkpoints');
  }

  /** Removes what the engine saved under a path. What cannot be removed on a server is told, and stays. */
  async removeCheckpoint(path: string): Promise<void> {
    if (this.recipe.engine.url !== undefined) {
      await this.#engine
        .deleteCheckpoint(path)
        .catch((error: Error) => this.#options.warn(`${path} stays on the server: ${error.message}`));
      return;
    }
    const place = /^tinker:\/\/([\w-]+)\/(weights|sampler_weights)\/([\w.-]+)$/.exec(path);
    if (place) await rm(join(this.checkpointFolder, place[1]!, place[2]!, place[3]!), { recursive: true, force: true });
  }

  /** Starts the embedded engine anew after its death; weights are those of the base model until a checkpoint is loaded. */
  async restartEngine(): Promise<void> {
    await this.#engine.close().catch(() => undefined);
    await this.#start();
  }

  /** What every rollout of this session shares, apart from who samples and how. */
  rolloutSettings(): Omit<RolloutSettings, 'sampler' | 'sampling'> {
    const { recipe } = this;
    const context = this.#engine.capabilities.models.find(({ name }) => name === recipe.model)?.maxContextLength;
    return {
      format: this.format,
      tools: this.toolbox,
      limits: recipe.limits,
      system: systemText(recipe.prompt.mode, recipe.prompt.system),
      ...(context !== undefined && { contextTokens: context }),
      ...(this.#options.environment && { environment: this.#options.environment }),
      onWarning: this.#options.warn,
    };
  }

  /** Leaves out problems whose prompt is longer than the recipe allows; says how many. */
  fitting<P extends Problem>(problems: readonly P[], what: string): P[] {
    const settings = this.rolloutSettings();
    const kept = problems.filter((problem) => promptTooLong(problem, settings) === undefined);
    const left = problems.length - kept.length;
    if (kept.length === 0) {
      throw new UserError(
        `no ${what} problem fits into ${promptLimit(settings)} tokens, as limits.promptTokens and the model's context allow`,
        'Raise limits.promptTokens, or use a model with a longer context.',
      );
    }
    if (left > 0)
      this.#options.warn(`${left} of ${problems.length} ${what} problems are longer than ${promptLimit(settings)} tokens and are left out`);
    return kept;
  }

  /** For the run's record: what it ran on. */
  machine(): Record<string, string | number> {
    const { capabilities } = this.#engine;
    return {
      engine: capabilities.server,
      dtype: capabilities.dtype ?? 'unknown',
      device: capabilities.device ?? 'unknown',
      threads: capabilities.threads ?? 0,
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      system: `${platform()} ${release()}`,
      sandbox: this.runner?.name ?? 'not used',
    };
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#engine.close(), this.#tools.close()]);
  }

  async #start(): Promise<void> {
    const { recipe, signal, folder } = this.#options;
    this.#death = undefined;
    if (recipe.engine.url !== undefined) {
      const key = process.env[API_KEY];
      const { url, server } = recipe.engine;
      const onNotice = this.#options.warn;
      this.#engine = await connectEngine({ url, ...(key && { key }), ...(server && { server }), onNotice });
      for (const line of describeCapabilities(this.#engine.capabilities)) this.#options.log(line);
      return;
    }
    const engine: EmbeddedEngine = await startEmbeddedEngine({
      models: { [recipe.model]: this.model.folder },
      checkpoints: this.checkpointFolder,
      logFile: join(folder, 'engine.log'),
      // Bit-equal repeats are the CPU's.
      device: recipe.engine.deterministic ? 'cpu' : recipe.engine.device,
      dtype: recipe.engine.dtype,
      threads: threadsOf(recipe),
      onDeath: (error) => {
        this.#death = error;
      },
      ...(signal && { signal }),
    });
    this.#engine = engine;
  }
}
