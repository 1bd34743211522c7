/** Whether a folder holds a causal LM in Hugging Face form that the engine can load, and what its weights hash to. Loads nothing. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeInHome } from './paths.js';

/** What is wrong with it, one line; undefined when it can be used. */
export function faultOfModelFolder(folder: string): string | undefined {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return 'it is not a folder';
  if (!existsSync(join(folder, 'config.json'))) return 'it has no config.json';
  let config: { readonly architectures?: unknown; readonly model_type?: unknown };
  try {
    config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as typeof config;
  } catch (error) {
    return `its config.json cannot be read: ${(error as Error).message}`;
  }
  const architectures = Array.isArray(config.architectures) ? config.architectures.map(String) : [];
  if (!architectures.some((name) => /(ForCausalLM|LMHeadModel)$/.test(name))) {
    return `it is not a causal LM: its architectures are ${architectures.length > 0 ? architectures.join(', ') : 'not given'}`;
  }
  if (!existsSync(join(folder, 'tokenizer.json'))) return 'it has no tokenizer.json (save it with a fast tokenizer)';
  const weights = weightFiles(folder);
  if (weights.length === 0) return 'it has no .safetensors file (save it with safe_serialization)';
  const index = join(folder, 'model.safetensors.index.json');
  if (!existsSync(index)) return undefined;
  const map = (JSON.parse(readFileSync(index, 'utf8')) as { weight_map?: Record<string, string> }).weight_map ?? {};
  const lost = [...new Set(Object.values(map))].find((file) => !weights.includes(file));
  return lost === undefined ? undefined : `the part ${lost} of its weights is not there`;
}

/** Names of the weight files, sorted. */
export const weightFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.safetensors'))
    .sort();

/**
 * SHA-256, hex, of the weights: of the file where there is one, of the lines `<hash>  <name>` where there are several. Kept in
 * `<home>/hashes.json` by size and time of change, since hashing half a gigabyte takes a second.
 */
export async function hashWeights(folder: string, home: string): Promise<string> {
  const files = weightFiles(folder);
  const hashes: string[] = [];
  for (const name of files) hashes.push(await hashFile(realpathSync(join(folder, name)), home));
  if (hashes.length === 1) return hashes[0]!;
  return createHash('sha256')
    .update(files.map((name, index) => `${hashes[index]}  ${name}\n`).join(''))
    .digest('hex');
}

async function hashFile(file: string, home: string): Promise<string> {
  const { size, mtimeMs } = statSync(file);
  const known = readCache(home)[file];
  if (known !== undefined && known.size === size && known.mtimeMs === mtimeMs) return known.sha256;
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  const sha256 = hash.digest('hex');
  makeInHome(home);
  const partial = join(home, `.hashes.${process.pid}`);
  writeFileSync(partial, `${JSON.stringify({ ...readCache(home), [file]: { size, mtimeMs, sha256 } }, null, 1)}\n`);
  renameSync(partial, join(home, 'hashes.json'));
  return sha256;
}

type HashCache = Record<string, { readonly size: number; readonly mtimeMs: number; readonly sha256: string }>;

function readCache(home: string): HashCache {
  try {
    return JSON.parse(readFileSync(join(home, 'hashes.json'), 'utf8')) as HashCache;
  } catch {
    return {};
  }
}
