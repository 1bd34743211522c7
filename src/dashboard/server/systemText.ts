/** The system message of a rollout, as a person reads it: of the recipe, or what the prompt's tokens say where the tokenizer is there. */
import { systemText } from '../../chat/prompts.js';
import type { TrajectoryRecord } from '../../domain/event.js';
import type { RunView } from './runView.js';
import type { Tokenizers } from './tokens.js';

export async function systemOf(view: RunView, record: TrajectoryRecord, tokenizers: Tokenizers): Promise<string> {
  const tokenizer = await tokenizers.of(view);
  if (typeof tokenizer !== 'string') {
    const prompt = tokenizer.decode(record.trajectory.promptTokens);
    const at = prompt.lastIndexOf(record.trajectory.problem.question);
    if (at > 0) return beforeQuestion(prompt.slice(0, at));
  }
  const prompt = view.info()?.recipe?.prompt;
  return prompt === undefined ? '' : systemText(prompt.mode, prompt.system);
}

/** Without the headers of the turns around it. */
function beforeQuestion(text: string): string {
  return text
    .replace(/<\|im_end\|>\s*<\|im_start\|>user\s*$/, '')
    .replace(/^\s*<\|im_start\|>system\s*/, '')
    .trim();
}
