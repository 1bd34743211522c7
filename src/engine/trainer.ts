/** Owns the weights of one policy on an engine and changes them. Calls run in the order in which they were made. */
import type { Datum } from '../domain/datum.js';
import type { EngineCapabilities, LossName } from './capabilities.js';
import type { Sampler } from './sampler.js';

export interface Trainer {
  readonly capabilities: EngineCapabilities;
  /** Updates made so far, those before a resume included. */
  readonly policyVersion: number;
  /** Log-probs of the targets under the current weights, one array a datum; 0 where the weight is 0. */
  forward(data: readonly Datum[], signal?: AbortSignal): Promise<Float64Array[]>;
  /** Adds the gradient of the summed loss to what is accumulated; returns the log-probs that it saw. */
  forwardBackward(data: readonly Datum[], loss: LossRequest, signal?: AbortSignal): Promise<ForwardBackwardResult>;
  /** One AdamW update from the accumulated gradient, which is then cleared. */
  optimStep(adam: AdamParams, signal?: AbortSignal): Promise<OptimResult>;
  /** A frozen snapshot to sample from: later updates do not change it. */
  publish(signal?: AbortSignal): Promise<Sampler>;
  /** Saves weights, and the optimizer's state where asked; returns the path to load it by. */
  save(name: string, options?: { readonly optimizer?: boolean }): Promise<string>;
  load(path: string, options: { readonly optimizer: boolean; readonly policyVersion: number }): Promise<void>;
  /** Frees the policy on the engine. */
  unload(): Promise<void>;
}

export interface LossRequest {
  readonly name: LossName;
  /** `ppo`: clip_low_threshold and clip_high_threshold are bounds of the ratio (0.8, 1.28); dual_clip is our extension. */
  readonly config?: Readonly<Record<string, number>>;
}

export interface ForwardBackwardResult {
  readonly logProbs: Float64Array[];
  readonly metrics: Readonly<Record<string, number>>;
}

export interface AdamParams {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** 0: no clipping. */
  readonly gradClipNorm: number;
}

export interface OptimResult {
  /** Norm before clipping. */
  readonly gradNorm: number;
}
