/** The end tokens that a model folder names: `generation_config.json`, `config.json`, and the tokenizer's `eos_token`. */
import { join } from 'node:path';
import { readJson, type Tokenizer } from './tokenizer.js';

export async function readStopTokens(modelFolder: string, tokenizer: Tokenizer): Promise<number[]> {
  const ids: number[] = [];
  for (const file of ['generation_config.json', 'config.json']) {
    const value = ((await readJson(join(modelFolder, file))) as { eos_token_id?: unknown } | undefined)?.eos_token_id;
    for (const id of Array.isArray(value) ? value : [value]) if (Number.isInteger(id)) ids.push(id as number);
  }
  const named = tokenizer.namedToken('eos_token');
  const eos = named === undefined ? undefined : tokenizer.idOf(named);
  return [...new Set(eos === undefined ? ids : [...ids, eos])];
}
