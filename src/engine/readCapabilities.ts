/**
 * What a server says it can do, in our terms. A server that says nothing of our extensions is what the user says it is, else one that
 * keeps to the official wire: see `profiles.ts`.
 */
import type { EngineCapabilities, EngineExtension } from './capabilities.js';
import { field } from './futures.js';
import { profileOf, type ServerName, type ServerProfile } from './profiles.js';

const EXTENSIONS: readonly EngineExtension[] = [
  'full_fine_tune',
  'grad_clip_norm',
  'train_unembed',
  'frozen_unembed',
  'lora',
  'stop_token_ids',
  'entropy',
  'lockstep',
  'snapshots',
  'second_model',
  'stream',
];

/** @param server what the user says it is; our own engine tells by itself */
export function readCapabilities(
  answer: unknown,
  server?: ServerName,
): { readonly capabilities: EngineCapabilities; readonly profile: ServerProfile } {
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
  if (own === undefined) {
    const profile = profileOf(server ?? 'tinker');
    const { title, losses, extensions, ignores } = profile;
    return { profile, capabilities: { server: title, models, losses, extensions, lossReduction: 'sum', ignores } };
  }
  const named = list(field(own, 'extensions'));
  const dtype = field(own, 'dtype');
  const device = field(own, 'device');
  const threads = field(own, 'threads');
  const capabilities: EngineCapabilities = {
    server: `toolwise ${String(field(own, 'version'))}`,
    models,
    losses: Object.fromEntries(Object.entries(field(own, 'losses') ?? {}).map(([name, keys]) => [name, list(keys).map(String)])),
    extensions: EXTENSIONS.filter((extension) => named.includes(extension)),
    lossReduction: field(own, 'loss_reduction') === 'sum' ? 'sum' : 'sequenceMean',
    ...(typeof dtype === 'string' ? { dtype } : {}),
    ...(typeof device === 'string' ? { device } : {}),
    ...(typeof threads === 'number' ? { threads } : {}),
  };
  return { capabilities, profile: profileOf('toolwise') };
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
