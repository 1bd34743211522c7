import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CHATML, DROPS_THINKING, OPENS_THINKING, TOOL_CHATML } from '../../test/support/modelFolder.js';
import { chatFormatOf, scriptedRollout } from '../../test/support/rolloutSettings.js';
import { scriptedSampler } from '../../test/support/scriptedSampler.js';
import { ChatFormat } from '../chat/chatFormat.js';
import { writeToolResponse } from '../chat/hermes.js';
import { runRollout } from '../rollout/runRollout.js';
import { toJsonSchema } from '../tools/jsonSchema.js';
import { tool } from '../tools/tool.js';
import type { ChatCall } from './chatCall.js';
import { type CompleteOptions, complete } from './complete.js';
import { TokenHistory } from './history.js';
import { readChatCall } from './request.js';
import { wireCompletion } from './response.js';

const NANO = new URL('../../models/nano', import.meta.url).pathname;

const formats: Record<string, ChatFormat> = {};
beforeAll(async () => {
  formats['as SmolLM2'] = await chatFormatOf(CHATML);
  formats['as Qwen'] = await chatFormatOf(TOOL_CHATML);
  formats['drops thinking'] = await chatFormatOf(DROPS_THINKING);
  formats['opens thinking'] = await chatFormatOf(OPENS_THINKING);
  formats.nano = await ChatFormat.load(NANO);
});

const parameters = z.strictObject({ code: z.string(), depth: z.number().optional() });
const replyTo = (args: unknown): string => `ran ${JSON.stringify(args, Object.keys(args as object).sort())} <|im_end|> done`;
const TOOL = tool({ name: 'python', description: 'Runs it.', parameters, execute: (args) => replyTo(args) });
/** As clients send it: with what training leaves out of the prompt. */
const WIRE_TOOL = {
  type: 'function',
  function: {
    name: TOOL.name,
    description: TOOL.description,
    parameters: { $schema: 'http://json-schema.org/draft-07/schema#', ...toJsonSchema(parameters), additionalProperties: false },
  },
};
const SYSTEM = 'Use the tool.';
const QUESTION = 'How much?';
const UNREADABLE = writeToolResponse('Error: the call could not be read. The tool call is not valid JSON.');

// biome-ignore lint/suspicious/noExplicitAny: the wire's JSON, looked into by tests
type Json = any;

/** An agent that speaks the wire as clients do: it reads arguments and writes them again, and has its own ways with empty content. */
async function drive(format: ChatFormat, turns: readonly string[], echo: (message: Json) => Json = (message) => message) {
  const sampler = scriptedSampler(format, (_request, _context, call) => turns[call]!);
  const history = new TokenHistory(format);
  const messages: Json[] = [
    { role: 'developer', content: SYSTEM },
    { role: 'user', content: [{ type: 'text', text: QUESTION }] },
  ];
  const prompts: (readonly number[])[] = [];
  const continued: boolean[] = [];
  for (let turn = 0; turn < turns.length; turn++) {
    const read = readChatCall({ model: 'm', messages: JSON.parse(JSON.stringify(messages)), tools: [WIRE_TOOL] });
    if (read.kind === 'refused') throw new Error(read.refusal.message);
    const outcome = await complete(read.call, { sampler, format, history });
    if (outcome.kind === 'refused') throw new Error(outcome.refusal.message);
    const { completion } = outcome;
    prompts.push(completion.promptTokens);
    continued.push(completion.continues !== undefined);
    const { message } = (wireCompletion(completion, format) as Json).choices[0];
    messages.push(echo(message));
    if (message.tool_calls) {
      for (const call of message.tool_calls) {
        const args = JSON.parse(call.function.arguments);
        messages.push({ role: 'tool', tool_call_id: call.id, content: replyTo(args) });
      }
    } else {
      messages.push({ role: 'user', content: UNREADABLE });
    }
  }
  return { prompts, continued, messages, history, sampler };
}

async function rolloutPrompts(format: ChatFormat, turns: readonly string[]): Promise<(readonly number[])[]> {
  const { sampler, settings } = scriptedRollout(format, (_request, _context, call) => turns[call]!, [TOOL], {
    limits: {
      turns: turns.length,
      callsPerTurn: 8,
      malformedInARow: 99,
      responseTokens: 100_000,
      promptTokens: 100_000,
      toolTokens: 10_000,
    },
    settings: { system: SYSTEM },
  });
  const problem = { kind: 'math' as const, id: 'p', question: QUESTION, answer: '1' };
  await runRollout(settings, { problem: problem as never, groupId: 'g', trajectoryId: 't', seed: () => 1 });
  return sampler.requests.slice(0, turns.length).map(({ prompt }) => prompt);
}

