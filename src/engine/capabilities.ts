/** What an engine can do. What it cannot is refused by name before a run, never ignored. */
export interface EngineCapabilities {
  /** For example `toolwise 0.1.0`. */
  readonly server: string;
  readonly models: readonly { readonly name: string; readonly maxContextLength?: number; readonly weightsHash?: string }[];
  /** Loss name to the config keys it takes. */
  readonly losses: Readonly<Record<string, readonly string[]>>;
  readonly extensions: readonly EngineExtension[];
  /** How token losses are added up, what the trainer makes good included; everything of ours expects a plain sum. */
  readonly lossReduction: 'sum' | 'sequenceMean';
  readonly dtype?: string;
  readonly device?: string;
  readonly threads?: number;
  /** What it takes and does not do, told at start. */
  readonly ignores?: readonly string[];
}

/** Things beyond the official wire, each by name. */
export type EngineExtension =
  /** Rank 0 trains all weights. */
  | 'full_fine_tune'
  /** `grad_clip_norm` of optim_step is honoured. */
  | 'grad_clip_norm'
  /** `train_unembed: false` freezes embeddings and head. */
  | 'train_unembed'
  /** The same with rank 0, where all other weights are trained. */
  | 'frozen_unembed'
  /** A rank above 0 trains adapters. */
  | 'lora'
  /** Stop ids beside stop strings. */
  | 'stop_token_ids'
  /** Entropy of each sampled token's distribution. */
  | 'entropy'
  /** Requests of one key are run as one fixed batch: bit-equal repeats. */
  | 'lockstep'
  /** What was published stays as it was while training goes on. */
  | 'snapshots'
  /** Another model of the same base beside the one that is trained: the reference of a KL term. */
  | 'second_model'
  /** The tokens of a sample as they are made; closing the stream cancels it. */
  | 'stream';

export type LossName = 'cross_entropy' | 'importance_sampling' | 'ppo';
