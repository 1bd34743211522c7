/** The system message of a rollout: what its prompt's tokens say where the tokenizer is there, else what the recipe says. */
import { systemText } from '../../chat/prompts.js';
import type { Tokenizer } from '../../chat/tokenizer.js';
import type { TrajectoryRecord } from '../../domain/event.js';
import type { RunView } from './runView.js';
import type { Tokenizers } from './tokens.js';

export async function systemOf(view: RunView, { trajectory }: TrajectoryRecord, tokenizers: Tokenizers): Promise<string> {
  const tokenizer = await tokenizers.of(view);
  if (typeof tokenizer !== 'string') {
    const found = beforeQuestion(trajectory.promptTokens, trajectory.problem.question, tokenizer);
    if (found !== undefined) return found;
  }
  const prompt = view.info()?.recipe?.prompt;
  return prompt === undefined ? '' : systemText(prompt.mode, prompt.system);
}

/** Special tokens divide a prompt into headers, which say whose turn it is, and texts. Undefined where the question is not found in it. */
export function beforeQuestion(
  prompt: readonly number[],
  question: string,
  tokenizer: Pick<Tokenizer, 'decode' | 'isSpecial'>,
): string | undefined {
  const parts: string[] = [];
  let text: number[] = [];
  for (const id of [...prompt, undefined]) {
    if (id !== undefined && !tokenizer.isSpecial(id)) text.push(id);
    else {
      if (text.length > 0) parts.push(tokenizer.decode(text));
      text = [];
    }
  }
  const at = parts.findIndex((part) => part.includes(question.trim()));
  if (at === -1) return undefined;
  return parts
    .slice(0, at)
    .map((part) => part.replace(/^\s*system(\n|$)/, '').trim())
    .filter((part) => part !== '' && !/^(system|user|assistant)$/.test(part))
    .join('\n');
}
