/** The tools that a recipe names, and the sandbox under them. Whoever opens them closes the sandbox. */
import { availableParallelism } from 'node:os';
import type { Recipe } from '../recipe/schema.js';
import { type OpenedRunner, openCodeRunner } from '../sandbox/open.js';
import { type AnyTool, Toolbox } from '../tools/callTool.js';
import { codeInterpreter } from '../tools/codeInterpreter.js';
import { UserError } from '../userError.js';

const CODE_INTERPRETER = 'code_interpreter';

export interface OpenTools {
  readonly toolbox: Toolbox;
  /** Absent where no tool runs programs. */
  readonly runner: OpenedRunner | undefined;
}

/** Programs that run at once: `auto` is one a core, at most eight; a policy's programs are short. */
const workersOf = ({ sandbox }: Recipe): number =>
  sandbox.workers === 'auto' ? Math.min(8, Math.max(1, availableParallelism())) : sandbox.workers;

/** @param options.tools tools of the user's own. @throws UserError for a tool that nobody has, or a sandbox that does not open */
export async function openTools(options: {
  readonly recipe: Recipe;
  readonly tools: readonly AnyTool[];
  readonly log: (line: string) => void;
  readonly warn: (line: string) => void;
}): Promise<OpenTools> {
  const { recipe, tools: own, log, warn } = options;
  const unknown = recipe.tools.filter((name) => name !== CODE_INTERPRETER && !own.some((tool) => tool.name === name));
  if (unknown.length > 0) {
    throw new UserError(
      `unknown tool ${unknown.join(', ')} in the recipe`,
      `Known: ${[CODE_INTERPRETER, ...own.map((tool) => tool.name)].join(', ')}.`,
    );
  }
  const needsSandbox = recipe.tools.includes(CODE_INTERPRETER);
  const runner = needsSandbox ? await openCodeRunner({ kind: recipe.sandbox.kind, workers: workersOf(recipe) }) : undefined;
  try {
    for (const note of runner?.notes ?? []) log(`sandbox: ${note}`);
    if (recipe.sandbox.kind === 'none' && runner) warn("sandbox: none. The model's code runs with your rights on this machine.");
    const { timeoutSeconds, memoryMb } = recipe.sandbox;
    const builtIn = runner ? [codeInterpreter(runner, { timeoutSeconds, memoryMb })] : [];
    return { toolbox: new Toolbox([...builtIn, ...own]), runner };
  } catch (error) {
    await runner?.close();
    throw error;
  }
}
