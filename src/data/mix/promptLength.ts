/** Which questions make too long a prompt, as training renders it: system text, tools and chat template included. Starts no engine. */
import type { Problem } from '../../domain/problem.js';
import { openTokenMeter } from '../inspect/tokenMeter.js';
import type { MixPlan } from './plan.js';

export interface PromptLength {
  /** For the card: model, recipe, limit. */
  readonly detail: string;
  /** Tokens of a prompt that is too long; undefined where it fits. */
  tooLong(problem: Problem): number | undefined;
}

/** Tokens by which the question's two ends may change what stands around it. */
const SEAMS = 16;

/** @throws UserError where the model or the recipe is not there */
export async function openPromptLength(
  { tokenizer, maxTokens, recipe }: NonNullable<MixPlan['prompt']>,
  log: (line: string) => void,
): Promise<PromptLength> {
  const meter = await openTokenMeter(tokenizer, recipe, log);
  const around = meter.prompt({ id: 'empty', question: '' });
  return {
    detail: `at most ${maxTokens} tokens of ${tokenizer}, with the prompt and tools of ${recipe}`,
    tooLong(problem) {
      // A token stands for at least one byte: short questions need no tokenizer.
      if (around + SEAMS + Buffer.byteLength(problem.question) <= maxTokens) return undefined;
      const length = meter.prompt(problem);
      return length > maxTokens ? length : undefined;
    },
  };
}
