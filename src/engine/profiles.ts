/**
 * What is known of each kind of Tinker server: which encoding it takes, how it adds up losses, what it ignores in silence. Our own engine
 * tells of itself; others are told apart by name (`engine.server` in a recipe), since nothing on the wire says which they are.
 */
import type { EngineExtension } from './capabilities.js';

export const SERVERS = ['toolwise', 'tinker', 'skyrl-jax', 'skyrl'] as const;
export type ServerName = (typeof SERVERS)[number];

export interface ServerProfile {
  readonly name: ServerName;
  /** As a person reads it. */
  readonly title: string;
  /** Loss name to the config keys it takes. */
  readonly losses: Readonly<Record<string, readonly string[]>>;
  readonly extensions: readonly EngineExtension[];
  /**
   * `sum`: the gradient is that of the plain sum over tokens. `means`: of the mean over the datums of an update of each one's mean over its
   * weights; the trainer then scales advantages and sends one batch an update, so that what comes out is the sum.
   */
  readonly reduction: 'sum' | 'means';
  /** A request with the seq_id and the body of an earlier one gives that one's promise, instead of running again. */
  readonly idempotent: boolean;
  /** Most datums and bytes of one training request; longer ones are sent in parts. */
  readonly chunk: { readonly datums: number; readonly bytes: number };
  /** What it accepts and does not do, for a person who wonders. */
  readonly ignores: readonly string[];
}

const RATIO_BOUNDS = ['clip_low_threshold', 'clip_high_threshold'];
const OFFICIAL_LOSSES = { cross_entropy: [], importance_sampling: [], ppo: RATIO_BOUNDS, cispo: RATIO_BOUNDS, dro: ['beta'] };
/** The official client's own limits. */
const OFFICIAL_CHUNK = { datums: 1024, bytes: 5_000_000 };

const PROFILES: Readonly<Record<ServerName, ServerProfile>> = {
  toolwise: {
    name: 'toolwise',
    title: 'Toolwise engine',
    losses: OFFICIAL_LOSSES,
    extensions: [],
    reduction: 'sum',
    idempotent: true,
    chunk: { datums: 65_536, bytes: 32 * 2 ** 20 },
    ignores: [],
  },
  tinker: {
    name: 'tinker',
    title: 'Tinker server',
    losses: OFFICIAL_LOSSES,
    extensions: ['lora', 'train_unembed', 'grad_clip_norm', 'snapshots', 'second_model'],
    reduction: 'sum',
    idempotent: true,
    chunk: OFFICIAL_CHUNK,
    ignores: [],
  },
  'skyrl-jax': {
    name: 'skyrl-jax',
    title: 'SkyRL, JAX backend',
    losses: { cross_entropy: [], importance_sampling: [], ppo: RATIO_BOUNDS, cispo: RATIO_BOUNDS },
    extensions: ['lora', 'train_unembed', 'second_model'],
    reduction: 'means',
    idempotent: false,
    chunk: OFFICIAL_CHUNK,
    ignores: [
      'grad_clip_norm',
      'trainUnembed: true (embeddings and head are never trained)',
      'that a snapshot is to stay as it was (samples are of the weights of the moment, and an older snapshot takes their place)',
    ],
  },
  skyrl: {
    name: 'skyrl',
    title: 'SkyRL, FSDP or Megatron backend',
    losses: { cross_entropy: [], importance_sampling: [], ppo: RATIO_BOUNDS, cispo: RATIO_BOUNDS },
    // One model at a time, but for adapters on Megatron where its server is set up for them.
    extensions: ['full_fine_tune', 'lora', 'train_unembed'],
    reduction: 'sum',
    idempotent: false,
    chunk: OFFICIAL_CHUNK,
    ignores: ['betas, epsilon and weightDecay (set when the server starts)', 'gradClip (its own max_grad_norm clips, 1.0 unless set)'],
  },
};

export const profileOf = (name: ServerName): ServerProfile => PROFILES[name];
