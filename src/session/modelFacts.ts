/** What a dry run needs to know of a model, where its files are here already. Downloads nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelFacts } from '../recipe/memory.js';
import type { Recipe } from '../recipe/schema.js';
import { weightFiles } from '../setup/modelFolder.js';
import { findModel } from '../setup/weights.js';
import { readHeader } from './safetensorsHeader.js';

/** Undefined when the weights are not on this machine. */
export async function modelFacts(recipe: Recipe): Promise<ModelFacts | undefined> {
  const found = findModel(recipe.model);
  if (!found) return undefined;
  const config = JSON.parse(readFileSync(join(found.folder, 'config.json'), 'utf8')) as { vocab_size?: number };
  let parameters = 0;
  for (const file of weightFiles(found.folder))
    for (const { shape } of readHeader(join(found.folder, file))) parameters += shape.reduce((a, b) => a * b, 1);
  return { parameters, ...(config.vocab_size !== undefined && { vocabulary: config.vocab_size }) };
}
