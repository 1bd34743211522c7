/**
 * What the calls of planned traces are answered: results of programs that really ran in the sandbox, thousands at a time, and the loop's own
 * words for calls that cannot be read. The texts are those of training; it does not word anything itself.
 */
import { readFile } from 'node:fs/promises';
import { parseTurn } from '../chat/parseTurn.js';
import type { CallSegment, MalformedCallSegment } from '../domain/segment.js';
import type { CodeResult, CodeRunner } from '../sandbox/codeRunner.js';
import { Toolbox, ToolSession } from '../tools/callTool.js';
import { codeInterpreter, programOf } from '../tools/codeInterpreter.js';
import { type PlannedCall, type TracePlan, turnText } from './trace.js';

/** Programs of one run of the sandbox. */
const BATCH = 2000;

/** Replies to each plan's calls, in order. */
export async function replyTo(plans: readonly TracePlan[], runner: CodeRunner): Promise<string[][]> {
  const segments = plans.map((plan) => plan.calls.map(readCall));
  const codes = new Set(segments.flat().flatMap((segment) => (segment.kind === 'call' ? codeOf(segment) : [])));
  const results = await runPrograms([...codes], runner);
  const toolbox = new Toolbox([codeInterpreter(knownResults(results))]);
  const replies: string[][] = [];
  for (const [i, plan] of plans.entries()) {
    const session = new ToolSession(toolbox, {
      problem: plan.problem,
      trajectoryId: plan.problem.id,
      signal: new AbortController().signal,
      timeoutSeconds: 60,
      shorten: (text) => text,
    });
    const texts: string[] = [];
    for (const segment of segments[i]!) {
      if (segment.kind === 'malformedCall') {
        texts.push(session.refuse(segment).text);
        continue;
      }
      const outcome = await session.call(segment);
      if (outcome.kind === 'infra') throw new Error(outcome.error);
      texts.push(outcome.reply.text);
    }
    replies.push(texts);
  }
  return replies;
}

function readCall(call: PlannedCall): CallSegment | MalformedCallSegment {
  const segment = parseTurn(turnText(call)).find((s) => s.kind === 'call' || s.kind === 'malformedCall');
  if (segment === undefined) throw new Error(`a planned turn has no call: ${turnText(call)}`);
  return segment;
}

const codeOf = (segment: CallSegment): string[] => (typeof segment.arguments.code === 'string' ? [programOf(segment.arguments.code)] : []);

/** A runner that knows its programs' results already. */
function knownResults(results: ReadonlyMap<string, CodeResult>): CodeRunner {
  return {
    name: 'known results',
    async run({ code }) {
      return results.get(code) ?? { kind: 'infra', error: `this program has not been run: ${code}` };
    },
    async close() {},
  };
}

/** Runs each program as the code interpreter would, a last expression echoed, but many of them in one process. */
export async function runPrograms(codes: readonly string[], runner: CodeRunner): Promise<Map<string, CodeResult>> {
  const bulk = await readFile(new URL('./python/run_snippets.py', import.meta.url), 'utf8');
  const program = await readFile(new URL('../sandbox/python/program.py', import.meta.url), 'utf8');
  const results = new Map<string, CodeResult>();
  for (let start = 0; start < codes.length; start += BATCH) {
    const batch = codes.slice(start, start + BATCH);
    const stdin = JSON.stringify({ program, codes: batch });
    const ran = await runner.run({ code: bulk, stdin, timeoutSeconds: 120, memoryMb: 2048 });
    if (ran.kind === 'infra') throw new Error(`the sandbox failed: ${ran.error}`);
    if (ran.ending !== 'finished' || ran.exitCode !== 0)
      throw new Error(`a batch of programs ended by ${ran.ending}: ${ran.stderr.slice(-500)}`);
    const lines = ran.stdout.trimEnd().split('\n');
    if (lines.length !== batch.length) throw new Error(`${batch.length} programs were run and ${lines.length} answered`);
    batch.forEach((code, i) => {
      const [stdout, stderr, exitCode] = JSON.parse(lines[i]!) as [string, string, number];
      results.set(code, { kind: 'ran', ending: 'finished', exitCode, stdout, stderr, seconds: 0, queuedSeconds: 0 });
    });
  }
  return results;
}
