/** What makes `nano` what it is. Equal settings give an equal model on one machine. */
import { NANO_TOKENS } from './template.js';

export const NANO_SETTINGS = {
  seed: 1,
  traces: 120_000,
  vocabulary: 512,
  tokens: NANO_TOKENS,
  shape: {
    hidden_size: 128,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    num_key_value_heads: 4,
    intermediate_size: 384,
    max_position_embeddings: 512,
    rms_norm_eps: 1e-5,
  },
  updates: 1500,
  batchSize: 32,
  learningRate: 3e-3,
  weightDecay: 0,
  warmup: 100,
  /** Share of the batches in the first quarter of the updates that copy random numbers. */
  copyShare: 0.6,
  threads: 1,
};

export type NanoSettings = typeof NANO_SETTINGS;
