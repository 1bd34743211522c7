import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { missingForEndToEnd } from '../../test/support.js';
import { makeTinyModel } from '../../test/tinyModel.js';
import type { Problem } from '../domain/problem.js';
import { type Asked, completion, models, openAiTestServer, type ScriptedAnswer, type TestServer } from '../engine/testSupport.js';
import { packagedRecipe } from '../recipe/load.js';
import { temporaryFolder } from '../tables/testSupport.js';
import { tool } from '../tools/tool.js';
import { type GradedRollout, type PolicyOptions, withPolicy } from './policy.js';

const folder = temporaryFolder();
const open: TestServer[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const add = tool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b),
});
const RECIPE = { ...packagedRecipe('demo'), tools: ['add'] };
const PROBLEMS: Problem[] = [1, 2, 3].map((n) => ({ id: `p${n}`, question: `What is ${n} + 1?`, answer: String(n + 1) }));
const SAMPLING = { temperature: 1, topP: 1, seed: 5 };

async function at(answer: (asked: Asked) => ScriptedAnswer, more: Partial<PolicyOptions> = {}): Promise<PolicyOptions & TestServer> {
  const server = await openAiTestServer((asked) => (asked.path.endsWith('/models') ? models('m') : answer(asked)));
  open.push(server);
  const options = { model: `openai:${server.url}`, recipe: RECIPE, tools: [add], folder: folder.path, log: () => undefined, ...more };
  return { ...server, ...options, signal: new AbortController().signal };
}

/** Calls the tool, then gives what it said. */
const teacher = ({ body }: Asked): ScriptedAnswer => {
  const last = body.messages.at(-1);
  const n = Number(/(\d+) \+/.exec(body.messages.at(-1).content)?.[1]);
  return last.role === 'tool'
    ? completion({ content: `It is \\boxed{${last.content}}.` })
    : completion({ content: 'I add.', tool_calls: [{ id: 'c', function: { name: 'add', arguments: JSON.stringify({ a: n, b: 1 }) } }] });
};

