/**
 * What a server says it can do, in our terms. A server that says nothing of our extensions is taken for a plain one: official losses,
 * plain sum, adapters, none of the extensions.
 */
import type { EngineCapabilities, EngineExtension } from './capabilities.js';
import { field } from './futures.js';

const EXTENSIONS: readonly EngineExtension[] = [
  'full_fine_tune',
  'grad_clip_norm',
  'train_unembed',
  'lora',
  'stop_token_ids',
  'entropy',
  'lockstep',
];

const OFFICIAL_LOSSES = { cross_entropy: [], importance_sampling: [], ppo: ['clip_low_threshold', 'clip_high_threshold'] };

export function readCapabilities(answer: unknown): EngineCapabilities {
  const own = field(answer, 'toolwise');
  const models = list(field(answer, 'supported_models')).flatMap((model) => {
    const name = field(model, 'model_name');
    if (typeof name !== 'string') return [];
    const maxContextLength = field(model, 'max_context_length');
    const weightsHash = field(model, 'weights_hash');
    return [
      {
        name,
        ...(typeof maxContextLength === 'number' ? { maxContextLength } : {}),
        ...(typeof weightsHash === 'string' ? { weightsHash } : {}),
      },
    ];
  });
  if (own === undefined) return { server: 'Tinker server', models, losses: OFFICIAL_LOSSES, extensions: ['lora'], lossReduction: 'sum' };
  const named = list(field(own, 'extensions'));
  const dtype = field(own, 'dtype');
  const device = field(own, 'device');
  const threads = field(own, 'threads');
  return {
    server: `toolwise ${String(field(own, 'version'))}`,
    models,
    losses: Object.fromEntries(
      Object.entries(field(own, 'losses') ?? OFFICIAL_LOSSES).map(([name, keys]) => [name, list(keys).map(String)]),
    ),
    extensions: EXTENSIONS.filter((extension) => named.includes(extension)),
    lossReduction: field(own, 'loss_reduction') === 'sum' ? 'sum' : 'sequenceMean',
    ...(typeof dtype === 'string' ? { dtype } : {}),
    ...(typeof device === 'string' ? { device } : {}),
    ...(typeof threads === 'number' ? { threads } : {}),
  };
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
