/**
 * The demonstrations of an SFT stage as token sequences: from the scripted teacher, from written or stitched solutions, or from the
 * conversations of a file. Does not train.
 */
import { asWritten } from '../data/conversations/asWritten.js';
import { readConversations } from '../data/conversations/readConversations.js';
import { agrees } from '../data/stitch/statedValue.js';
import { stitchSolution } from '../data/stitch/stitchSolution.js';
import type { Demonstration } from '../domain/demonstration.js';
import type { Message } from '../domain/message.js';
import { inOrder } from '../grading/inOrder.js';
import { makeThinkingTraces, makeTraces } from '../pretraining/makeNano.js';
import { TRACE_MIXES } from '../pretraining/trace.js';
import type { CalcProblem } from '../problems/calc.js';
import { loadProblems } from '../problems/load.js';
import { demonstrations as teach } from '../problems/teacher.js';
import { deriveSeed } from '../random.js';
import type { SftStage } from '../recipe/schema.js';
import type { Session } from '../session/session.js';
import { codeInterpreter } from '../tools/codeInterpreter.js';
import type { ToolDescription } from '../tools/jsonSchema.js';
import { UserError } from '../userError.js';
import { asTrained } from './sft.js';

const PROGRAMS_AT_ONCE = 4;

export interface BuildOptions {
  readonly warn: (text: string) => void;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

/**
 * The tools that a conversation names go into its prompt; where it names none, those of the session do.
 *
 * @throws UserError for a bad row, by file and row, or when nothing fits into `maxTokens` and the model's context
 */
export async function buildDemonstrations(
  stage: SftStage,
  session: Session,
  seed: number,
  options: BuildOptions,
): Promise<Demonstration[]> {
  const source = stage.demonstrations;
  const conversations = await conversationsOf(source, session, seed, options);
  const { system, contextTokens = Number.POSITIVE_INFINITY } = session.rolloutSettings();
  const all = conversations.map(({ id, where = id, messages, tools = session.toolbox.descriptions }): Demonstration => {
    const hasSystem = messages[0]?.role === 'system';
    const whole: Message[] = hasSystem || system === '' ? [...messages] : [{ role: 'system', content: system }, ...messages];
    try {
      return { id, ...session.format.demonstration(whole, tools) };
    } catch (error) {
      throw new UserError(`${where}: the chat template cannot lay out this conversation: ${(error as Error).message}`);
    }
  });
  const most = Math.min(stage.maxTokens, contextTokens);
  const limit = most < stage.maxTokens ? `${most} tokens, the model's context` : `${most} tokens`;
  const kept = all.filter(({ promptTokens, tokens }) => promptTokens.length + tokens.length <= most);
  if (kept.length === 0) {
    throw new UserError(
      `no demonstration fits into ${limit}`,
      most < stage.maxTokens ? 'Use a model with a longer context.' : 'Raise sft.maxTokens.',
    );
  }
  if (kept.length < all.length)
    options.warn(`${all.length - kept.length} of ${all.length} demonstrations are longer than ${limit}, and are left out`);
  return stage.mask === undefined ? kept : withTrained(kept, stage, options);
}

/** Those in which the stage's own mask leaves something to be trained: the reference's takes a turn of one token away. */
function withTrained(all: readonly Demonstration[], stage: SftStage, { warn }: BuildOptions): Demonstration[] {
  const trained = all.filter((demonstration) => asTrained(demonstration, stage).mask.includes(1));
  if (trained.length === 0) throw new UserError('sft.mask leaves no token of any demonstration to be trained', 'Leave it out.');
  if (trained.length < all.length)
    warn(`${all.length - trained.length} demonstrations have no token that sft.mask trains, and are left out`);
  return trained;
}

interface Conversation {
  readonly id: string;
  /** In a file; absent for what the teacher wrote. */
  readonly where?: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolDescription[];
}

async function conversationsOf(
  source: SftStage['demonstrations'],
  session: Session,
  seed: number,
  options: BuildOptions,
): Promise<Conversation[]> {
  if ('file' in source) return fromFile(source.file, options);
  switch (source.teacher) {
    case 'traces':
      return traced(source, session, seed);
    case 'scripted':
      return taught(source, session, seed, options);
    case 'stitched':
      return stitched(source, session, seed, options);
    case 'written':
      return written(source, seed);
  }
}

/** Conversations of mixed quality, most of them wrong: not to learn from, but to make a start that has something to learn. */
async function traced(
  { mix, count }: Extract<SftStage['demonstrations'], { teacher: 'traces' }>,
  session: Session,
  seed: number,
): Promise<Conversation[]> {
  if (!session.runner) throw new UserError('traces run their programs in the sandbox', 'Add code_interpreter to the tools of the recipe.');
  const settings = { seed: deriveSeed(seed, 'traces'), traces: count };
  const traces = await (mix === 'thinking'
    ? makeThinkingTraces(settings, session.runner)
    : makeTraces(settings, session.runner, TRACE_MIXES[mix]));
  return traces.map(({ problem, turns }, i) => ({
    id: `trace ${i}`,
    messages: [
      { role: 'user', content: problem.question },
      ...turns.flatMap(({ text, reply }): Message[] => [
        { role: 'assistant', content: text },
        ...(reply === undefined ? [] : [{ role: 'tool', content: reply } as const]),
      ]),
    ],
  }));
}

async function taught(
  source: Extract<SftStage['demonstrations'], { teacher: 'scripted' }>,
  session: Session,
  seed: number,
  options: BuildOptions,
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
  const { faults, analysis } = source;
  const teacher = teach({ problems, runner: session.runner, seed, faults, ...(analysis !== undefined && { analysis }) });
  for await (const { id, messages } of teacher) {
    options.signal.throwIfAborted();
    found.push({ id, messages });
    options.onProgress?.(found.length, source.count);
  }
  return found;
}

type Solved = Extract<SftStage['demonstrations'], { teacher: 'stitched' | 'written' }>;

/** Problems with a written solution in plain text, whose last line says the answer. */
async function solvedProblems({ problems, count }: Solved, seed: number): Promise<CalcProblem[]> {
  const loaded = (await loadProblems(problems, { split: 'train', seed: deriveSeed(seed, 'demonstrations'), count })) as CalcProblem[];
  const solved = loaded.filter(({ solution }) => typeof solution === 'string');
  if (solved.length > 0) return solved;
  throw new UserError('these problems have no written solutions', 'Take calc problems, or give sft.demonstrations.file.');
}

/** Written solutions as they are: long thinking, and not one call. */
async function written(source: Solved, seed: number): Promise<Conversation[]> {
  return (await solvedProblems(source, seed)).map(({ id, question, solution, answer }) => ({
    id,
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: solution.replace(/\S+\.$/, `\\boxed{${answer}}.`) },
    ],
  }));
}

