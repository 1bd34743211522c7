/** A tool that answers and does nothing: for effects that must not happen while a policy learns to call it. */
import type { z } from 'zod';
import type { Tool, ToolContext, ToolOutcome } from './tool.js';

type Answer<Args> = string | ((args: Args, context: ToolContext<undefined>) => string | ToolOutcome | Promise<string | ToolOutcome>);

/**
 * @param answer what the model reads in place of a result. Arguments are checked as ever; nothing of the tool itself runs, not even `setUp`.
 */
export function dryRun<Schema extends z.ZodType, State>(
  tool: Tool<Schema, State>,
  answer: Answer<z.output<Schema>>,
): Tool<Schema, undefined> {
  const { setUp: _, tearDown: __, execute: ___, ...rest } = tool;
  return {
    ...rest,
    execute: (args, context) => (typeof answer === 'string' ? answer : answer(args, context)),
    notes: [...(tool.notes ?? []), `tool ${tool.name}: dry run, its calls are answered and not executed`],
  };
}
