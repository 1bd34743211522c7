/** A model served by the real engine, asked by the openai client and by the AI SDK: answers, tools, log-probs, streams, errors; a run's checkpoint; the command. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ChatFormat } from '../src/chat/chatFormat.js';
import { systemText } from '../src/chat/prompts.js';
import { evaluate } from '../src/evaluation/evaluateModel.js';
import { type Served, type ServeOptions, serveModel } from '../src/serve/serve.js';
import { packageRoot } from '../src/setup/paths.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';
import { makeTinyModel } from './tinyModel.js';

const missing = await missingForEndToEnd('nano');
const TOKEN = 'a-token-for-tests';
const SYSTEM = systemText('deliberative');
const QUESTION = 'What is 17 * 23?';
const TEMPORARY = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('toolwise-serve-'));

const CODE: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'code_interpreter',
    description: 'Run Python code and return what it prints.',
    parameters: { type: 'object', properties: { code: { type: 'string', description: 'Python source code' } }, required: ['code'] },
  },
};

describe.skipIf(missing !== undefined)(`serve${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  const controller = new AbortController();
  let served: Served;
  let client: OpenAI;
  const open = (more: Partial<ServeOptions> = {}): Promise<Served> =>
    serveModel({ model: 'nano', set: ['engine.threads=1'], log: () => undefined, signal: controller.signal, ...more });
  const clientOf = ({ url }: Served, apiKey = 'any'): OpenAI => new OpenAI({ baseURL: url, apiKey, maxRetries: 0 });

  beforeAll(async () => {
    served = await open();
    client = clientOf(served);
  });
  afterAll(async () => {
    await served?.close();
  });

  const model = 'nano';
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: QUESTION },
  ];

  it('answers the openai client, with the log-prob of every token, and the same again under the same seed', async () => {
    const asked = { model, messages, seed: 5, max_tokens: 40, logprobs: true };
    const first = await client.chat.completions.create(asked);
    const { logprobs, message } = first.choices[0]!;
    expect(logprobs!.content).toHaveLength(first.usage!.completion_tokens);
    expect(logprobs!.content!.every(({ logprob }) => logprob <= 0)).toBe(true);
    const bytes = logprobs!.content!.flatMap((token) => token.bytes ?? []);
    expect(Buffer.from(bytes).toString().replace('<|end|>', '')).toContain(message.content ?? '');
    const second = await client.chat.completions.create(asked);
    expect(second.choices[0]!.message).toEqual({ ...message, ...(message.tool_calls && { tool_calls: expect.anything() }) });
    const chosen = await client.chat.completions.create({ ...asked, temperature: 0, max_tokens: 1 });
    expect(chosen.usage!.completion_tokens).toBe(1);
    expect(chosen.choices[0]!.finish_reason).toBe('length');
  });

  it('streams as many pieces, to the same message', async () => {
    const asked = { model, messages, seed: 5, max_tokens: 60 };
    const whole = await client.chat.completions.create(asked);
    const stream = client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } });
    let pieces = 0;
    for await (const { choices } of stream) if (choices[0]?.delta.content) pieces++;
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]!.message.content).toBe(whole.choices[0]!.message.content);
    expect(choices[0]!.finish_reason).toBe(whole.choices[0]!.finish_reason);
    expect(usage).toEqual(whole.usage);
    expect(served.streams).toBe(true);
    expect(pieces).toBeGreaterThan(0);
  });

  it('makes a turn begin with a call, takes its result, and goes on from the tokens', async () => {
    const named = { type: 'function' as const, function: { name: 'code_interpreter' } };
    const first = await client.chat.completions.create({
      model,
      messages,
      tools: [CODE],
      tool_choice: named,
      temperature: 0,
      max_tokens: 80,
    });
    const [call] = first.choices[0]!.message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
    expect(call!.function.name).toBe('code_interpreter');
    expect(JSON.parse(call!.function.arguments)).toHaveProperty('code');
    const next = [...messages, first.choices[0]!.message, { role: 'tool' as const, tool_call_id: call!.id, content: '391' }];
    const second = await client.chat.completions.create({ model, messages: next, tools: [CODE], temperature: 0, max_tokens: 80 });
    expect(second.usage!.prompt_tokens).toBeGreaterThan(first.usage!.total_tokens);
  });

  it('ends at stop strings, which the engine looks for', async () => {
    const whole = await client.chat.completions.create({ model, messages, temperature: 0, max_tokens: 40 });
    const text = whole.choices[0]!.message.content!;
    const stop = text.slice(6, 9);
    const cut = await client.chat.completions.create({ model, messages, temperature: 0, max_tokens: 40, stop });
    expect(cut.choices[0]!.message.content).toBe(text.slice(0, text.indexOf(stop)).trim());
    expect(cut.usage!.completion_tokens).toBeLessThan(whole.usage!.completion_tokens);
  });

  it('refuses what does not fit, with the numbers', async () => {
    const long = client.chat.completions.create({ model, messages: [{ role: 'user', content: 'one '.repeat(600) }] });
    await expect(long).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      message: expect.stringMatching(/512 tokens.*have \d{3,} tokens/),
    });
  });

  describe('to the AI SDK', () => {
    const code = tool({
      description: 'Run Python code and return what it prints.',
      inputSchema: z.object({ code: z.string().describe('Python source code') }),
      execute: async () => '391',
    });
    const provider = () => createOpenAICompatible({ name: 'toolwise', baseURL: served.url, includeUsage: true });
    const asked = {
      system: SYSTEM,
      prompt: QUESTION,
      tools: { code_interpreter: code },
      temperature: 0,
      maxOutputTokens: 80,
      maxRetries: 0,
    };

    it('generates text with tools', async () => {
      const { steps, text, usage } = await generateText({
        ...asked,
        model: provider()('nano'),
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'none' }),
        stopWhen: stepCountIs(2),
      });
      expect(steps[0]!.toolResults.map(({ output }) => output)).toEqual(['391']);
      expect(steps[1]!.finishReason).toBe('stop');
      expect(text).not.toBe('');
      expect(usage.inputTokens).toBeGreaterThan(0);
    });

    it('streams text with tools', async () => {
      const result = streamText({
        ...asked,
        model: provider()('nano'),
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'none' }),
        stopWhen: stepCountIs(2),
        onError: () => undefined,
      });
      const kinds = new Set<string>();
      for await (const part of result.fullStream) kinds.add(part.type);
      const steps = await result.steps;
      expect(kinds).toContain('tool-call');
      expect(kinds).toContain('tool-result');
      expect(kinds).toContain('text-delta');
      expect(kinds).not.toContain('error');
      expect(steps).toHaveLength(2);
      expect((await result.usage).outputTokens).toBeGreaterThan(0);
    });

    it('sends what makes the prompt of training', async () => {
      const format = await ChatFormat.load(join(packageRoot(), 'models', 'nano'));
      const { usage } = await generateText({ ...asked, model: provider()('nano'), maxOutputTokens: 1 });
      const { name, description, parameters } = CODE.function;
      const described = { name, description: description!, parameters: parameters! };
      const prompt = format.prompt(
        [
          { role: 'system', content: SYSTEM },
          { role: 'user', content: QUESTION },
        ],
        [described],
      );
      expect(usage.inputTokens).toBe(prompt.length);
    });

    it('is told what is not offered', async () => {
      const failing = generateText({ ...asked, model: provider()('nano'), frequencyPenalty: 0.5 });
      await expect(failing).rejects.toThrow('frequency_penalty is not offered');
    });
  });

  it('runs code itself for who has the token, and nobody else', async () => {
    await expect(open({ tools: ['code_interpreter'] })).rejects.toThrow('needs a token');
    const own = await open({ tools: ['code_interpreter'], token: TOKEN });
    try {
      await expect(clientOf(own).chat.completions.create({ model, messages })).rejects.toMatchObject({ status: 401 });
      const asking = clientOf(own, TOKEN);
      const answers = await asking.chat.completions.create({ model, messages: [{ role: 'user', content: QUESTION }], n: 16, seed: 1 });
      const ran = answers.choices.flatMap(
        (choice) => (choice as unknown as { executed_tool_calls: { success: boolean; result: string }[] }).executed_tool_calls,
      );
      expect(ran.some(({ success }) => success)).toBe(true);
      expect(answers.choices.every(({ message }) => message.tool_calls === undefined)).toBe(true);
    } finally {
      await own.close();
    }
  });

  it('is evaluated as any endpoint, with its token ids', async () => {
    const out = mkdtempSync(join(tmpdir(), 'serve-eval-'));
    const lengths: number[] = [];
    try {
      const { result } = await evaluate({
        model: `openai:${served.url}#nano`,
        problems: 'calc-small',
        recipe: 'nano',
        count: 2,
        samples: 2,
        out: join(out, 'run'),
        onEvent: (event) => void (event.kind === 'trajectory' && lengths.push(event.record.trajectory.tokens.length)),
        signal: controller.signal,
      });
      expect(result.accuracy).toMatchObject({ infra: 0, samples: 4 });
      expect(lengths).toHaveLength(4);
      expect(lengths.every((length) => length > 0)).toBe(true);
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  });

  it('needs a token where others can reach it, and a free port', async () => {
    await expect(open({ host: '0.0.0.0' })).rejects.toThrow('needs a token');
    const port = Number(new URL(served.url).port);
    await expect(open({ port })).rejects.toThrow(`port ${port} of 127.0.0.1 is in use`);
    await expect(open({ model: 'openai:http://127.0.0.1:1/v1#m' })).rejects.toThrow('served already');
  });

  describe('a run', () => {
    const folder = mkdtempSync(join(tmpdir(), 'serve-test-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const at = (name: string): string => join(folder, name);

    beforeAll(async () => {
      await train({
        out: at('run'),
        log: () => undefined,
        recipe: {
          name: 'tiny',
          extends: 'nano',
          model: makeTinyModel(at('tiny')),
          tools: [],
          prompt: { system: 'Be brief.' },
          stages: ['rl'],
          engine: { threads: 1, dtype: 'float32' },
          problems: { train: { kind: 'calc-small' }, evaluation: { kind: 'calc-small', count: 2 } },
          evaluation: { samples: 1, base: false, everySteps: 0 },
          rl: { steps: 1, groupsPerStep: 2, groupSize: 2, updatesPerStep: 1, learningRate: 1e-2 },
          limits: { responseTokens: 32, turnTokens: 16, toolTokens: 8, turns: 2 },
        },
        // A random model is never right.
        reward: ({ tokens }) => ({ even: tokens.filter((id) => id % 2 === 0).length / tokens.length }),
      });
    });

    it('is served from its last checkpoint by the command, which ends cleanly when it is stopped', async () => {
      const before = TEMPORARY();
      const main = join(packageRoot(), 'src', 'cli', 'main.ts');
      const child = spawn(
        process.execPath,
        ['--import', 'tsx', main, 'serve', at('run'), '--port', '0', '--set', 'engine.threads=1', '--json'],
        {
          cwd: packageRoot(),
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
      });
      try {
        const [line] = await new Promise<string[]>((resolve) => createInterface(child.stdout).once('line', (text) => resolve([text])));
        const facts = JSON.parse(line!) as { url: string; model: string; streams: boolean };
        expect(facts).toMatchObject({ model: 'run@rl', streams: true });
        const asking = new OpenAI({ baseURL: facts.url, apiKey: 'any', maxRetries: 0 });
        const plain: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: '1+1?' }];
        const own = await asking.chat.completions.create({ model: 'run@rl', messages: plain, max_tokens: 4 });
        const given = await asking.chat.completions.create({
          model: 'run@rl',
          messages: [{ role: 'system', content: 'Be brief.' }, ...plain],
          max_tokens: 4,
        });
        expect(own.usage!.prompt_tokens).toBe(given.usage!.prompt_tokens);
      } finally {
        child.kill('SIGINT');
      }
      expect(await new Promise((resolve) => child.once('close', resolve))).toBe(130);
      expect(said).toContain('SIGINT: stopping; requests under way have three seconds.');
      expect(TEMPORARY()).toEqual(before);
    });

    it('is served as it was before training, by another name', async () => {
      const base = await open({ model: `${at('run')}@base`, name: 'before' });
      try {
        const answer = await clientOf(base).chat.completions.create({
          model: 'before',
          messages: [{ role: 'user', content: '1+1?' }],
          max_tokens: 4,
        });
        expect(answer.model).toBe('before');
        expect(base.system).toBe('');
      } finally {
        await base.close();
      }
    });
  });
});