const callText = (args: object, raw = JSON.stringify(args)): string => `<tool_call>\n{"name": "python", "arguments": ${raw}}\n</tool_call>`;

describe.each(['as SmolLM2', 'as Qwen', 'drops thinking', 'opens thinking', 'nano'])('a template %s', (name) => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', 'é', '7', '.', '\\'), maxLength: 10 });
  const args = fc.record({ code: text, depth: fc.double({ noNaN: true, noDefaultInfinity: true }) }, { requiredKeys: ['code'] });
  const turn = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.boolean(), text, fc.array(args, { minLength: 1, maxLength: 3 }))
        .map(
          ([think, said, calls]) =>
            `${think ? 'hm</think>\n\n' : ''}${said}\n${calls.map((one) => callText(one, JSON.stringify(one).replaceAll('":', '" : '))).join('\n')}`,
        ),
    },
    {
      weight: 1,
      arbitrary: text.map(
        (said) => `${said}<tool_call>\n{"name": "python", "arguments": {"code": "${said.replaceAll(/[\\\n]/g, '')}"}\n</tool_call>`,
      ),
    },
  );

  it('has the same prompts in a rollout and behind the wire, turn by turn', async () => {
    const format = formats[name];
    if (format === undefined) return;
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), fc.integer({ min: 0, max: 3 }), async (turns, way) => {
        // Without `</think>` all of a turn would be thinking where the header opens it.
        const written = turns.map((one) =>
          format.opensThinking && !one.includes('</think>')
            ? `so</think>${one}`
            : format.opensThinking
              ? one
              : one.includes('</think>')
                ? `<think>${one}`
                : one,
        );
        const echo = [same, rewritten, withoutThinking, flattened][way]!;
        const served = await drive(format, written, echo);
        // A user's message is all that can follow a call that could not be read; not every template prints tool results in one.
        const comparable = name !== 'nano' || served.messages.every(({ role, content }) => role !== 'user' || content !== UNREADABLE);
        if (comparable) expect(served.prompts).toEqual(await rolloutPrompts(format, written));
        expect(served.continued).toEqual(written.map((_, i) => i > 0));
      }),
      { numRuns: 40 },
    );
  });
});

const same = (message: Json): Json => message;
/** Keys in another order, and spaces. */
const rewritten = (message: Json): Json => ({
  ...message,
  content: message.content ?? '',
  ...(message.tool_calls && {
    tool_calls: message.tool_calls.map((call: Json) => {
      const entries = Object.entries(JSON.parse(call.function.arguments)).reverse();
      return { ...call, function: { name: call.function.name, arguments: JSON.stringify(Object.fromEntries(entries), null, 1) } };
    }),
  }),
});
const withoutThinking = ({ reasoning_content: _, refusal: __, ...message }: Json): Json => message;
const flattened = ({ content, tool_calls }: Json): Json => ({
  role: 'assistant',
  content: content ? [{ type: 'text', text: content }] : null,
  ...(tool_calls && { tool_calls: tool_calls.map(({ id, function: called }: Json) => ({ id, function: called })) }),
});

const callOf = (messages: Json[], more: Json = {}): ChatCall => {
  const read = readChatCall({ model: 'm', messages, ...more });
  if (read.kind === 'refused') throw new Error(read.refusal.message);
  return read.call;
};

