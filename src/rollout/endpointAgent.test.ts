import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkTrajectory, type Trajectory } from '../domain/trajectory.js';
import { OpenAiClient } from '../engine/openaiClient.js';
import type { EndpointAbilities } from '../engine/openaiEndpoint.js';
import { type Asked, completion, openAiTestServer, type ScriptedAnswer } from '../engine/testSupport.js';
import { recipeSchema } from '../recipe/schema.js';
import { Toolbox } from '../tools/callTool.js';
import { tool } from '../tools/tool.js';
import { endpointAgent } from './endpointAgent.js';
import { planGroups, runRollouts } from './scheduler.js';
import { rolloutStatistics } from './statistics.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const abilities: EndpointAbilities = { toolCalls: true, logProbs: false, tokenIds: false, usage: true, completionLimit: false };
const adder = tool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});
const { limits } = recipeSchema.parse({ name: 'x', model: 'm', stages: ['rl'], problems: { train: 'calc', evaluation: 'calc' } });
const call = (args: string, id = 'c1') => ({ id, type: 'function', function: { name: 'add', arguments: args } });
const problem = { id: 'p', question: 'What is 1 + 2?', answer: '3' };

interface Options {
  readonly abilities?: Partial<EndpointAbilities>;
  readonly limits?: Partial<typeof limits>;
  readonly signal?: AbortSignal;
}

async function roll(answer: (asked: Asked, count: number) => ScriptedAnswer, options: Options = {}) {
  const server = await openAiTestServer(answer);
  open.push(server);
  const client = new OpenAiClient({ url: server.url, firstPause: 0.001 });
  open.push(client);
  const agent = endpointAgent({
    endpoint: { client, model: 'm', abilities: { ...abilities, ...options.abilities } },
    tools: new Toolbox([adder]),
    limits: { ...limits, ...options.limits },
    system: 'Be brief.',
  });
  const [rollout] = await runRollouts(planGroups([problem], 1, 'test'), agent, {
    runSeed: 1,
    step: 0,
    concurrency: 4,
    ...(options.signal && { signal: options.signal }),
  });
  return { rollout: rollout!, server };
}

const trajectoryOf = ({ rollout }: Awaited<ReturnType<typeof roll>>): Trajectory => {
  if (rollout.kind !== 'finished') throw new Error(rollout.error);
  checkTrajectory(rollout.trajectory);
  return rollout.trajectory;
};

