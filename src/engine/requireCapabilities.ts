/** Refuses a run that needs what its engine cannot do, by name and before anything is computed. */
import { UserError } from '../userError.js';
import type { EngineCapabilities, EngineExtension, LossName } from './capabilities.js';

/** `loss:ppo.dual_clip` is a config key of a loss; `sum_reduction` a plain sum of token losses; `model:NAME` a model that is loaded. */
export type CapabilityName = EngineExtension | `loss:${LossName}` | `loss:${LossName}.${string}` | 'sum_reduction' | `model:${string}`;

/**
 * @param allowMissing names that the run may go without
 * @returns the names that are missing and allowed to be: to be printed
 * @throws UserError that lists what is missing, what the engine has, and what would work
 */
export function requireCapabilities(
  needed: readonly CapabilityName[],
  capabilities: EngineCapabilities,
  allowMissing: readonly string[] = [],
): CapabilityName[] {
  const missing = [...new Set(needed)].filter((name) => !offers(capabilities, name));
  const refused = missing.filter((name) => !allowMissing.includes(name));
  if (refused.length === 0) return missing;
  throw new UserError(
    `the engine (${capabilities.server}) cannot do what this run needs: ${refused.join(', ')}; it offers: ${offered(capabilities).join(', ')}`,
    `${refused.map(remedy).join(' ')} To go without, list the name in engine.allowMissing.`,
  );
}

function offers(capabilities: EngineCapabilities, name: CapabilityName): boolean {
  if (name === 'sum_reduction') return capabilities.lossReduction === 'sum';
  if (name.startsWith('model:')) return capabilities.models.some((model) => `model:${model.name}` === name);
  if (!name.startsWith('loss:')) return capabilities.extensions.some((extension) => extension === name);
  const [loss, key] = name.slice('loss:'.length).split('.', 2);
  const keys = capabilities.losses[loss ?? ''];
  return keys !== undefined && (key === undefined || keys.includes(key));
}

function offered(capabilities: EngineCapabilities): string[] {
  const losses = Object.entries(capabilities.losses).flatMap(([loss, keys]) => [
    `loss:${loss}`,
    ...keys.map((key) => `loss:${loss}.${key}`),
  ]);
  const models = capabilities.models.map((model) => `model:${model.name}`);
  return [...models, ...losses, ...capabilities.extensions, ...(capabilities.lossReduction === 'sum' ? ['sum_reduction'] : [])];
}

function remedy(name: CapabilityName): string {
  if (name.startsWith('model:')) return `Start the engine with ${name.slice('model:'.length)}, or name one of its models.`;
  if (name === 'full_fine_tune') return 'full_fine_tune: train adapters instead (a LoRA rank above 0), or use the embedded engine.';
  return `${name}: the embedded engine (leave engine.url out) has it.`;
}
