import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { openCodeRunner } from '../sandbox/open.js';
import { calcProblems } from './calc.js';
import { demonstrations, type TaughtConversation, type TeacherOptions } from './teacher.js';

const problems = calcProblems({ size: 'standard', split: 'train', seed: 2, count: 56 });

async function all(options: Omit<TeacherOptions, 'problems'>): Promise<TaughtConversation[]> {
  const taught: TaughtConversation[] = [];
  for await (const conversation of demonstrations({ problems, ...options })) taught.push(conversation);
  return taught;
}

/** Answers every program with the same text. */
const always = (result: { stdout: string } | { infra: string }): CodeRunner => ({
  name: 'always',
  async run() {
    if ('infra' in result) return { kind: 'infra', error: result.infra };
    return { kind: 'ran', ending: 'finished', exitCode: 0, stdout: result.stdout, stderr: '', seconds: 0, queuedSeconds: 0 };
  },
  async close() {},
});

describe('the scripted teacher', () => {
  let runner: CodeRunner;
  beforeAll(async () => {
    runner = await openCodeRunner({ kind: 'auto', workers: 2 });
  });
  afterAll(() => runner.close());

  it('solves every problem, and ends with the right answer that its last program printed', async () => {
    const taught = await all({ runner, seed: 1, faults: 0.6 });
    expect(taught.map(({ id }) => id)).toEqual(problems.map(({ id }) => id));
    for (const { problem, messages } of taught) {
      expect(messages[0]).toEqual({ role: 'user', content: problem.question });
      expect(messages.at(-2)!.content).toBe(problem.answer);
      expect(messages.at(-1)!.content).toContain(`\\boxed{${problem.answer}}`);
      expect(messages.length % 2).toBe(0);
    }
    expect(new Set(taught.map(({ variant }) => variant))).toEqual(new Set(['straight', 'forgottenPrint', 'error', 'check']));
  });

  it('shows what the tool says: nothing printed, a traceback, a second result', async () => {
    const taught = await all({ runner, seed: 1, faults: 1 });
    const firstResults = (variant: string): string[] =>
      taught.filter((conversation) => conversation.variant === variant).map(({ messages }) => messages[2]!.content);
    expect(new Set(firstResults('forgottenPrint'))).toEqual(new Set(['(no output)']));
    expect(firstResults('error').every((text) => /^stderr:\n[\s\S]*(SyntaxError|NameError)/.test(text))).toBe(true);
    for (const { problem, messages } of taught.filter(({ variant }) => variant === 'check')) {
      expect(messages[2]!.content).toBe(problem.answer);
      const codes = messages
        .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
        .map((call) => call.arguments.code);
      expect(codes).toHaveLength(2);
      expect(problem.programs.length === 1 || codes[0] !== codes[1]).toBe(true);
    }
  });

  it('analyses before every call or before none where that is asked for', async () => {
    const analysed = async (analysis: number): Promise<Set<boolean>> => {
      const taught = await all({ runner, seed: 1, faults: 0, analysis });
      return new Set(taught.map(({ messages }) => messages[1]!.content !== ''));
    };
    expect(await analysed(1)).toEqual(new Set([true]));
    expect(await analysed(0)).toEqual(new Set([false]));
  });

  it('analyses most problems before the call, and makes about the asked share of faults', async () => {
    const straight = await all({ runner, seed: 3, faults: 0 });
    expect(straight.every(({ variant, messages }) => variant === 'straight' && messages.length === 4)).toBe(true);
    const analysed = straight.filter(({ problem, messages }) => problem.explanation.includes(messages[1]!.content)).length;
    expect(analysed / straight.length).toBeGreaterThan(0.7);
    expect(analysed).toBeLessThan(straight.length);
  });

  it('repeats with its seed, whatever the concurrency', async () => {
    const one = await all({ runner, seed: 5, concurrency: 1 });
    expect(await all({ runner, seed: 5, concurrency: 7 })).toEqual(one);
    expect(await all({ runner, seed: 6 })).not.toEqual(one);
  });

  it('keeps nothing that did not come out right', async () => {
    expect(await all({ runner: always({ stdout: 'nonsense\n' }), seed: 1 })).toEqual([]);
  });

  it('does not take a broken sandbox for an answer', async () => {
    await expect(all({ runner: always({ infra: 'no workers' }), seed: 1 })).rejects.toThrow(/no workers/);
  });
});
