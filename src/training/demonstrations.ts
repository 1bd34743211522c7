/**
 * The demonstrations of an SFT stage as token sequences: from the scripted teacher, or from a JSON Lines file of conversations. Does not
 * train.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Demonstration } from '../domain/demonstration.js';
import type { Message } from '../domain/message.js';
import type { CalcProblem } from '../problems/calc.js';
import { loadProblems } from '../problems/load.js';
import { demonstrations as teach } from '../problems/teacher.js';
import { deriveSeed } from '../random.js';
import type { SftStage } from '../recipe/schema.js';
import type { Session } from '../session/session.js';
import { UserError } from '../userError.js';

const toolCallSchema = z.union([
  z.object({ name: z.string(), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]) }),
  z.object({ function: z.object({ name: z.string(), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]) }) }),
]);

const messageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string().nullish(),
  name: z.string().optional(),
  tool_calls: z.array(toolCallSchema).nullish(),
});

/** @throws UserError for a bad line, by file and line, or when nothing fits into `maxTokens` */
export async function buildDemonstrations(
  stage: SftStage,
  session: Session,
  seed: number,
  options: {
    readonly warn: (text: string) => void;
    readonly signal: AbortSignal;
    readonly onProgress?: (done: number, all: number) => void;
  },
): Promise<Demonstration[]> {
  const source = stage.demonstrations;
  const conversations = 'file' in source ? await readConversations(source.file) : await taught(source, session, seed, options);
  const system = session.rolloutSettings().system;
  const all = conversations.map(({ id, messages }): Demonstration => {
    const hasSystem = messages[0]?.role === 'system';
    const whole: Message[] = hasSystem || system === '' ? [...messages] : [{ role: 'system', content: system }, ...messages];
    return { id, ...session.format.demonstration(whole, session.toolbox.descriptions) };
  });
  const kept = all.filter(({ promptTokens, tokens }) => promptTokens.length + tokens.length <= stage.maxTokens);
  if (kept.length === 0) throw new UserError(`no demonstration fits into sft.maxTokens (${stage.maxTokens})`, 'Raise sft.maxTokens.');
  if (kept.length < all.length)
    options.warn(`${all.length - kept.length} of ${all.length} demonstrations are longer than ${stage.maxTokens} tokens and are left out`);
  return kept;
}

interface Conversation {
  readonly id: string;
  readonly messages: readonly Message[];
}

async function taught(
  source: Extract<SftStage['demonstrations'], { teacher: 'scripted' }>,
  session: Session,
  seed: number,
  options: { readonly signal: AbortSignal; readonly onProgress?: (done: number, all: number) => void },
): Promise<Conversation[]> {
  if (!session.runner)
    throw new UserError('the scripted teacher runs its programs in the sandbox', 'Add code_interpreter to the tools of the recipe.');
  const problems = (await loadProblems(source.problems, {
    split: 'train',
    seed: deriveSeed(seed, 'demonstrations'),
    count: source.count,
  })) as CalcProblem[];
  if (problems.some((problem) => !Array.isArray(problem.programs))) {
    throw new UserError('the scripted teacher knows calc problems only', 'Give sft.demonstrations.file for other problems.');
  }
  const found: Conversation[] = [];
  for await (const { id, messages } of teach({ problems, runner: session.runner, seed, faults: source.faults })) {
    options.signal.throwIfAborted();
    found.push({ id, messages });
    options.onProgress?.(found.length, source.count);
  }
  return found;
}

async function readConversations(file: string): Promise<Conversation[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UserError(`demonstrations ${file} cannot be read: ${error.code ?? error.message}`, 'Check sft.demonstrations.file.');
  });
  return text.split('\n').flatMap((line, i): Conversation[] => {
    if (line.trim() === '') return [];
    const at = `${file}:${i + 1}`;
    let row: unknown;
    try {
      row = JSON.parse(line);
    } catch (error) {
      throw new UserError(`${at}: not JSON: ${(error as Error).message}`);
    }
    const parsed = z.object({ id: z.union([z.string(), z.number()]).optional(), messages: z.array(messageSchema).min(1) }).safeParse(row);
    if (!parsed.success)
      throw new UserError(`${at}: ${z.prettifyError(parsed.error)}`, 'Each line is {"messages": [{"role", "content", ...}]}.');
    const messages = parsed.data.messages.map((message) => toMessage(message, at));
    if (!messages.some(({ role }) => role === 'assistant')) throw new UserError(`${at}: no assistant message`);
    return [{ id: String(parsed.data.id ?? at), messages }];
  });
}

function toMessage(row: z.output<typeof messageSchema>, at: string): Message {
  const content = row.content ?? '';
  if (row.role === 'tool') return { role: 'tool', content, ...(row.name !== undefined && { name: row.name }) };
  if (row.role !== 'assistant') return { role: row.role, content };
  const toolCalls = (row.tool_calls ?? []).map((call) => {
    const { name, arguments: given } = 'function' in call ? call.function : call;
    if (typeof given !== 'string') return { name, arguments: given };
    try {
      return { name, arguments: z.record(z.string(), z.unknown()).parse(JSON.parse(given)) };
    } catch {
      throw new UserError(`${at}: arguments of the call to ${name} are not a JSON object`);
    }
  });
  return { role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }) };
}
