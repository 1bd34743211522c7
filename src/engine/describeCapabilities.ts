/** What a person should know of an engine before a run begins: one line each. */
import type { EngineCapabilities } from './capabilities.js';

export function describeCapabilities({ server, models, losses, extensions, ignores = [] }: EngineCapabilities): string[] {
  const named = models.map(({ name, maxContextLength }) =>
    maxContextLength === undefined ? name : `${name} (${maxContextLength} tokens)`,
  );
  return [
    `engine: ${server}, models ${named.join(', ') || 'unnamed'}`,
    `engine: losses ${Object.keys(losses).join(', ')}; ${extensions.length === 0 ? 'no extensions' : extensions.join(', ')}`,
    ...ignores.map((what) => `engine: it does not honour ${what}`),
  ];
}
