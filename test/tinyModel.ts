/** A random llama or qwen3 of a few thousand weights in Hugging Face form, with the tokenizer of another model; for tests with the real engine. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../src/random.js';
import { packageRoot } from '../src/setup/paths.js';

const HIDDEN = 32;
const LAYERS = 2;
const HEADS = 2;
const FEED_FORWARD = 64;

/** Writes the model into a folder and returns it. Tokenizer and template are nano's. */
export function makeTinyModel(folder: string, seed = 1, family: 'llama' | 'qwen3' = 'llama'): string {
  mkdirSync(folder, { recursive: true });
  const nano = join(packageRoot(), 'models', 'nano');
  for (const file of ['tokenizer.json', 'tokenizer_config.json']) copyFileSync(join(nano, file), join(folder, file));
  const nanoConfig = JSON.parse(readFileSync(join(nano, 'config.json'), 'utf8')) as Record<string, unknown>;
  const vocabulary = nanoConfig.vocab_size as number;
  const config = {
    ...nanoConfig,
    hidden_size: HIDDEN,
    intermediate_size: FEED_FORWARD,
    num_hidden_layers: LAYERS,
    num_attention_heads: HEADS,
    num_key_value_heads: HEADS,
    head_dim: HIDDEN / HEADS,
    torch_dtype: 'float32',
    dtype: 'float32',
    ...(family === 'qwen3' && { architectures: ['Qwen3ForCausalLM'], model_type: 'qwen3', rope_theta: 1000, use_sliding_window: false }),
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const shapes: Record<string, number[]> = { 'model.embed_tokens.weight': [vocabulary, HIDDEN], 'model.norm.weight': [HIDDEN] };
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = `model.layers.${layer}.`;
    for (const name of ['q', 'k', 'v', 'o']) shapes[`${at}self_attn.${name}_proj.weight`] = [HIDDEN, HIDDEN];
    shapes[`${at}mlp.gate_proj.weight`] = [FEED_FORWARD, HIDDEN];
    shapes[`${at}mlp.up_proj.weight`] = [FEED_FORWARD, HIDDEN];
    shapes[`${at}mlp.down_proj.weight`] = [HIDDEN, FEED_FORWARD];
    if (family === 'qwen3') for (const name of ['q', 'k']) shapes[`${at}self_attn.${name}_norm.weight`] = [HIDDEN / HEADS];
    shapes[`${at}input_layernorm.weight`] = [HIDDEN];
    shapes[`${at}post_attention_layernorm.weight`] = [HIDDEN];
  }
  writeSafetensors(join(folder, 'model.safetensors'), shapes, new Random(seed));
  return folder;
}

function writeSafetensors(file: string, shapes: Readonly<Record<string, number[]>>, random: Random): void {
  const header: Record<string, unknown> = {};
  const parts: Buffer[] = [];
  let offset = 0;
  for (const [name, shape] of Object.entries(shapes)) {
    const size = shape.reduce((a, b) => a * b, 1);
    const values = new Float32Array(size);
    const scale = 1.5 / Math.sqrt(shape.at(-1)!);
    for (let i = 0; i < size; i++) values[i] = shape.length === 1 ? 1 : (random.next() * 2 - 1) * scale;
    const bytes = Buffer.from(values.buffer);
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
    parts.push(bytes);
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(file, Buffer.concat([length, text, ...parts]));
}
