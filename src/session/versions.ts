/** Which versions a run was made with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineCapabilities } from '../engine/capabilities.js';
import { packageRoot } from '../setup/paths.js';

export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;

export function versions(capabilities: EngineCapabilities): Record<string, string> {
  return { toolwise: packageVersion(), node: process.version, engine: capabilities.server };
}