describe('a conversation that goes on', () => {
  const user = (content: string): Json => ({ role: 'user', content });
  const answer = async (format: ChatFormat, history: TokenHistory, messages: Json[], says: string, more: Json = {}) => {
    const sampler = scriptedSampler(format, () => says);
    const outcome = await complete(callOf(messages, more), { sampler, format, history });
    if (outcome.kind === 'refused') throw new Error(outcome.refusal.message);
    return outcome.completion;
  };

  it('with a question after an answer, keeps the tokens, and reads as the template renders it', async () => {
    const format = formats['as Qwen']!;
    const history = new TokenHistory(format);
    const first = await answer(format, history, [user('a?')], 'b.');
    const messages = [user('a?'), { role: 'assistant', content: 'b.' }, user('c?')];
    const second = await answer(format, history, messages, 'd.');
    expect(second.continues).toEqual({
      id: first.choices[0]!.id,
      length: first.promptTokens.length + first.choices[0]!.sample.tokens.length,
    });
    expect(format.decode(second.promptTokens)).toBe(format.promptText(callOf(messages).messages, []));
  });

  it('keeps thinking that the template drops', async () => {
    const format = formats['drops thinking']!;
    const history = new TokenHistory(format);
    await answer(format, history, [user('a?')], '<think>hm</think>b.');
    const second = await answer(format, history, [user('a?'), { role: 'assistant', content: 'b.' }, user('c?')], 'd.');
    expect(format.decode(second.promptTokens)).toContain('<think>hm</think>b.');
  });

  it.each([
    ['another answer', { role: 'assistant', content: 'B.' }, {}],
    ['other tools', { role: 'assistant', content: 'b.' }, { tools: [WIRE_TOOL] }],
  ])('with %s, is rendered anew', async (_, assistant, more) => {
    const format = formats['as Qwen']!;
    const history = new TokenHistory(format);
    await answer(format, history, [user('a?')], 'b.');
    const messages = [user('a?'), assistant, user('c?')];
    const second = await answer(format, history, messages, 'd.', more);
    expect(second.continues).toBeUndefined();
    expect(format.decode(second.promptTokens)).toBe(format.promptText(callOf(messages, more).messages, callOf(messages, more).tools));
  });

  it('of several answers goes on from the one that is repeated', async () => {
    const format = formats['as Qwen']!;
    const history = new TokenHistory(format);
    const said = ['one', 'two', 'three'];
    let n = 0;
    const sampler = scriptedSampler(format, () => said[n++]!);
    const outcome = await complete(callOf([user('a?')], { n: 3 }), { sampler, format, history });
    if (outcome.kind === 'refused') throw new Error(outcome.refusal.message);
    const next = await answer(format, history, [user('a?'), { role: 'assistant', content: 'two' }, user('c?')], 'd.');
    expect(next.continues?.id).toBe(outcome.completion.choices[1]!.id);
  });

  it('goes on from a call whose arguments were read by a schema: numerals, defaults, unknown keys', async () => {
    const format = formats['as Qwen']!;
    const history = new TokenHistory(format);
    const first = await answer(format, history, [user('a?')], callText({ depth: '3', more: 1, code: 'x' }), { tools: [WIRE_TOOL] });
    const [call] = first.choices[0]!.answer.calls;
    const go = (id: string, args: object) =>
      answer(
        format,
        history,
        [
          user('a?'),
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id, type: 'function', function: { name: 'python', arguments: JSON.stringify(args) } }],
          },
          { role: 'tool', tool_call_id: id, content: 'r' },
        ],
        'd.',
        { tools: [WIRE_TOOL] },
      );
    expect((await go(call!.id, { code: 'x', depth: 3, mode: 'fast' })).continues).toBeDefined();
    expect((await go('other', { code: 'x', depth: 3, mode: 'fast' })).continues).toBeUndefined();
    expect((await go(call!.id, { code: 'y', depth: 3 })).continues).toBeUndefined();
  });

  it('of a stream goes on from what the stream told, also where the whole turn is read otherwise', async () => {
    const format = formats['as Qwen']!;
    const history = new TokenHistory(format);
    const sampler = scriptedSampler(format, () => 'so it is</think>b.');
    const said: string[] = [];
    const onDelta: NonNullable<CompleteOptions['onDelta']> = (_, delta) => void (delta.kind === 'content' && said.push(delta.text));
    await complete(callOf([user('a?')]), { sampler, format, history }, { onDelta });
    expect(said.join('')).toBe('so it is\nb.');
    const second = await answer(format, history, [user('a?'), { role: 'assistant', content: said.join('') }, user('c?')], 'd.');
    expect(second.continues).toBeDefined();
  });

  it('ends a turn that ran out of tokens before it goes on', async () => {
    const format = formats['as Qwen']!;
    const history = new TokenHistory(format);
    const first = await answer(format, history, [user('a?')], 'abcdef', { max_tokens: 3 });
    expect(first.choices[0]!.finishReason).toBe('length');
    const second = await answer(format, history, [user('a?'), { role: 'assistant', content: 'abc' }, user('c?')], 'd.');
    expect(format.decode(second.promptTokens)).toContain('assistant\nabc<|im_end|>\n<|im_start|>user\nc?<|im_end|>');
  });
});

it('keeps what was used last, and no more tokens than it may', async () => {
  const format = formats['as Qwen']!;
  const history = new TokenHistory(format, { maxTokens: 600 });
  const talk = async (name: string, turns: number): Promise<boolean[]> => {
    const sampler = scriptedSampler(format, () => 'ok');
    const messages: Json[] = [];
    const continued: boolean[] = [];
    for (let i = 0; i < turns; i++) {
      messages.push({ role: 'user', content: `${name} ${i}` });
      const outcome = await complete(callOf(messages), { sampler, format, history });
      if (outcome.kind === 'refused') throw new Error(outcome.refusal.message);
      continued.push(outcome.completion.continues !== undefined);
      messages.push({ role: 'assistant', content: 'ok' });
      expect(history.size).toBeLessThanOrEqual(600);
    }
    return continued;
  };
  for (let i = 0; i < 20; i++) expect(await talk(`talk ${i}`, 4)).toEqual([false, true, true, true]);
});