describe('a policy at an endpoint', () => {
  it('runs the agent loop with our tools and hands over each rollout and each group, graded', async () => {
    const options = await at(teacher);
    const groups = new Map<string, readonly GradedRollout[]>();
    const single: string[] = [];
    let progress = 0;
    await withPolicy(options, async (policy) => {
      expect(policy).toMatchObject({ name: `openai:${options.url}#m`, fingerprint: `openai:${options.url}#m`, promptLimit: undefined });
      expect(policy.promptTokens(PROBLEMS[0]!)).toBeUndefined();
      expect(policy.tools.map(({ name }) => name)).toEqual(['add']);
      await policy.sample(PROBLEMS, {
        ...SAMPLING,
        samples: 2,
        onRollout: ({ verdict }, problem, sample) => void single.push(`${problem.id}/${sample} ${verdict.kind}`),
        onGroup: (graded, problem) => void groups.set(problem.id, graded),
        onProgress: (done, all) => {
          expect(all).toBe(6);
          progress = done;
        },
      });
    });
    expect(progress).toBe(6);
    expect(single.sort()).toEqual(PROBLEMS.flatMap(({ id }) => [0, 1].map((sample) => `${id}/${sample} graded`)));
    expect([...groups.keys()].sort()).toEqual(['p1', 'p2', 'p3']);
    const [first] = groups.get('p2')!;
    expect(first!.verdict).toMatchObject({ kind: 'graded', correct: true, extracted: '3' });
    expect(first!.rollout).toMatchObject({
      kind: 'finished',
      trajectory: { finalText: 'It is \\boxed{3}.', stopReason: { kind: 'answered' } },
    });
  });

  it('gives a sample the same random numbers whatever else is sampled, and none to those that are there', async () => {
    const options = await at(teacher);
    const seeds = async (problems: readonly Problem[], skip: (problem: Problem, sample: number) => boolean) => {
      const from = options.asked.length;
      await withPolicy(options, (policy) => policy.sample(problems, { ...SAMPLING, samples: 2, skip }));
      const first = options.asked.slice(from).filter(({ body }) => body?.seed !== undefined && body.messages.at(-1).role === 'user');
      return first.map(({ body }) => `${body.messages.at(-1).content} ${body.seed}`).sort();
    };
    const all = await seeds(PROBLEMS, () => false);
    expect(new Set(all).size).toBe(6);
    const rest = await seeds(PROBLEMS, ({ id }, sample) => id === 'p1' || sample === 0);
    expect(rest).toHaveLength(2);
    expect(all).toEqual(expect.arrayContaining(rest));
    expect(await seeds([PROBLEMS[2]!], () => false)).toEqual(all.filter((line) => line.includes('3 + 1')));
  });

  it('calls a lost rollout lost, never wrong, and a grader that breaks likewise', async () => {
    const options = await at(({ body }) =>
      body.max_tokens > 1 && body.messages.at(-1).content.includes('1 + 1') ? { body: 'no JSON' } : completion({ content: '\\boxed{9}' }),
    );
    const verdicts = new Map<string, string>();
    const grader = async ({ problem }: { problem: Problem }) => {
      if (problem.id === 'p2') throw new Error('grader broke');
      return { kind: 'graded', correct: false, score: 0, reason: 'mismatch' } as const;
    };
    await withPolicy({ ...options, grader }, (policy) =>
      policy.sample(PROBLEMS, {
        ...SAMPLING,
        samples: 1,
        onGroup: ([graded], { id }) =>
          void verdicts.set(id, graded!.verdict.kind === 'infra' ? `infra: ${graded!.verdict.error}` : graded!.verdict.reason),
      }),
    );
    expect(verdicts.get('p1')).toMatch(/^infra: .*no chat completion/);
    expect(verdicts.get('p2')).toMatch(/^infra: Error: grader broke/);
    expect(verdicts.get('p3')).toBe('mismatch');
  });

  it('ends with the reason of a refusal, and after what the caller threw', async () => {
    const refusing = await at(({ body }) =>
      body.max_tokens > 1 ? { status: 402, body: { error: 'no credit' } } : completion({ content: 'x' }),
    );
    await expect(withPolicy(refusing, (policy) => policy.sample(PROBLEMS, { ...SAMPLING, samples: 1 }))).rejects.toThrow(
      /HTTP 402: no credit/,
    );
    const full = await at(teacher);
    const onRollout = async (): Promise<void> => Promise.reject(new Error('disk full'));
    await expect(withPolicy(full, (policy) => policy.sample(PROBLEMS, { ...SAMPLING, samples: 2, onRollout }))).rejects.toThrow(
      'disk full',
    );
  });
});

const missing = await missingForEndToEnd('nano');
describe.skipIf(missing !== undefined)(`a policy of the embedded engine${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('measures prompts, samples what fits and repeats itself in lockstep', { timeout: 120_000 }, async () => {
    const model = makeTinyModel(join(folder.path, 'tiny'));
    const set = ['engine.deterministic=true', 'engine.threads=1', 'limits.turnTokens=12', 'limits.responseTokens=60'];
    const options = { model, recipe: 'nano', set, folder: join(folder.path, 'policy'), log: () => undefined };
    const texts: string[][] = [];
    await withPolicy({ ...options, signal: new AbortController().signal }, async (policy) => {
      expect(policy.fingerprint).toMatch(/^[0-9a-f]{64}$/);
      expect(policy.promptTokens(PROBLEMS[0]!)).toBeGreaterThan(5);
      expect(policy.settings).toMatchObject({ limits: { turnTokens: 12 } });
      const long = { id: 'long', question: 'x '.repeat(20_000), answer: '1' };
      await expect(policy.sample([long], { ...SAMPLING, samples: 1 })).rejects.toThrow(/The prompt of problem "long" has \d+ tokens/);
      for (let repeat = 0; repeat < 2; repeat++) {
        const own: string[] = [];
        await policy.sample(PROBLEMS, {
          ...SAMPLING,
          samples: 2,
          onRollout: ({ rollout }, { id }, sample) =>
            void own.push(`${id}/${sample} ${rollout.kind === 'finished' ? rollout.trajectory.tokens.join(' ') : rollout.error}`),
        });
        texts.push(own.sort());
      }
    });
    expect(texts[0]).toHaveLength(6);
    expect(new Set(texts[0]!.map((text) => text.split(' ').slice(1).join(' '))).size).toBeGreaterThan(1);
    expect(texts[1]).toEqual(texts[0]);
  });
});
