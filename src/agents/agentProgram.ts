/**
 * An agent that is a program: started for each rollout, in a process group of its own, which is ended whole. It runs with the rights of who
 * trains, not in the sandbox: it is their own program, not the model's.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { tail } from '../setup/command.js';
import { type AgentProgram, readAnswer } from './agent.js';
import { type AgentEnd, type AgentTask, messageOf, taskJson } from './agentTask.js';

/** Of what it prints. */
const MAX_OUTPUT = 2 ** 20;
const ERROR_LINES = 6;

/** Never rejects. Nothing of the program is left running when it resolves, but for what left its process group. */
export async function runProgram({ command, env, cwd }: AgentProgram, task: AgentTask): Promise<AgentEnd> {
  const [program, ...args] = command;
  let json: string;
  let child: ChildProcessWithoutNullStreams;
  try {
    json = taskJson(task);
    child = spawn(program!, args, {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env, OPENAI_BASE_URL: task.baseUrl, OPENAI_API_KEY: task.apiKey },
      ...(cwd !== undefined && { cwd }),
    });
  } catch (error) {
    return { kind: 'unusable', error: `${program} could not be started: ${messageOf(error)}` };
  }
  const output = { stdout: '', stderr: '', tooLong: false };
  const read = (name: 'stdout' | 'stderr', most: number): void => {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] = name === 'stderr' ? (output.stderr + text).slice(-most) : output.stdout + text;
      if (output.stdout.length <= most) return;
      output.tooLong = true;
      kill(child, 'SIGKILL');
    });
  };
  read('stdout', MAX_OUTPUT);
  read('stderr', 64 * 1024);
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${json}\n`);
  const exited = new Promise<AgentEnd>((resolve) => {
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ kind: 'unusable', error: `${program} could not be started: ${error.message}` });
    });
    child.on('exit', (code, signal) => {
      // What it printed last may still be on its way; what left children with open pipes is not waited for.
      const settle = (): void => resolve(endOf(code, signal, output));
      const timer = setTimeout(settle, 500);
      child.on('close', () => {
        clearTimeout(timer);
        settle();
      });
    });
  });
  let harder: NodeJS.Timeout | undefined;
  /** A moment to end by itself, then no more. */
  const endSoon = (): void => {
    harder ??= setTimeout(() => kill(child, 'SIGKILL'), task.graceMs);
  };
  const stop = (): void => {
    kill(child, 'SIGTERM');
    endSoon();
  };
  task.signal.addEventListener('abort', stop, { once: true });
  if (task.signal.aborted) stop();
  const end = await Promise.race([task.posted, exited]);
  try {
    if (child.pid === undefined) return end;
    endSoon();
    await exited;
    // The first to come stands, and both may have come.
    return await Promise.race([task.posted, Promise.resolve(end)]);
  } finally {
    clearTimeout(harder);
    task.signal.removeEventListener('abort', stop);
    kill(child, 'SIGKILL');
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
  }
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly tooLong: boolean;
}

/** What it printed is its answer: a JSON object of `answer` and `reward`, or the text as it is. */
function endOf(code: number | null, signal: string | null, { stdout, stderr, tooLong }: Output): AgentEnd {
  if (tooLong) return { kind: 'failed', error: `it printed more than ${MAX_OUTPUT} characters` };
  if (code !== 0) {
    const why = tail(stderr, ERROR_LINES);
    return { kind: 'failed', error: `it ended with ${code === null ? signal : `status ${code}`}${why === '' ? '' : `: ${why}`}` };
  }
  const text = stdout.trim();
  if (text === '') return { kind: 'failed', error: 'it ended without an answer: it printed nothing, and posted nothing' };
  const object = jsonObject(text);
  if (object === undefined) return { kind: 'answered', answer: { answer: text } };
  const read = readAnswer(object);
  return read.kind === 'answer'
    ? { kind: 'answered', answer: read.answer }
    : { kind: 'failed', error: `the JSON that it printed ${read.problem}` };
}

function jsonObject(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

/** The whole group; where it is gone nothing is done. */
function kill({ pid }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone.
  }
}
