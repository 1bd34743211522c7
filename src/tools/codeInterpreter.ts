/** The tool `code_interpreter`: a program goes in, what it printed comes out as text for the model. Does not isolate: see `sandbox/`. */
import { z } from 'zod';
import type { CodeResult, CodeRunner } from '../sandbox/codeRunner.js';
import { type Tool, type ToolOutcome, tool } from './tool.js';

export interface CodeInterpreterOptions {
  /** Wall-clock limit of a program. Default 30, as in the paper's released recipe. */
  readonly timeoutSeconds?: number;
  /** Memory limit of a program with all it starts. Default 2048, as there. */
  readonly memoryMb?: number;
  /** Print the value of a last expression, as a REPL does. Default true. */
  readonly echoLast?: boolean;
}

const parameters = z.strictObject({ code: z.string().describe('Python source code') });

/**
 * A tool with one argument, `code`. An uncaught exception, a non-zero exit, a time-out or a limit is an outcome `error` with what was
 * printed before it; only a failure of the sandbox is `infra`.
 */
export function codeInterpreter(runner: CodeRunner, options: CodeInterpreterOptions = {}): Tool<typeof parameters, undefined> {
  const { timeoutSeconds = 30, memoryMb = 2048, echoLast = true } = options;
  return tool({
    name: 'code_interpreter',
    description: 'Run Python code and return what it prints.',
    parameters,
    async execute({ code }, { signal }) {
      const result = await runner.run({ code: programOf(code), timeoutSeconds, memoryMb, echoLast }, signal);
      return outcomeOf(result, timeoutSeconds, memoryMb);
    },
  });
}

/**
 * The program in an argument: the last complete fenced block that is labelled `python` (or `py`, `python3`) or not labelled; without one,
 * the text as it is. A fence is a line that begins with three or more backticks or tildes; one of the same kind, at least as long, closes
 * it. Backticks inside the program's lines are no fence.
 */
export function programOf(text: string): string {
  let program: string | undefined;
  let open: { fence: string; ours: boolean; lines: string[] } | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, fence, label] = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== undefined) open = { fence, ours: /^(python3?|py)?$/i.test((label ?? '').trim()), lines: [] };
    } else if (fence !== undefined && label!.trim() === '' && fence[0] === open.fence[0] && fence.length >= open.fence.length) {
      if (open.ours) program = open.lines.join('\n');
      open = undefined;
    } else {
      open.lines.push(line);
    }
  }
  return program ?? text;
}

/** What the model reads. Without trouble it is stdout alone; stderr is labelled whenever there is any. */
export function outcomeOf(result: CodeResult, timeoutSeconds: number, memoryMb: number): ToolOutcome {
  if (result.kind === 'infra') return result;
  const parts = outputParts(result.stdout, result.stderr);
  switch (result.ending) {
    case 'timeout':
      parts.push(`The program was stopped: it ran longer than ${timeoutSeconds} s.`);
      break;
    case 'memoryLimit':
      parts.push(`The program was stopped: it used more than ${memoryMb} MB of memory.`);
      break;
    case 'outputLimit':
      parts.push('The program was stopped: it printed too much.');
      break;
    case 'finished':
      // A traceback says it already.
      if (result.exitCode !== 0 && result.stderr.trim() === '') parts.push(exitLine(result.exitCode));
  }
  const text = parts.length === 0 ? '(no output)' : parts.join('\n');
  return { kind: result.ending === 'finished' && result.exitCode === 0 ? 'ok' : 'error', text };
}

function outputParts(stdout: string, stderr: string): string[] {
  const out = withoutLastNewline(stdout);
  const error = withoutLastNewline(stderr);
  if (error === '') return out === '' ? [] : [out];
  return [...(out === '' ? [] : [`stdout:\n${out}`]), `stderr:\n${error}`];
}

const withoutLastNewline = (text: string): string => text.replace(/\r?\n$/, '');

function exitLine(exitCode: number): string {
  return exitCode > 128 ? `The program was ended by signal ${exitCode - 128}.` : `The program ended with exit status ${exitCode}.`;
}
