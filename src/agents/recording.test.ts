/** What a rollout of an agent keeps: lines of tokens, sampling, seeds, limits, failures of the engine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { generateText } from 'ai';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../domain/problem.js';
import { branchesOf, checkTrajectory, type Trajectory } from '../domain/trajectory.js';
import { EngineError } from '../engine/engineError.js';
import { toDatum } from '../training/datum.js';
import { type AgentContext, agent } from './agent.js';
import { callText, finished, inputOf, nanoFormat, rolloutOf, scripted, settingsOf, withHost } from './testSupport.js';

const format = await nanoFormat();
const echo = () => scripted(format, (asked) => `${asked.length}`);
const LIMITS = { turnTokens: 64, responseTokens: 400, toolTokens: 48 };

type Asked = readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
const ask = async ({ model }: Pick<AgentContext, 'model'>, messages: Asked, more: object = {}): Promise<string> =>
  (await generateText({ model, messages: [...messages], maxRetries: 0, ...more })).text;
const user = (content: string) => ({ role: 'user', content }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;

/** Every answer of the sampler stands once, as it was sampled, after the prompt it was sampled from. */
function expectAllOnce(trajectory: Trajectory, requests: ReturnType<typeof echo>['requests']): void {
  checkTrajectory(trajectory);
  const sampled = branchesOf(trajectory).flatMap(({ promptTokens, tokens, mask }) =>
    mask.flatMap((bit, i) => (bit === 1 && mask[i - 1] !== 1 ? [[...promptTokens, ...tokens.slice(0, i)].join(' ')] : [])),
  );
  expect(sampled.sort()).toEqual(requests.map(({ prompt }) => prompt.join(' ')).sort());
  for (const branch of branchesOf(trajectory)) expect(() => toDatum(branch)).not.toThrow();
}

