/**
 * Tools that were written for Vercel's AI SDK, as tools of ours. Their input is mended and checked, their `execute` runs under our time limit,
 * their output becomes the text that the SDK would send. Does not depend on the SDK. Callbacks for streamed input are never called.
 */
import { UserError } from '../userError.js';
import { textOfOutput } from './aiOutput.js';
import { aiParameters } from './aiParameters.js';
import type { AiCallOptions, AiTool } from './aiTool.js';
import { type Tool, type ToolContext, type ToolLimits, type ToolOutcome, tool } from './tool.js';

export interface AiToolsOptions extends ToolLimits {
  /** Answers for tools that need approval; without it such a tool is refused. */
  readonly approve?: (call: { readonly name: string; readonly input: unknown }) => boolean | Promise<boolean>;
  /** `asSchema` of the package `ai`: for schemas that cannot say what they are as JSON Schema, such as zod 3's. */
  readonly asSchema?: (schema: never) => unknown;
}

/**
 * @param tools by name, as `generateText` takes them
 * @param options limits are those of each tool; for one alone: `{ ...tool, timeoutSeconds: 5 }`
 * @throws UserError by the tool's name: one without `execute`, one that needs approval, a schema that has no form as JSON Schema
 */
export async function aiTools(tools: Readonly<Record<string, AiTool>>, options: AiToolsOptions = {}): Promise<Tool[]> {
  return Promise.all(Object.entries(tools).map(([name, one]) => aiTool(name, one, options)));
}

async function aiTool(name: string, one: AiTool, { approve, asSchema, ...limits }: AiToolsOptions): Promise<Tool> {
  const { description = '', needsApproval } = one;
  if (one.execute === undefined) {
    throw new UserError(
      `tool "${name}" has no execute: ${one.type === 'provider' ? "its provider's server runs it" : 'nothing runs it'}`,
      'Give it an execute, or leave it out.',
    );
  }
  if (needsApproval !== undefined && needsApproval !== false && approve === undefined) {
    throw new UserError(
      `tool "${name}" needs approval, and nobody is asked during a run`,
      'Pass approve to aiTools, or leave the tool out.',
    );
  }
  const parameters = await aiParameters(name, one.inputSchema, asSchema);
  try {
    return tool({
      ...limits,
      name,
      description,
      parameters,
      source: 'AI SDK',
      execute: (input, context) => run(name, one, input, context, approve),
    });
  } catch (error) {
    throw new UserError((error as Error).message, 'Call it by another name.');
  }
}

async function run(
  name: string,
  one: AiTool,
  input: unknown,
  { problem, signal, callId, trajectoryId }: ToolContext,
  approve: AiToolsOptions['approve'],
): Promise<ToolOutcome> {
  const toolCallId = callId ?? trajectoryId;
  const messages = [{ role: 'user', content: problem.question }] as const;
  if (await needsApproval(one, input, { toolCallId, messages })) {
    if ((await approve?.({ name, input })) !== true) return { kind: 'error', text: 'Error: this call was not approved.' };
  }
  const options: AiCallOptions = { toolCallId, messages, abortSignal: signal };
  const output = await lastOf(one.execute!(input as never, options as never), signal);
  return textOfOutput(one.toModelOutput ? await one.toModelOutput({ toolCallId, input, output } as never) : plainOutput(output));
}

const plainOutput = (output: unknown): unknown =>
  typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output ?? null };

async function needsApproval({ needsApproval }: AiTool, input: unknown, options: object): Promise<boolean> {
  if (typeof needsApproval !== 'function') return needsApproval === true;
  return ((await needsApproval(input, options)) as unknown) === true;
}

/** Of a result that comes in parts, the last: the ones before are previews. */
async function lastOf(result: unknown, signal: AbortSignal): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const value of result as AsyncIterable<unknown>) {
    last = value;
    if (signal.aborted) break;
  }
  return last;
}
