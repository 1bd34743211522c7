/**
 * A Trainer over one model of a Tinker server. Operations reach the server in the order of the calls, without waiting for one another's
 * results: each is submitted when the one before it has been taken. An aborted call stops waiting; what the server has taken it still does.
 *
 * Gradients are those of plain sums whatever the server: one that takes means is given what makes them sums (`trainingParts.ts`).
 */
import type { Datum } from '../domain/datum.js';
import type { EngineCapabilities } from './capabilities.js';
import { decodeLogProbs, decodeMetrics } from './datumCodec.js';
import type { TrainerOptions } from './engine.js';
import { EngineError } from './engineError.js';
import { field, type Operation } from './futures.js';
import { encodeTrainingRequest } from './protoCodec.js';
import type { Sampler } from './sampler.js';
import { TinkerSampler } from './tinkerSampler.js';
import type { TinkerSession } from './tinkerSession.js';
import type { AdamParams, ForwardBackwardResult, LossRequest, OptimResult, Trainer } from './trainer.js';
import { asSum, inParts, mergeMetrics, type TrainingPart } from './trainingParts.js';

export async function createTinkerTrainer(session: TinkerSession, options: TrainerOptions): Promise<Trainer> {
  const { loraRank = 0, trainUnembed = true } = options;
  const body = JSON.stringify({
    session_id: session.id,
    model_seq_id: session.nextModel(),
    base_model: options.model,
    lora_config: { rank: loraRank, seed: options.seed ?? 0, train_unembed: trainUnembed, train_mlp: true, train_attn: true },
    type: 'create_model',
  });
  const result = await session.run({ path: 'create_model', body, repeatable: true });
  const modelId = field(result, 'model_id');
  if (typeof modelId !== 'string') throw new EngineError('server', 'create_model: the answer has no model_id');
  const trainer = new TinkerTrainer(session, modelId);
  try {
    checkMade(field(result, 'lora_config'), field(result, 'base_model'), options);
  } catch (error) {
    await trainer.unload().catch(() => undefined);
    throw error;
  }
  return trainer;
}

/** Some servers make another model than the one that was asked for, and say so only here. */
function checkMade(config: unknown, base: unknown, { model, loraRank = 0, trainUnembed = true }: TrainerOptions): void {
  const rank = field(config, 'rank');
  if (typeof rank === 'number' && rank !== loraRank)
    throw new EngineError('user', `the engine made a model of LoRA rank ${rank} where ${loraRank} was asked for`);
  if (field(config, 'train_unembed') === false && trainUnembed && loraRank > 0)
    throw new EngineError('user', 'the engine does not train embeddings and head: set trainUnembed to false');
  if (typeof base === 'string' && base !== model) throw new EngineError('user', `the engine has no model ${model}: it made one of ${base}`);
}

class TinkerTrainer implements Trainer {
  #version = 0;
  /** Version once every update that was asked for is made. */
  #comingVersion = 0;
  #seqId = 0;
  readonly #turns = new Turns();
  /** Whether a gradient waits for its update; a server that takes means cannot be given a second one. */
  #accumulated = false;

  constructor(
    readonly session: TinkerSession,
    readonly modelId: string,
  ) {}

  get capabilities(): EngineCapabilities {
    return this.session.capabilities;
  }

  get policyVersion(): number {
    return this.#version;
  }

  async forward(data: readonly Datum[], signal?: AbortSignal): Promise<Float64Array[]> {
    const { logProbs } = await this.#train(data, { name: 'cross_entropy' }, true, this.#turns, signal);
    return logProbs;
  }

  async forwardBackward(data: readonly Datum[], loss: LossRequest, signal?: AbortSignal): Promise<ForwardBackwardResult> {
    if (this.session.profile.reduction === 'sum') return this.#train(data, loss, false, this.#turns, signal);
    if (this.#accumulated)
      throw new RangeError(`${this.capabilities.server} takes means: it can be given one forwardBackward for each optimStep`);
    this.#accumulated = true;
    const train = (seen: readonly Float64Array[] | undefined, turns: Turns): Promise<ForwardBackwardResult> => {
      const sum = asSum(data, loss, seen);
      return this.#train(sum.data, sum.loss, false, turns, signal);
    };
    if (loss.name !== 'cross_entropy') return train(undefined, this.#turns);
    // A mean over weights cannot be told what a weight is: the same gradient comes from a ratio of 1. Both requests are one turn: an
    // optimStep that was called meanwhile must not come between them.
    return this.#turns.take(async (taken) => {
      const inner = new Turns();
      const { logProbs } = await this.#train(data, loss, true, inner, signal);
      const result = train(logProbs, inner);
      void inner.taken.then(taken);
      return result;
    });
  }

