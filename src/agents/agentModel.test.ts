/** Agents as people write them, on a scripted policy: the AI SDK, the OpenAI client, plain fetch. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { agent } from './agent.js';
import type { AgentModel } from './agentModel.js';
import { callText, finished, inputOf, nanoFormat, rolloutOf, scripted } from './testSupport.js';

const format = await nanoFormat();

/** Multiplies with the tool, then says what came back. */
const policy = () =>
  scripted(format, (asked) => {
    const result = /<tool_response>(.*)<\/tool_response>/s.exec(asked)?.[1];
    return result === undefined ? callText('multiply', { a: 3, b: 4 }) : `It is \\boxed{${result}}`;
  });

const multiply = ({ a, b }: { a: number; b: number }): string => String(a * b);
const tools = {
  multiply: tool({
    description: 'Multiplies.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async (given) => multiply(given),
  }),
};
const wireTools = [
  {
    type: 'function',
    function: {
      name: 'multiply',
      description: 'Multiplies.',
      parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
    },
  },
] as const;
const first = (turn: number): number => inputOf().seed(turn, 0);
const LIMITS = { turnTokens: 64, responseTokens: 160, toolTokens: 48 };

const withSdk = agent(async ({ problem, model, signal }) => {
  const { text } = await generateText({ model, prompt: problem.question, tools, stopWhen: stepCountIs(4), abortSignal: signal });
  return text;
});

const overHttp = agent(async ({ problem, baseUrl, apiKey }) => {
  const model = createOpenAICompatible({ name: 'toolwise', baseURL: baseUrl, apiKey })('nano');
  const { text } = await generateText({ model, prompt: problem.question, tools, stopWhen: stepCountIs(4) });
  return text;
});

const streaming = agent(async ({ problem, model }) => {
  const { text } = streamText({ model, prompt: problem.question, tools, stopWhen: stepCountIs(4) });
  return await text;
});

const withClient = agent(async ({ problem, baseUrl, apiKey }) => {
  const client = new OpenAI({ baseURL: baseUrl, apiKey });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: problem.question }];
  for (;;) {
    const { choices } = await client.chat.completions.create({ model: 'nano', messages, tools: [...wireTools] });
    const { message } = choices[0]!;
    messages.push(message);
    if (!message.tool_calls) return message.content ?? '';
    for (const call of message.tool_calls) {
      if (call.type === 'function')
        messages.push({ role: 'tool', tool_call_id: call.id, content: multiply(JSON.parse(call.function.arguments)) });
    }
  }
});

const withFetch = agent(async ({ problem, baseUrl, apiKey, signal }) => {
  const messages: object[] = [{ role: 'user', content: problem.question }];
  for (;;) {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'nano', messages, tools: wireTools }),
      signal,
    });
    // biome-ignore lint/suspicious/noExplicitAny: the wire's JSON
    const { message } = ((await response.json()) as any).choices[0];
    messages.push(message);
    if (!message.tool_calls) return message.content;
    for (const call of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: call.id, content: multiply(JSON.parse(call.function.arguments)) });
  }
});