describe('the calls of one rollout', () => {
  it('are one line as long as each goes on from the last', async () => {
    const sampler = echo();
    const made = agent(async (context) => {
      const first = await ask(context, [user('one')]);
      const second = await ask(context, [user('one'), assistant(first), user('two')]);
      return ask(context, [user('one'), assistant(first), user('two'), assistant(second), user('three')]);
    });
    const trajectory = finished(await rolloutOf(made, { format, sampler, limits: LIMITS }));
    expect(trajectory.branches).toBeUndefined();
    expect(trajectory.turns).toHaveLength(3);
    expectAllOnce(trajectory, sampler.requests);
  });

  it('begin a line where they go on from nothing, from an answer that was changed, or from one that another went on from', async () => {
    const sampler = echo();
    const made = agent(async (context) => {
      const first = await ask(context, [user('one')]);
      await ask(context, [user('one'), assistant(first), user('two')]);
      await ask(context, [user('one'), assistant(first), user('instead')]);
      await ask(context, [user('one'), assistant(`not ${first}`), user('two')]);
      return ask(context, [user('summary')]);
    });
    const trajectory = finished(await rolloutOf(made, { format, sampler, limits: LIMITS }));
    expect(branchesOf(trajectory).map(({ turns }) => turns.length)).toEqual([2, 1, 1, 1]);
    expectAllOnce(trajectory, sampler.requests);
  });

  it('are lines of their own where they come at once, and none is lost', async () => {
    const sampler = scripted(format, async (asked) => {
      await sleep(asked.includes('slow') ? 20 : 1);
      return 'yes';
    });
    const made = agent(async (context) => {
      const answers = await Promise.all(['slow', 'b', 'c'].map((text) => ask(context, [user(text)])));
      return answers.join(' ');
    });
    const trajectory = finished(await rolloutOf(made, { format, sampler, limits: LIMITS }));
    expect(trajectory.finalText).toBe('yes yes yes');
    expect(branchesOf(trajectory)).toHaveLength(3);
    expectAllOnce(trajectory, sampler.requests);
  });

  it('may want several answers: the first goes on, the others fork', async () => {
    const sampler = scripted(format, (_, { seed }) => `${seed}`);
    const made = agent(async ({ baseUrl, apiKey }) => {
      const response = await fetch(`${baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', n: 3, messages: [user('one')] }),
      });
      return JSON.stringify(((await response.json()) as { choices: unknown[] }).choices.length);
    });
    const trajectory = finished(await rolloutOf(made, { format, sampler, limits: LIMITS }));
    expect(trajectory.finalText).toBe('3');
    expect(branchesOf(trajectory).map(({ promptTokens }) => promptTokens)).toEqual(sampler.requests.map(({ prompt }) => prompt));
    expect(new Set(sampler.requests.map(({ seed }) => seed)).size).toBe(3);
  });
});

describe('sampling', () => {
  it("is the recipe's, whatever the agent asks for, and said once", async () => {
    const sampler = echo();
    const made = agent((context) => ask(context, [user('one')], { temperature: 0, topP: 0.5, seed: 4 }));
    const warnings = await withHost(made, async (host, told) => {
      const on = host.on(settingsOf({ format, sampler, limits: LIMITS, sampling: { temperature: 0.8, topP: 1 } }));
      await on.run(inputOf());
      await on.run(inputOf({ sampling: { temperature: 0.6, topP: 0.9, topK: 5 } }));
      await on.run(inputOf());
      return told;
    });
    expect(sampler.requests.map(({ temperature, topP, topK }) => [temperature, topP, topK])).toEqual([
      [0.8, 1, undefined],
      [0.6, 0.9, 5],
      [0.8, 1, undefined],
    ]);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toBe(
      'the agent asks for temperature 0, top-p 0.5; its model is sampled as the recipe says: temperature 0.8, top-p 1',
    );
    expect(sampler.requests[0]!.seed).toBe(inputOf().seed(0, 0));
  });

  it('has a seed of its own for each answer, and the next attempt’s after a failure', async () => {
    let failures = 2;
    const sampler = scripted(format, () => {
      if (failures-- > 0) throw new EngineError('server', 'the machine is tired');
      return 'x';
    });
    const made = agent(async (context) => (await ask(context, [user('one')])) + (await ask(context, [user('two')])));
    finished(await rolloutOf(made, { format, sampler, limits: LIMITS }));
    const { seed } = inputOf();
    expect(sampler.requests.map((request) => request.seed)).toEqual([seed(0, 0), seed(0, 1), seed(0, 2), seed(1, 0)]);
  });
});

describe('limits', () => {
  it('of turns: the call beyond is refused, and the rollout ends by it with what the agent makes of that', async () => {
    const catching = agent(async (context) => {
      let answer = '';
      try {
        for (;;) answer += await ask(context, [user('again')]);
      } catch (error) {
        return `${answer} ${(error as Error).message}`;
      }
    });
    const sampler = scripted(format, () => 'x');
    const trajectory = finished(await rolloutOf(catching, { format, sampler, limits: { ...LIMITS, turns: 3 } }));
    expect(trajectory.stopReason).toEqual({ kind: 'turnLimit' });
    expect(trajectory.finalText).toMatch(/^xxx .*limits\.turns allows/);
    const throwing = agent(async (context) => {
      for (;;) await ask(context, [user('again')]);
    });
    const thrown = finished(await rolloutOf(throwing, { format, sampler, limits: { ...LIMITS, turns: 3 } }));
    expect([thrown.stopReason.kind, thrown.finalText, sampler.requests.length]).toEqual(['turnLimit', '', 6]);
  });

  it('of turns end an agent that asks on and on', async () => {
    const stubborn = agent(async (context) => {
      while (!context.signal.aborted) {
        await ask(context, [user('again')]).catch(() => undefined);
        await sleep(5);
      }
      return 'gave up';
    });
    const trajectory = finished(await rolloutOf(stubborn, { format, sampler: echo(), limits: { ...LIMITS, turns: 2 } }));
    expect(trajectory.stopReason).toEqual({ kind: 'turnLimit' });
  });

  it('of tokens: an answer that they cut says so, and no further one is given', async () => {
    const reasons: string[] = [];
    const made = agent(async ({ model }) => {
      for (let i = 0; i < 3; i++) {
        const { finishReason } = await generateText({ model, prompt: 'x', maxRetries: 0, ...(i === 0 && { maxOutputTokens: 4 }) });
        reasons.push(finishReason);
      }
      return 'never';
    });
    const sampler = scripted(format, () => '123456789 '.repeat(9));
    const trajectory = finished(await rolloutOf(made, { format, sampler, limits: { ...LIMITS, turnTokens: 20 } }));
    // The first length is what the agent asked for, the second the recipe's.
    expect(reasons).toEqual(['length', 'length']);
    expect(sampler.requests.map(({ maxTokens }) => maxTokens)).toEqual([4, 20]);
    expect(trajectory.stopReason).toEqual({ kind: 'tokenLimit', limit: 'turn' });
    const whole = finished(await rolloutOf(made, { format, sampler, limits: { ...LIMITS, turnTokens: 60, responseTokens: 60 } }));
    expect(whole.stopReason).toEqual({ kind: 'tokenLimit', limit: 'response' });
    expect(sampler.requests.at(-1)!.maxTokens).toBe(56);
  });

  it('of prompts and of the model’s context: what does not fit is no answer', async () => {
    const made = agent((context) => ask(context, [user('1'.repeat(300))]));
    const sampler = echo();
    for (const limit of [{ limits: { ...LIMITS, promptTokens: 200 } }, { limits: LIMITS, contextTokens: 250 }]) {
      const told = await withHost(made, async (host, warnings) => {
        const trajectory = finished(await host.on(settingsOf({ format, sampler, ...limit })).run(inputOf()));
        expect(trajectory.stopReason).toEqual({ kind: 'tokenLimit', limit: 'response' });
        expect(trajectory.tokens).toEqual([]);
        return warnings;
      });
      expect(told).toEqual([expect.stringContaining('a prompt of the agent is too long')]);
    }
    expect(sampler.requests).toEqual([]);
  });

  it('of time: it ends there, with what there is; without an answer of the model it is lost', async () => {
    const made = agent(async ({ model, signal }) => {
      await generateText({ model, prompt: 'x' });
      await sleep(60_000, undefined, { signal });
      return 'late';
    });
    const limits = { ...LIMITS, deadlineSeconds: 0.3 };
    const trajectory = finished(await rolloutOf(made, { format, sampler: echo(), limits }));
    expect([trajectory.stopReason.kind, trajectory.finalText, trajectory.turns.length]).toEqual(['deadline', '', 1]);
    const hangs = agent(({ signal }) => new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
    expect(await rolloutOf(hangs, { format, sampler: echo(), limits })).toMatchObject({
      kind: 'infra',
      error: expect.stringContaining('within 0.3 s'),
    });
  });
});

describe('the engine', () => {
  it('that fails again and again loses the rollout, whatever the agent does about it', async () => {
    const made = agent(async (context) => ask(context, [user('one')]).catch(() => 'never mind'));
    const sampler = scripted(format, () => {
      throw new EngineError('server', 'the machine is tired');
    });
    expect(await rolloutOf(made, { format, sampler, limits: LIMITS })).toMatchObject({ kind: 'infra', error: 'the machine is tired' });
    expect(sampler.requests).toHaveLength(3);
  });

  it('that refuses ends the run', async () => {
    const made = agent((context) => ask(context, [user('one')]));
    const sampler = scripted(format, () => {
      throw new EngineError('user', 'no such model');
    });
    await expect(rolloutOf(made, { format, sampler, limits: LIMITS })).rejects.toThrow('no such model');
  });

  it('that returns what is no sample is asked again', async () => {
    let first = true;
    const sampler = scripted(format, () => {
      if (!first) return 'x';
      first = false;
      return Promise.resolve({ tokens: [5], logProbs: [Number.NaN], stop: 'stop' as const });
    });
    const made = agent((context) => ask(context, [user('one')]));
    expect(finished(await rolloutOf(made, { format, sampler, limits: LIMITS })).finalText).toBe('x');
  });
});

describe('what comes back for a call', () => {
  it('is kept with its turn, as far as it came back; a call that could not be read was text to the agent', async () => {
    const sampler = scripted(format, (asked) =>
      asked.includes('<tool_response>') ? 'done' : `<tool_call>\nbroken\n</tool_call>${callText('f', { x: 1 })}${callText('f', { x: 2 })}`,
    );
    const made = agent(async ({ baseUrl, apiKey }: AgentContext<Problem>) => {
      const post = async (messages: object[]) => {
        const response = await fetch(`${baseUrl}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'any', messages, tools: [{ type: 'function', function: { name: 'f' } }] }),
        });
        // biome-ignore lint/suspicious/noExplicitAny: the wire's JSON
        return ((await response.json()) as any).choices[0].message;
      };
      const message = await post([user('one')]);
      const [first] = message.tool_calls;
      const last = await post([user('one'), message, { role: 'tool', tool_call_id: first.id, content: 'one back' }]);
      return last.content;
    });
    const trajectory = finished(await rolloutOf(made, { format, sampler, limits: LIMITS }));
    expect(trajectory.turns[0]!.segments.map(({ kind }) => kind)).toEqual(['malformedCall', 'call', 'call']);
    expect(trajectory.turns[0]!.replies).toMatchObject([
      { kind: 'refused', problem: 'malformed' },
      { kind: 'executed', text: 'one back', call: { arguments: { x: 1 } } },
    ]);
  });
});
