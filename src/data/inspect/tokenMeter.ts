/** Lengths in tokens of a real tokenizer, laid out as training and sampling do: chat template, system text and tools of a recipe. */
import { ChatFormat } from '../../chat/chatFormat.js';
import { systemText } from '../../chat/prompts.js';
import type { Message } from '../../domain/message.js';
import type { Problem } from '../../domain/problem.js';
import { loadRecipe } from '../../recipe/load.js';
import { promptOf } from '../../rollout/episode.js';
import { resolveModel } from '../../setup/weights.js';
import { Toolbox } from '../../tools/callTool.js';
import { codeInterpreter } from '../../tools/codeInterpreter.js';
import { asWritten } from '../conversations/asWritten.js';
import type { Conversation } from '../conversations/conversation.js';

export interface TokenMeter {
  /** Of a problem's prompt, with the system text and the tools. */
  prompt(problem: Problem): number;
  /** Of a conversation: up to the assistant's first message, the whole, and what is trained on. @throws UserError where the template cannot lay it out */
  conversation(conversation: Conversation): { readonly prompt: number; readonly whole: number; readonly trained: number };
}

/** A code interpreter as a model is told of it; nothing is run. */
const INTERPRETER = codeInterpreter({
  name: 'none',
  run: () => Promise.reject(new Error('no program is run')),
  close: () => Promise.resolve(),
});

/** @throws UserError where there is no such model or recipe, or the model has no usable tokenizer or chat template */
export async function openTokenMeter(model: string, recipeName: string, log: (line: string) => void): Promise<TokenMeter> {
  const { recipe } = await loadRecipe(recipeName);
  const { folder } = await resolveModel(model, { log });
  const format = await ChatFormat.load(folder, { tools: recipe.prompt.tools });
  const toolbox = new Toolbox(recipe.tools.includes('code_interpreter') ? [INTERPRETER] : []);
  const system = systemText(recipe.prompt.mode, recipe.prompt.system);
  return {
    prompt: (problem) => promptOf(problem, { format, tools: toolbox, system }).length,
    conversation({ messages, tools = toolbox.descriptions }) {
      const written = messages.map(asWritten);
      const whole: Message[] = written[0]?.role === 'system' || system === '' ? written : [{ role: 'system', content: system }, ...written];
      if (!whole.some(({ role }) => role === 'assistant')) {
        const { length } = format.prompt(whole, tools);
        return { prompt: length, whole: length, trained: 0 };
      }
      const { promptTokens, tokens, mask } = format.demonstration(whole, tools);
      let trained = 0;
      for (const bit of mask) trained += bit;
      return { prompt: promptTokens.length, whole: promptTokens.length + tokens.length, trained };
    },
  };
}
