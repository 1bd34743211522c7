/** An agent that is a service of the user's own: asked by POST, it answers at once, or says 202 and posts its answer later. */
import { Agent as Dispatcher, fetch } from 'undici';
import { untilAborted } from '../tools/callTool.js';
import { type AgentService, readAnswer } from './agent.js';
import { type AgentEnd, type AgentTask, messageOf, taskJson } from './agentTask.js';

/** Characters of an error page that are told. */
const SHOWN = 300;

/** An agent may think for as long as its deadline allows. */
const patient = new Dispatcher({ headersTimeout: 0, bodyTimeout: 0, connections: null });

/** Never rejects. */
export async function askService({ url }: AgentService, task: AgentTask): Promise<AgentEnd> {
  const leave = new AbortController();
  const signal = AbortSignal.any([task.signal, leave.signal]);
  try {
    return await Promise.race([task.posted, ask(url, task, signal)]);
  } finally {
    leave.abort(new Error('the rollout has its answer'));
  }
}

async function ask(url: string, task: AgentTask, signal: AbortSignal): Promise<AgentEnd> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: taskJson(task, { baseUrl: task.baseUrl, apiKey: task.apiKey }),
      redirect: 'error',
      dispatcher: patient,
      signal,
    });
    const text = await response.text();
    if (response.status === 202) return await untilAborted(task.posted, signal);
    if (!response.ok) return { kind: 'failed', error: `${url} answered with status ${response.status}: ${text.slice(0, SHOWN)}` };
    const read = readAnswer(JSON.parse(text));
    return read.kind === 'answer'
      ? { kind: 'answered', answer: read.answer }
      : { kind: 'failed', error: `the JSON that ${url} answered ${read.problem}` };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { kind: 'failed', error: `${url} gave no answer: ${messageOf(cause)}` };
  }
}