/** Written solutions with a call in the place of each calculation; those in which a call does not give the stated value are left out. */
async function stitched(source: Solved, { runner }: Session, seed: number, { signal, onProgress }: BuildOptions): Promise<Conversation[]> {
  if (!runner) throw new UserError('stitched calls run in the sandbox', 'Add code_interpreter to the tools of the recipe.');
  const tool = codeInterpreter(runner);
  const stitch = async (problem: CalcProblem): Promise<Conversation | undefined> => {
    signal.throwIfAborted();
    const execute = async (code: string): Promise<{ ok: boolean; text: string }> => {
      const outcome = await tool.execute({ code }, { problem, trajectoryId: `stitch:${problem.id}`, state: undefined, signal });
      if (typeof outcome === 'string') return { ok: true, text: outcome };
      if (outcome.kind === 'infra') throw new Error(`the sandbox failed: ${outcome.error}`);
      return { ok: outcome.kind === 'ok', text: outcome.text };
    };
    const outcome = await stitchSolution(problem, problem.solution, { calls: 'each', execute });
    const whole = outcome.kind === 'stitched' && outcome.checks.every(({ agreement }) => agreement !== 'error' && agrees(agreement));
    return whole ? { id: problem.id, messages: outcome.messages } : undefined;
  };
  const found: Conversation[] = [];
  for await (const conversation of inOrder(await solvedProblems(source, seed), PROGRAMS_AT_ONCE, stitch)) {
    if (conversation) found.push(conversation);
    onProgress?.(found.length, source.count);
  }
  return found;
}

async function fromFile(file: string, { signal, onProgress }: BuildOptions): Promise<Conversation[]> {
  const found: Conversation[] = [];
  for await (const { id, conversation, row } of readConversations(file, { signal })) {
    const { messages, tools } = conversation;
    if (!messages.some(({ role }) => role === 'assistant')) throw new UserError(`${row.where}: no assistant message`);
    found.push({ id, where: row.where, messages: messages.map(asWritten), ...(tools && { tools }) });
    if (found.length % 100 === 0) onProgress?.(found.length, found.length);
  }
  if (found.length === 0) throw new UserError(`${file} has no conversations`, 'Check sft.demonstrations.file.');
  return found;
}