describe('an agent that exists already', () => {
  it('has a model that the AI SDK takes', () => {
    expectTypeOf<AgentModel>().toExtend<LanguageModelV3>();
  });

  it.each([
    ['of the AI SDK', withSdk],
    ['of the AI SDK, by its provider for endpoints', overHttp],
    ['of the AI SDK, streaming', streaming],
    ['of the OpenAI client', withClient],
    ['of plain fetch', withFetch],
  ])('%s is one trajectory: what was sampled as it was, what came between by others', async (_, made) => {
    const sampler = policy();
    const trajectory = finished(await rolloutOf(made, { format, sampler, limits: LIMITS }));
    expect(trajectory.finalText).toBe('It is \\boxed{12}');
    expect(trajectory.stopReason).toEqual({ kind: 'answered' });
    expect(trajectory.branches).toBeUndefined();
    const [first, second] = sampler.requests;
    expect(sampler.requests).toHaveLength(2);
    expect(trajectory.promptTokens).toEqual(first!.prompt);
    expect(trajectory.promptTokens).toEqual(format.prompt([{ role: 'user', content: 'What is 3 * 4?' }], []));
    const text = (bit: number) => format.decode(trajectory.tokens.filter((_, i) => trajectory.mask[i] === bit));
    expect(text(1)).toBe(`${callText('multiply', { a: 3, b: 4 })}<|end|>It is \\boxed{12}<|end|>`);
    expect(text(0)).toBe('<tool_response>12</tool_response><|assistant|>');
    expect([...trajectory.promptTokens, ...trajectory.tokens].slice(0, second!.prompt.length)).toEqual(second!.prompt);
    const logProbs = trajectory.samplerLogProbs;
    expect(logProbs.every((value, i) => (trajectory.mask[i] === 1 ? value < 0 : value === 0))).toBe(true);
    expect(trajectory.turns.map(({ policyVersion, stop }) => [policyVersion, stop])).toEqual([
      [7, 'stop'],
      [7, 'stop'],
    ]);
    expect(trajectory.turns[0]!.replies).toMatchObject([
      { kind: 'executed', success: true, text: '12', call: { name: 'multiply', arguments: { a: 3, b: 4 } } },
    ]);
    expect(trajectory.turns[1]!.replies).toEqual([]);
  });

  it('has a call that failed told as failed where the SDK says so', async () => {
    const broken = { multiply: { ...tools.multiply, execute: async () => Promise.reject(new Error('out of order')) } };
    const made = agent(async ({ problem, model }) => {
      return (await generateText({ model, prompt: problem.question, tools: broken, stopWhen: stepCountIs(4) })).text;
    });
    const { turns, finalText } = finished(await rolloutOf(made, { format, sampler: policy(), limits: LIMITS }));
    expect(turns[0]!.replies).toMatchObject([{ kind: 'executed', success: false, text: 'out of order' }]);
    expect(finalText).toContain('out of order');
  });

  it.each([
    '<tool_call>{"name": "", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "no such tool", "arguments": {"": [null, {"a": 1e400}]}}</tool_call>',
    '<tool_call>{"name": "multiply", "arguments": "3 and 4"}</tool_call>',
    '<tool_call>{"name": "multiply", "arguments": null}</tool_call>',
    '<tool_call>{"name": 7, "arguments": [1]}</tool_call>',
    '<tool_call>{"name": "multiply", "arguments": {"a": "x", "__proto__": {"b": 1}}}</tool_call>',
    '<tool_call>{"name": "multiply", "arguments": {"a": "\\ud800"}}</tool_call>',
    '</tool_call><tool_call><tool_call></think>',
    callText('multiply', { a: 1, b: 2 }) + callText('', { a: 1 }) + callText('multiply', { a: 1, b: 2 }),
    '',
  ])('comes to its end whatever its model writes: %j', async (written) => {
    const sampler = scripted(format, (_, request) => (request.seed === first(0) ? written : 'done'));
    for (const made of [withSdk, overHttp, streaming]) {
      const trajectory = finished(await rolloutOf(made, { format, sampler, limits: { ...LIMITS, turnTokens: 200, responseTokens: 2000 } }));
      expect(trajectory.stopReason).toEqual({ kind: 'answered' });
      expect(trajectory.branches).toBeUndefined();
    }
  });

  it('is refused what a text model cannot do, by name, and the rollout goes on', async () => {
    const told: string[] = [];
    const made = agent(async ({ model }) => {
      const image = { type: 'image', image: new URL('https://example.com/a.png') } as const;
      for (const asked of [{ messages: [{ role: 'user', content: [image] }] }, { prompt: 'x', output: 'json' }] as const) {
        const given =
          'output' in asked
            ? { prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }], responseFormat: { type: 'json' } }
            : undefined;
        const tried = given ? model.doGenerate(given as never) : generateText({ model, ...(asked as { messages: never }), maxRetries: 0 });
        await Promise.resolve(tried).catch((error: Error) => told.push(error.message));
      }
      return 'none';
    });
    const trajectory = finished(await rolloutOf(made, { format, sampler: policy(), limits: LIMITS }));
    expect(trajectory.finalText).toBe('none');
    expect(trajectory.tokens).toEqual([]);
    expect(told).toHaveLength(2);
    expect(told[1]).toContain('ask for JSON in a message');
  });
});
