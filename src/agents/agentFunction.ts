/** An agent that is a function: set up, called, torn down, in this process. It cannot be ended from outside, only asked to by its signal. */
import type { Problem } from '../domain/problem.js';
import { untilAborted } from '../tools/callTool.js';
import { type AgentFunction, readAnswer } from './agent.js';
import { type AgentEnd, type AgentTask, messageOf } from './agentTask.js';

/** Never rejects. A function that does not end within the task's grace after its signal is left to itself, and said so. */
export async function callFunction<P extends Problem, State>(definition: AgentFunction<P, State>, task: AgentTask<P>): Promise<AgentEnd> {
  const { problem, trajectoryId, groupId, signal, model, baseUrl, apiKey } = task;
  const about = { problem, trajectoryId, groupId, signal };
  const setUp = (async () => definition.setUp?.(about) as State)();
  let state: State;
  try {
    state = await untilAborted(setUp, signal);
  } catch (error) {
    // It may still come: then it is torn down at once.
    void setUp.then(
      (late) => tearDown(definition, late, task),
      () => undefined,
    );
    return { kind: 'failed', error: `it could not be set up: ${messageOf(error)}` };
  }
  const grace = afterGrace(task);
  try {
    const run = (async () => definition.run({ ...about, model, baseUrl, apiKey, state }))();
    return await Promise.race([task.posted, run.then(answered), grace.over]);
  } catch (error) {
    // What it posted came first.
    return await Promise.race([task.posted, Promise.resolve<AgentEnd>({ kind: 'failed', error: messageOf(error) })]);
  } finally {
    grace.cancel();
    await tearDown(definition, state, task);
  }
}

function answered(given: unknown): AgentEnd {
  const read = readAnswer(given);
  return read.kind === 'answer' ? { kind: 'answered', answer: read.answer } : { kind: 'failed', error: `what it returned ${read.problem}` };
}

async function tearDown<P extends Problem, State>(definition: AgentFunction<P, State>, state: State, task: AgentTask<P>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${task.graceMs / 1000} s`)), task.graceMs);
  });
  try {
    await Promise.race([(async () => definition.tearDown?.(state))(), late]);
  } catch (error) {
    task.onNotice(`the agent could not be torn down: ${messageOf(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

function afterGrace({ signal, graceMs, onNotice }: AgentTask): { readonly over: Promise<AgentEnd>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  let wait: () => void = () => undefined;
  const over = new Promise<AgentEnd>((resolve) => {
    wait = () => {
      timer = setTimeout(() => {
        onNotice(`the agent works on ${graceMs / 1000} s after its signal was aborted: it is no longer waited for`);
        resolve({ kind: 'failed', error: 'it did not end when its signal was aborted' });
      }, graceMs);
    };
    if (signal.aborted) wait();
    else signal.addEventListener('abort', wait, { once: true });
  });
  return {
    over,
    cancel: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wait);
    },
  };
}
