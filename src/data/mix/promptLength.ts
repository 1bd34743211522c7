/** How many tokens a question's prompt has, as training renders it: system text, tools and chat template included. Starts no engine. */
import { ChatFormat } from '../../chat/chatFormat.js';
import { systemText } from '../../chat/prompts.js';
import type { Problem } from '../../domain/problem.js';
import { loadRecipe } from '../../recipe/load.js';
import { promptOf } from '../../rollout/episode.js';
import type { CodeRunner } from '../../sandbox/codeRunner.js';
import { resolveModel } from '../../setup/weights.js';
import { Toolbox } from '../../tools/callTool.js';
import { codeInterpreter } from '../../tools/codeInterpreter.js';
import type { MixPlan } from './plan.js';

export interface PromptLength {
  readonly maxTokens: number;
  /** For the card: model, recipe, tools. */
  readonly detail: string;
  /** Tokens of a prompt that is too long; undefined where it fits. */
  tooLong(problem: Problem): number | undefined;
}

/** Only describes itself: nothing is run here. */
const NO_RUNNER: CodeRunner = {
  name: 'none',
  run: () => Promise.reject(new Error('no program is run')),
  close: () => Promise.resolve(),
};

/** @throws UserError where the model or the recipe is not there */
export async function openPromptLength(
  { tokenizer, maxTokens, recipe: name }: NonNullable<MixPlan['prompt']>,
  log: (line: string) => void,
): Promise<PromptLength> {
  const { recipe } = await loadRecipe(name);
  const { folder } = await resolveModel(tokenizer, { log });
  const format = await ChatFormat.load(folder, { tools: recipe.prompt.tools });
  const tools = new Toolbox(recipe.tools.includes('code_interpreter') ? [codeInterpreter(NO_RUNNER)] : []);
  const system = systemText(recipe.prompt.mode, recipe.prompt.system);
  const lengthOf = (problem: Problem): number => promptOf(problem, { format, tools, system }).length;
  const around = lengthOf({ id: 'empty', question: '' });
  return {
    maxTokens,
    detail: `at most ${maxTokens} tokens of ${tokenizer}, with the prompt and tools of ${name}`,
    tooLong(problem) {
      // A token stands for at least one byte: short questions need no tokenizer.
      if (around + SEAMS + Buffer.byteLength(problem.question) <= maxTokens) return undefined;
      const length = lengthOf(problem);
      return length > maxTokens ? length : undefined;
    },
  };
}

/** Tokens by which the question's two ends may change its surroundings. */
const SEAMS = 16;
