import OpenAI from 'openai';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { chatFormatOf, scriptedRollout } from '../../test/support/rolloutSettings.js';
import type { Script } from '../../test/support/scriptedSampler.js';
import { type ServedScript, serveScript } from '../../test/support/servedScript.js';
import type { ChatFormat } from '../chat/chatFormat.js';
import type { Limits } from '../recipe/schema.js';
import { runRollout } from '../rollout/runRollout.js';
import { tool } from '../tools/tool.js';

let format: ChatFormat;
beforeAll(async () => {
  format = await chatFormatOf();
});

const open: ServedScript[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((served) => served.close()));
});

const ADD = tool({
  name: 'add',
  description: 'Adds.',
  parameters: z.strictObject({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => (a === 13 ? { kind: 'infra', error: 'the machine is down' } : String(a + b)),
});
const SYSTEM = 'Add it up.';
const call = (a: number, b: number): string => `<tool_call>\n{"name": "add", "arguments": {"a": ${a}, "b": ${b}}}\n</tool_call>`;

const loopOf = (limits: Partial<Limits> = {}) => {
  const {
    sampler: _,
    sampling: __,
    ...rollout
  } = scriptedRollout(format, () => undefined, [ADD], { limits, settings: { system: SYSTEM } }).settings;
  return { rollout };
};

async function serve(script: Script, limits: Partial<Limits> = {}, partTokens?: number) {
  const served = await serveScript(format, script, {
    model: { loop: loopOf(limits), system: SYSTEM },
    ...(partTokens !== undefined && { partTokens }),
  });
  open.push(served);
  return { served, client: new OpenAI({ baseURL: served.url, apiKey: 'any', maxRetries: 0 }) };
}

const turns =
  (...texts: string[]): Script =>
  (_request, _context, at) =>
    texts[at] ?? 'more';
const ask = (text: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content: text }];
const model = 'scripted';

describe('tools that the server runs', () => {
  const said = [`<think>so</think>First.\n${call(2, 3)}`, `Then.\n${call(5, 1)}`, 'It is 6.'];

  it('give one answer, and the calls that were run', async () => {
    const { client, served } = await serve(turns(...said));
    const answer = await client.chat.completions.create({ model, messages: ask('2+3+1?'), logprobs: true });
    const [choice] = answer.choices;
    expect(choice).toMatchObject({
      message: { content: 'First.\nThen.\nIt is 6.', reasoning_content: 'so' },
      finish_reason: 'stop',
      executed_tool_calls: [
        { name: 'add', arguments: { a: 2, b: 3 }, result: '5', success: true },
        { name: 'add', arguments: { a: 5, b: 1 }, result: '6', success: true },
      ],
    });
    expect(choice!.message.tool_calls).toBeUndefined();
    const sampled = said.reduce((sum, text) => sum + format.encode(text).length + 1, 0);
    expect(answer.usage!.completion_tokens).toBe(sampled);
    expect(choice!.logprobs!.content).toHaveLength(sampled);
    expect(served.requests).toHaveLength(3);
  });

  it('run as in training, prompts included', async () => {
    const { client, served } = await serve(turns(...said));
    await client.chat.completions.create({ model, messages: ask('2+3+1?') });
    const rollout = scriptedRollout(format, turns(...said), [ADD], { settings: { system: SYSTEM } });
    await runRollout(rollout.settings, { problem: { id: 'p', question: '2+3+1?' }, groupId: 'g', trajectoryId: 't', seed: () => 1 });
    expect(served.requests.map(({ prompt }) => prompt)).toEqual(rollout.sampler.requests.map(({ prompt }) => prompt));
  });

  it.each([1, 5, undefined])('stream the same text (parts of %s tokens)', async (partTokens) => {
    const { client } = await serve(turns(...said), {}, partTokens);
    const stream = await client.chat.completions.create({
      model,
      messages: ask('2+3+1?'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let content = '';
    let reasoning = '';
    let finish: string | null | undefined;
    let executed = 0;
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta as { content?: string; reasoning_content?: string; tool_calls?: unknown } | undefined;
      content += delta?.content ?? '';
      reasoning += delta?.reasoning_content ?? '';
      finish = choices[0]?.finish_reason ?? finish;
      executed += (choices[0] as { executed_tool_calls?: unknown[] } | undefined)?.executed_tool_calls?.length ?? 0;
      expect(delta?.tool_calls).toBeUndefined();
    }
    expect([content, reasoning, finish, executed]).toEqual(['First.\nThen.\nIt is 6.', 'so', 'stop', 2]);
  });

  it('keep their work in the tokens of the conversation', async () => {
    const { client, served } = await serve(turns(...said, 'Yes.'));
    const messages = ask('2+3+1?');
    const first = await client.chat.completions.create({ model, messages });
    messages.push(first.choices[0]!.message, { role: 'user', content: 'Sure?' });
    await client.chat.completions.create({ model, messages });
    const context = format.decode(served.requests[3]!.prompt);
    expect(context.startsWith(format.decode(served.requests[2]!.prompt))).toBe(true);
    expect(context).toMatch(/<tool_response>\n6\n<\/tool_response>[\s\S]*It is 6\.<\|im_end\|>\n<\|im_start\|>user\nSure\?/);
  });

  it('are left to a client that brings its own', async () => {
    const { client, served } = await serve(turns(call(1, 1)));
    const own: OpenAI.ChatCompletionTool = { type: 'function', function: { name: 'add', parameters: { type: 'object', properties: {} } } };
    const answer = await client.chat.completions.create({ model, messages: ask('1+1?'), tools: [own] });
    expect(answer.choices[0]!.finish_reason).toBe('tool_calls');
    expect(served.requests).toHaveLength(1);
  });

  it('end with the limits of the recipe, which is told as a length', async () => {
    const { client } = await serve(turns(call(1, 1), call(2, 2), call(3, 3)), { turns: 2 });
    const answer = await client.chat.completions.create({ model, messages: ask('1+1?') });
    expect(answer.choices[0]!.finish_reason).toBe('length');
  });

  it('that fail in their machinery are an error of the server', async () => {
    const { client } = await serve(turns(call(13, 1)));
    await expect(client.chat.completions.create({ model, messages: ask('?') })).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('the machine is down'),
    });
  });

  it('refuse what goes with one turn alone', async () => {
    const { client } = await serve(turns('x'));
    const asked = client.chat.completions.create({ model, messages: ask('?'), stop: ['END'] });
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'stop' });
  });
});
