/** One engine that is connected: gives trainers and samplers. */
import type { EngineCapabilities } from './capabilities.js';
import type { Sampler } from './sampler.js';
import type { Trainer } from './trainer.js';

export interface Engine {
  readonly url: string;
  readonly capabilities: EngineCapabilities;
  /** @throws EngineError with category `user` for a model that the engine does not have */
  createTrainer(options: TrainerOptions): Promise<Trainer>;
  /** Samples from the untouched weights of a model. */
  baseSampler(model: string): Promise<Sampler>;
  /** Samples from a snapshot that was saved, `tinker://...`. */
  samplerFrom(path: string): Promise<Sampler>;
  /** Removes what was saved under a path. */
  deleteCheckpoint(path: string): Promise<void>;
  /** Ends the session; open calls fail. The engine itself is stopped only by who started it. */
  close(): Promise<void>;
}

export interface TrainerOptions {
  readonly model: string;
  /** False freezes the embeddings and the head. Default true. */
  readonly trainUnembed?: boolean;
  /** 0 trains all weights. Default 0. */
  readonly loraRank?: number;
  readonly seed?: number;
}
