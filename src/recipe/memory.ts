/** How much memory training a model will need, from its size and the recipe's limits. An estimate; the engine chooses micro-batches by what is free. */
import type { Recipe } from './schema.js';

export interface ModelFacts {
  readonly parameters: number;
  /** Tokens of the vocabulary; without it no logits are counted. */
  readonly vocabulary?: number;
  /** Weights of embeddings and head; frozen where the recipe says `trainUnembed: false`. */
  readonly embeddingParameters?: number;
  /** Of the compute copies; absent: both are told where the recipe leaves it to the engine. */
  readonly dtype?: 'bfloat16' | 'float32';
}

export interface MemoryNeed {
  /** Bytes of float32 master weights, AdamW's two moments, gradients, and compute copies of trainer and sampler. */
  readonly weights: number;
  /** Bytes of the logits of one rollout of full length, with their softmax and gradient, float32. */
  readonly logits: number;
  readonly dtype: 'bfloat16' | 'float32';
}

const MASTER = 4;
const MOMENTS = 8;
const GRADIENT = 4;
/** Logits, softmax and gradient at once, float32. */
const LOGITS = 12;
/** LoRA's own weights, as a share of the model's for each rank: a few tenths of a percent at rank 16. */
const LORA_SHARE_A_RANK = 3e-4;

/** Full fine-tuning: 16 bytes a trained weight, and the compute copies (2 or 4 bytes a weight each). With a KL term one copy more. */
export function estimateMemory(recipe: Recipe, facts: ModelFacts, dtype: 'bfloat16' | 'float32'): MemoryNeed {
  const { parameters, vocabulary = 0 } = facts;
  const compute = dtype === 'bfloat16' ? 2 : 4;
  const copies = 2 + (recipe.stages.includes('rl') && recipe.rl && recipe.rl.algorithm.klCoefficient > 0 ? 1 : 0);
  const { trained, masters } = weightCounts(recipe, facts);
  const weights = MASTER * masters + (MOMENTS + GRADIENT) * trained + copies * compute * parameters;
  const rl = recipe.stages.includes('rl') ? recipe.limits.responseTokens : 0;
  const sft =
    recipe.stages.includes('sft') && recipe.sft
      ? Math.min(recipe.sft.maxTokens, recipe.limits.promptTokens + recipe.limits.responseTokens)
      : 0;
  return { weights, logits: Math.max(rl, sft) * vocabulary * LOGITS, dtype };
}

/** How many weights are trained, and how many are held in float32: all of them, or the adapters alone. */
export function weightCounts(recipe: Recipe, { parameters, embeddingParameters = 0 }: ModelFacts): { trained: number; masters: number } {
  if (recipe.loraRank > 0) {
    const trained = parameters * Math.min(1, LORA_SHARE_A_RANK * recipe.loraRank);
    return { trained, masters: trained };
  }
  return { trained: recipe.trainUnembed ? parameters : parameters - embeddingParameters, masters: parameters };
}

/** Bytes of one full checkpoint: float32 weights, and AdamW's two moments of what is trained. */
export function checkpointBytes(recipe: Recipe, facts: ModelFacts): number {
  const { trained, masters } = weightCounts(recipe, facts);
  return MASTER * masters + MOMENTS * trained;
}

/** As text, one line for each number format that is possible. */
export function memoryNeed(recipe: Recipe, facts: ModelFacts): string[] {
  const asked = facts.dtype ?? (recipe.engine.dtype === 'auto' ? undefined : recipe.engine.dtype);
  const dtypes = asked === undefined ? (['bfloat16', 'float32'] as const) : [asked];
  return dtypes.map((dtype) => {
    const { weights, logits } = estimateMemory(recipe, facts, dtype);
    const parts = [
      `${bytes(weights)} weights, moments, gradients and copies`,
      ...(logits > 0 ? [`up to ${bytes(logits)} logits of one rollout`] : []),
    ];
    return `Memory in ${dtype}: about ${bytes(weights + logits)} (${parts.join(', ')}), activations and the sampling cache besides`;
  });
}

/** As text. */
export function bytes(count: number): string {
  return count < 0.95e9 ? `${Math.max(1, Math.round(count / 1e6))} MB` : `${(count / 1e9).toFixed(1)} GB`;
}
