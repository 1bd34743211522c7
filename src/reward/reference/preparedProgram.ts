/** Asks Python whether a program can be parsed, and for its form as `class Solution`. The program itself is never run. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CodeRunner } from '../../sandbox/codeRunner.js';

const SCRIPT = fileURLToPath(new URL('python/prepare.py', import.meta.url));
let script: string | undefined;

export interface PrepareRequest {
  readonly source: string;
  /** Made a method of `class Solution`. */
  readonly function?: string;
}

/**
 * Undefined where it cannot be parsed, or does not define the function.
 * @throws Error where the runner fails
 */
export async function preparedProgram(request: PrepareRequest, runner: CodeRunner, signal?: AbortSignal): Promise<string | undefined> {
  script ??= readFileSync(SCRIPT, 'utf8');
  const result = await runner.run({ code: script, stdin: JSON.stringify(request), timeoutSeconds: 30, memoryMb: 1024 }, signal);
  if (result.kind === 'infra') throw new Error(`the sandbox could not parse a program: ${result.error}`);
  // Python itself can give up on hostile sources: too deep, too large.
  if (result.ending !== 'finished' || result.exitCode !== 0) return undefined;
  const answer = JSON.parse(result.stdout) as { readonly parsed: boolean; readonly program?: string | null };
  return answer.parsed ? (answer.program ?? undefined) : undefined;
}