describe('a rollout at an endpoint', () => {
  it('runs calls, answers them by their ids, and ends with the answer', async () => {
    const done = await roll((_, count) =>
      count === 1
        ? completion(
            { content: null, reasoning_content: 'I add.', tool_calls: [call('{"a": 1, "b": 2}')] },
            { finish: 'tool_calls', usage: { prompt_tokens: 20, completion_tokens: 8 } },
          )
        : completion({ content: 'It is \\boxed{3}.' }, { usage: { prompt_tokens: 40, completion_tokens: 6 } }),
    );
    const trajectory = trajectoryOf(done);
    expect(trajectory).toMatchObject({ finalText: 'It is \\boxed{3}.', stopReason: { kind: 'answered' }, tokens: [] });
    expect(trajectory.turns.map(({ tokens }) => tokens)).toEqual([8, 6]);
    expect(trajectory.turns[0]!.segments).toMatchObject([
      { kind: 'thinking', text: 'I add.' },
      { kind: 'call', name: 'add' },
    ]);
    expect(trajectory.turns[0]!.replies).toMatchObject([{ kind: 'executed', success: true, text: '3' }]);
    expect(done.server.asked[1]!.body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: problem.question },
      { role: 'assistant', content: null, tool_calls: [call('{"a":1,"b":2}')] },
      { role: 'tool', tool_call_id: 'c1', content: '3' },
    ]);
    expect(done.server.asked[1]!.body.max_tokens).toBe(limits.responseTokens - 8);
    expect(rolloutStatistics([trajectory])).toMatchObject({
      modelTokensPerRollout: 14,
      tokensPerTurn: 7,
      callsPerRollout: 1,
      toolSuccess: 1,
    });
    expect(rolloutStatistics([trajectory]).entropyEstimate).toBeNaN();
  });

  it('tells the model what is wrong with a call, and ends after too many of them', async () => {
    const done = await roll(() => completion({ content: '', tool_calls: [call('{"a": 1')] }, { finish: 'tool_calls' }));
    expect(trajectoryOf(done).stopReason).toEqual({ kind: 'malformedLimit' });
    expect(done.server.asked).toHaveLength(limits.malformedInARow);
    expect(done.server.asked[1]!.body.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringMatching(/could not be read/) });
    expect(done.server.asked[1]!.body.messages.at(-2).tool_calls[0].function.arguments).toBe('{}');
  });

  it('answers every call of a turn, those beyond the limit too', async () => {
    const done = await roll((_, count) =>
      count === 1
        ? completion({ content: 'x', tool_calls: [call('{"a":1,"b":1}', 'a'), call('{"a":2,"b":2}', 'b')] })
        : completion({ content: 'done' }),
    );
    expect(trajectoryOf(done).turns[0]!.replies).toMatchObject([{ kind: 'executed' }, { kind: 'refused', problem: 'tooManyCalls' }]);
    expect(done.server.asked[1]!.body.messages.slice(-2)).toMatchObject([{ tool_call_id: 'a' }, { tool_call_id: 'b' }]);
  });

  it('describes tools in the system text where the server takes none, and reads calls from the text', async () => {
    const text = 'Now.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>';
    const done = await roll((_, count) => completion({ content: count === 1 ? text : '\\boxed{3}' }), { abilities: { toolCalls: false } });
    expect(trajectoryOf(done).turns[0]!.replies).toMatchObject([{ kind: 'executed', text: '3' }]);
    const { messages, tools } = done.server.asked[1]!.body;
    expect(tools).toBeUndefined();
    expect(messages[0].content).toMatch(/^Be brief\.\nTools:\n.*"add"/);
    expect(messages.slice(2)).toEqual([
      { role: 'assistant', content: text },
      { role: 'user', content: '<tool_response>\n3\n</tool_response>' },
    ]);
  });

  it('stops at limits of tokens and turns', async () => {
    const cut = await roll(() => completion({ content: 'so lo' }, { finish: 'length' }), { limits: { turnTokens: 5 } });
    expect(trajectoryOf(cut).stopReason).toEqual({ kind: 'tokenLimit', limit: 'turn' });
    const used = await roll(
      () => completion({ content: '', tool_calls: [call('{"a":1,"b":1}')] }, { usage: { prompt_tokens: 10, completion_tokens: 50 } }),
      {
        limits: { responseTokens: 50 },
      },
    );
    expect(trajectoryOf(used).stopReason).toEqual({ kind: 'tokenLimit', limit: 'response' });
    const turns = await roll(() => completion({ content: '', tool_calls: [call('{"a":1,"b":1}')] }), { limits: { turns: 2 } });
    expect(trajectoryOf(turns).stopReason).toEqual({ kind: 'turnLimit' });
    const full = await roll((_, count) =>
      count === 1
        ? completion({ content: '', tool_calls: [call('{"a":1,"b":1}')] })
        : { status: 400, body: { error: { message: 'maximum context length' } } },
    );
    expect(trajectoryOf(full).stopReason).toEqual({ kind: 'tokenLimit', limit: 'response' });
  });

  it('carries token ids and log-probs where the server gives them and its prompts only grow', async () => {
    const sampled = (prompt: number[], tokens: number[], message: object): ScriptedAnswer =>
      completion(message, {
        choice: { token_ids: tokens, logprobs: { content: tokens.map((id) => ({ logprob: -id / 10 })) } },
        top: { prompt_token_ids: prompt },
      });
    const first = sampled([1, 2], [3, 4], { content: '', tool_calls: [call('{"a":1,"b":1}')] });
    const options = { abilities: { tokenIds: true, logProbs: true } };
    const whole = trajectoryOf(await roll((_, count) => (count === 1 ? first : sampled([1, 2, 3, 4, 5], [6], { content: 'x' })), options));
    expect(whole).toMatchObject({ promptTokens: [1, 2], tokens: [3, 4, 5, 6], mask: [1, 1, 0, 1], samplerLogProbs: [-0.3, -0.4, 0, -0.6] });
    const rewritten = trajectoryOf(
      await roll((_, count) => (count === 1 ? first : sampled([1, 2, 9, 4, 5], [6], { content: 'x' })), options),
    );
    expect(rewritten).toMatchObject({ promptTokens: [], tokens: [], mask: [], samplerLogProbs: [] });
  });

  it('is lost, not wrong, when the server fails; run once more as a whole under other seeds', async () => {
    const done = await roll(() => ({ body: 'broken' }));
    expect(done.rollout).toMatchObject({ kind: 'infra', error: expect.stringMatching(/no chat completion/) });
    const seeds = done.server.asked.map(({ body }) => body.seed);
    expect(new Set(seeds).size).toBe(2);
  });

  it('ends at its deadline and with its signal', async () => {
    const hanging = await openAiTestServer(() => new Promise(() => undefined));
    open.push(hanging);
    const client = new OpenAiClient({ url: hanging.url });
    open.push(client);
    const agentWith = (deadlineSeconds: number) =>
      endpointAgent({
        endpoint: { client, model: 'm', abilities },
        tools: new Toolbox([]),
        limits: { ...limits, deadlineSeconds },
        system: '',
      });
    const plans = planGroups([problem], 1, 'test');
    const [late] = await runRollouts(plans, agentWith(0.05), { runSeed: 1, step: 0, concurrency: 1 });
    expect(late).toMatchObject({ kind: 'infra', error: 'no answer within 0.05 s' });
    const controller = new AbortController();
    const running = runRollouts(plans, agentWith(60), { runSeed: 1, step: 0, concurrency: 1, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('stopped')), 20);
    await expect(running).rejects.toThrow('stopped');
  });
});