  async optimStep(adam: AdamParams, signal?: AbortSignal): Promise<OptimResult> {
    const params = {
      learning_rate: adam.learningRate,
      beta1: adam.beta1,
      beta2: adam.beta2,
      eps: adam.epsilon,
      weight_decay: adam.weightDecay,
      grad_clip_norm: adam.gradClipNorm,
    };
    this.#comingVersion++;
    this.#accumulated = false;
    let result: unknown;
    try {
      result = await this.#run('optim_step', { adam_params: params, type: 'optim_step' }, signal);
    } catch (error) {
      this.#comingVersion--;
      throw error;
    }
    this.#version++;
    const norm = Object.entries(decodeMetrics(result)).find(([name]) => /(^|[./])grad_norm(:|$)/.test(name));
    return { gradNorm: norm?.[1] ?? Number.NaN };
  }

  async publish(signal?: AbortSignal): Promise<Sampler> {
    const version = this.#comingVersion;
    const fields = { sampling_session_seq_id: this.session.nextSamplingSession(), type: 'save_weights_for_sampler' };
    const result = await this.#run('save_weights_for_sampler', fields, signal);
    const id = field(result, 'sampling_session_id');
    if (typeof id !== 'string') throw new EngineError('server', 'save_weights_for_sampler: the answer has no sampling session');
    return new TinkerSampler(this.session, id, version);
  }

  async save(name: string, options: { readonly optimizer?: boolean } = {}): Promise<string> {
    const fields = { path: name, ...(options.optimizer === false ? { optimizer: false } : {}), type: 'save_weights' };
    const path = field(await this.#run('save_weights', fields), 'path');
    if (typeof path !== 'string') throw new EngineError('server', 'save_weights: the answer has no path');
    return path;
  }

  async load(path: string, options: { readonly optimizer: boolean; readonly policyVersion: number }): Promise<void> {
    await this.#run('load_weights', { path, optimizer: options.optimizer, type: 'load_weights' });
    this.#version = options.policyVersion;
    this.#comingVersion = options.policyVersion;
  }

  async unload(): Promise<void> {
    const body = JSON.stringify({ model_id: this.modelId, type: 'unload_model' });
    await this.#turns.taken;
    await this.session.run({ path: 'unload_model', body, repeatable: true });
  }

  /** Sends the data in as many requests as the server wants, and puts their results together. */
  async #train(
    data: readonly Datum[],
    loss: LossRequest,
    forwardOnly: boolean,
    turns: Turns,
    signal?: AbortSignal,
  ): Promise<ForwardBackwardResult> {
    const parts = inParts(data, loss.name, this.session.profile.chunk);
    const results = await Promise.all(parts.map((part) => this.#trainPart(part, loss, forwardOnly, turns, signal)));
    return {
      logProbs: results.flatMap((result, i) => decodeLogProbs(result, parts[i]!.data)),
      metrics: mergeMetrics(results.map(decodeMetrics)),
    };
  }

  #trainPart(part: TrainingPart, loss: LossRequest, forwardOnly: boolean, turns: Turns, signal?: AbortSignal): Promise<unknown> {
    const path = forwardOnly ? 'forward' : 'forward_backward';
    const input = { data: part.encoded, loss_fn: loss.name, ...(loss.config && { loss_fn_config: loss.config }) };
    const { modelId } = this;
    const json = (seqId: number): Operation => ({
      path,
      body: JSON.stringify({ model_id: modelId, seq_id: seqId, [`${path}_input`]: input }),
      repeatable: this.#repeatable,
    });
    const proto = (seqId: number): Operation => ({
      path: 'forward_backward',
      body: encodeTrainingRequest({ modelId, seqId, data: part.encoded, loss: loss.name, config: loss.config, forwardOnly }),
      repeatable: this.#repeatable,
      post: { acceptProto: true },
    });
    return turns.take(async (taken) => {
      const seqId = ++this.#seqId;
      if (this.session.encoding === 'proto') return this.session.run(proto(seqId), signal, taken);
      try {
        return await this.session.run(json(seqId), signal, taken);
      } catch (error) {
        // 415: JSON is not taken. 404: there is no `forward` of its own, since messages carry a flag for it.
        const refused = error instanceof EngineError && (error.status === 415 || (error.status === 404 && forwardOnly));
        if (!refused || this.session.profile.name === 'toolwise') throw error;
        const answer = await this.session.run(proto(seqId), signal, taken);
        this.session.encoding = 'proto';
        return answer;
      }
    });
  }

  get #repeatable(): boolean {
    return this.session.profile.idempotent;
  }

  /** Leaves when the call before it has been taken. */
  #run(path: string, fields: object, signal?: AbortSignal): Promise<unknown> {
    return this.#turns.take((taken) => {
      const body = JSON.stringify({ model_id: this.modelId, seq_id: ++this.#seqId, ...fields });
      return this.session.run({ path, body, repeatable: this.#repeatable }, signal, taken);
    });
  }
}

/** Calls one after another, in the order in which they came; the next begins when the one before has been taken, or has ended. */
class Turns {
  /** Resolves when all that came so far have been taken. */
  taken: Promise<void> = Promise.resolve();

  async take<T>(call: (taken: () => void) => Promise<T>): Promise<T> {
    const before = this.taken;
    let taken: () => void = () => {};
    this.taken = new Promise((resolve) => {
      taken = resolve;
    });
    try {
      await before;
      return await call(taken);
    } finally {
      taken();
    }
  }
}
