/**
 * One agent, once against the recording that it is trained by and once against a served model: the prompt of each of its calls must be the
 * same tokens, over the AI SDK's model object and over the wire, streamed or whole, with thinking, tools and edited histories.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from 'ai';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentContext, agent } from '../src/agents/agent.js';
import { finished, nanoFormat, rolloutOf } from '../src/agents/testSupport.js';
import type { ChatFormat } from '../src/chat/chatFormat.js';
import { branchesOf } from '../src/domain/trajectory.js';
import { chatFormatOf } from './support/rolloutSettings.js';
import { type Script, scriptedSampler } from './support/scriptedSampler.js';
import { serveScript } from './support/servedScript.js';

let formats: Record<string, ChatFormat>;
beforeAll(async () => {
  formats = { nano: await nanoFormat(), 'a template with tools': await chatFormatOf() };
});

const tools = {
  weather: tool({
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
    execute: async ({ city, days }) => ({ city, days, sky: 'grey <|im_end|>' }),
  }),
  add: tool({ description: 'Adds.', inputSchema: z.object({ a: z.number(), b: z.number() }), execute: async ({ a, b }) => String(a + b) }),
};

/** Writes calls as a model does that was not taught our way of writing them, then answers. */
const script: Script = (_request, context) => {
  const turns = context.split(/grey|"?408"?/).length - 1;
  if (turns === 0)
    return '<think>\nI look.\n</think>\nFirst  this.\n<tool_call>\n{"arguments":{"city" :"Bern"}, "name": "weather"}\n</tool_call>';
  if (turns === 1)
    return '<tool_call>{"name": "add", "arguments": {"a": 400.0, "b": "8"}}</tool_call>\n<tool_call>{"name": "add", "arguments": {"b": 8, "a": 400}}</tool_call>';
  return '  It is  grey, and 408. ';
};

type Asking = (model: LanguageModel) => Promise<string>;
const question = 'How is it in Bern, and what is 400 + 8?';

const AGENTS: Record<string, Asking> = {
  'the loop of generateText': async (model) =>
    (await generateText({ model, system: 'Be brief.', prompt: question, tools, stopWhen: stepCountIs(5) })).text,
  'the loop of streamText': async (model) => {
    const { text } = streamText({ model, prompt: question, tools, stopWhen: stepCountIs(5) });
    return await text;
  },
  'a conversation that goes on': async (model) => {
    const first = await generateText({ model, prompt: question, tools, stopWhen: stepCountIs(5) });
    const messages = [
      { role: 'user' as const, content: question },
      ...first.response.messages,
      { role: 'user' as const, content: 'Sure?' },
    ];
    return (await generateText({ model, messages, tools, stopWhen: stepCountIs(2) })).text;
  },
  'a history that is cut': async (model) => {
    const first = await generateText({ model, prompt: question, tools, stopWhen: stepCountIs(5) });
    const messages = [{ role: 'user' as const, content: question }, ...first.response.messages.slice(0, 2)];
    return (await generateText({ model, messages, tools, stopWhen: stepCountIs(2) })).text;
  },
};

async function promptsServed(format: ChatFormat, ask: Asking, partTokens: number | undefined): Promise<(readonly number[])[]> {
  const served = await serveScript(format, script, partTokens === undefined ? {} : { partTokens });
  try {
    await ask(createOpenAICompatible({ name: 'served', baseURL: served.url, apiKey: 'none' })(served.name));
    expect(served.failures).toEqual([]);
    return served.requests.map(({ prompt }) => prompt);
  } finally {
    await served.close();
  }
}

async function promptsRecorded(format: ChatFormat, ask: (context: AgentContext) => Promise<string>): Promise<(readonly number[])[]> {
  const sampler = scriptedSampler(format, script);
  const limits = { turns: 12, responseTokens: 4000, promptTokens: 2500 };
  const trajectory = finished(await rolloutOf(agent(ask), { format, sampler, limits }));
  const kept = branchesOf(trajectory).flatMap(({ promptTokens, tokens, mask }) =>
    mask.flatMap((bit, i) => (bit === 1 && mask[i - 1] !== 1 ? [[...promptTokens, ...tokens.slice(0, i)]] : [])),
  );
  const asked = sampler.requests.map(({ prompt }) => prompt);
  // What is trained on is what was asked.
  const text = (prompt: readonly number[]): string => prompt.join(' ');
  expect(kept.map(text).sort()).toEqual(asked.map(text).sort());
  return asked;
}

describe.each(['nano', 'a template with tools'])('with %s', (name) => {
  it.each(Object.keys(AGENTS))('%s has the same prompts in training and in serving', async (which) => {
    const format = formats[name]!;
    const ask = AGENTS[which]!;
    const served = await promptsServed(format, ask, undefined);
    expect(served.length).toBeGreaterThan(2);
    expect(await promptsServed(format, ask, 3)).toEqual(served);
    expect(await promptsRecorded(format, ({ model }) => ask(model))).toEqual(served);
    const overWire = ({ baseUrl, apiKey }: AgentContext) =>
      ask(createOpenAICompatible({ name: 'recorded', baseURL: baseUrl, apiKey })('any'));
    expect(await promptsRecorded(format, overWire)).toEqual(served);
  });
});
