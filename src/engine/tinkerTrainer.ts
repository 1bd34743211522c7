/**
 * A Trainer over one model of a Tinker server. Operations reach the server in the order of the calls, without waiting for one another's
 * results: each is submitted when the one before it has been taken. An aborted call stops waiting; what the server has taken it still does.
 */
import type { Datum } from '../domain/datum.js';
import type { EngineCapabilities } from './capabilities.js';
import { decodeLogProbs, decodeMetrics, encodeData } from './datumCodec.js';
import type { TrainerOptions } from './engine.js';
import { EngineError } from './engineError.js';
import { field } from './futures.js';
import type { Sampler } from './sampler.js';
import { TinkerSampler } from './tinkerSampler.js';
import type { TinkerSession } from './tinkerSession.js';
import type { AdamParams, ForwardBackwardResult, LossRequest, OptimResult, Trainer } from './trainer.js';

export async function createTinkerTrainer(session: TinkerSession, options: TrainerOptions): Promise<Trainer> {
  const body = JSON.stringify({
    session_id: session.id,
    model_seq_id: session.nextModel(),
    base_model: options.model,
    lora_config: {
      rank: options.loraRank ?? 0,
      seed: options.seed ?? 0,
      train_unembed: options.trainUnembed ?? true,
      train_mlp: true,
      train_attn: true,
    },
    type: 'create_model',
  });
  const result = await session.run({ path: 'create_model', body, repeatable: true });
  const modelId = field(result, 'model_id');
  if (typeof modelId !== 'string') throw new EngineError('server', 'create_model: the answer has no model_id');
  return new TinkerTrainer(session, modelId);
}

class TinkerTrainer implements Trainer {
  #version = 0;
  /** Version once every update that was asked for is made. */
  #comingVersion = 0;
  #seqId = 0;
  #lastTaken: Promise<void> = Promise.resolve();

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
    const input = { data: encodeData(data, 'cross_entropy'), loss_fn: 'cross_entropy' };
    return decodeLogProbs(await this.#run('forward', { forward_input: input }, signal), data);
  }

  async forwardBackward(data: readonly Datum[], loss: LossRequest, signal?: AbortSignal): Promise<ForwardBackwardResult> {
    const input = {
      data: encodeData(data, loss.name),
      loss_fn: loss.name,
      ...(loss.config === undefined ? {} : { loss_fn_config: loss.config }),
    };
    const result = await this.#run('forward_backward', { forward_backward_input: input }, signal);
    return { logProbs: decodeLogProbs(result, data), metrics: decodeMetrics(result) };
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
    await this.#lastTaken;
    await this.session.run({ path: 'unload_model', body, repeatable: true });
  }

  /** The body is made now, so later changes of the caller's arrays do not show; it leaves when the call before it has been taken. */
  async #run(path: string, fields: object, signal?: AbortSignal): Promise<unknown> {
    const body = JSON.stringify({ model_id: this.modelId, seq_id: ++this.#seqId, ...fields });
    const before = this.#lastTaken;
    let taken: () => void = () => {};
    this.#lastTaken = new Promise((resolve) => {
      taken = resolve;
    });
    try {
      await before;
      return await this.session.run({ path, body, repeatable: true }, signal, taken);
    } finally {
      taken();
    }
  }
}
