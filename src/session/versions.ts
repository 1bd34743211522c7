/** Which versions a run was made with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineCapabilities } from '../engine/capabilities.js';
import { packageRoot } from '../setup/paths.js';
import { inspectPythonEnv } from '../setup/pythonEnv.js';

export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;

/** @param embedded whether the engine is our own, in the environment that set-up made */
export function versions(capabilities: EngineCapabilities, embedded: boolean): Record<string, string> {
  const python = embedded ? inspectPythonEnv() : undefined;
  return {
    toolwise: packageVersion(),
    node: process.version,
    engine: capabilities.server,
    ...(python?.kind === 'ready' && { torch: python.torch }),
  };
}
