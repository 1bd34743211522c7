/**
 * How much of an engine's tokens a second come through `serve`: the same requests, with the same seeds, at the engine's own wire and as
 * streams over HTTP, in turns on one engine. The clients of the streams run in this process too, beside the server.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChatFormat } from '../chat/chatFormat.js';
import type { ChatCall } from '../completions/chatCall.js';
import { TokenHistory } from '../completions/history.js';
import { startEmbeddedEngine } from '../engine/embedded.js';
import type { Sampler } from '../engine/sampler.js';
import { serveApp } from '../serve/app.js';
import { listen } from '../serve/listener.js';
import { median } from './peers.js';

export interface ServeWorkload {
  readonly model: string;
  readonly folder: string;
  readonly dtype: 'float32' | 'bfloat16';
  /** At once. */
  readonly streams: number;
  /** In all, of one measurement. */
  readonly requests: number;
  readonly maxTokens: number;
  readonly rounds: number;
}

/** Tokens a second, medians over the rounds. */
export interface ServeFigures {
  readonly engine: number;
  readonly streamed: number;
  readonly whole: number;
  /** Seconds until a stream's first text, median. */
  readonly firstText: number;
}

interface Asked {
  readonly tokens: number;
  readonly firstText?: number;
}

export async function benchmarkServe(work: ServeWorkload): Promise<ServeFigures> {
  const { model, folder, dtype, streams, rounds } = work;
  const own = await mkdtemp(join(tmpdir(), 'toolwise-bench-serve-'));
  const ending = new AbortController();
  const engine = await startEmbeddedEngine({
    models: { [model]: folder },
    checkpoints: join(own, 'checkpoints'),
    logFile: join(own, 'engine.log'),
    dtype,
  });
  try {
    const format = await ChatFormat.load(folder);
    const sampler = await engine.baseSampler(model);
    const settings = { sampler, format, history: new TokenHistory(format) };
    const app = serveApp({
      model: { name: model, created: 0, settings, system: '' },
      maxRequests: streams,
      ending: ending.signal,
      onFailure: (error) => {
        throw error;
      },
    });
    const listener = await listen(app.fetch, '127.0.0.1', 0);
    const url = `${listener.url}/v1/chat/completions`;
    try {
      const ways = {
        engine: (i: number) => askEngine(sampler, format, work, i),
        streamed: (i: number) => askServer(url, work, i, true),
        whole: (i: number) => askServer(url, work, i, false),
      };
      await allAtOnce(streams, streams, ways.engine);
      const speeds = { engine: [] as number[], streamed: [] as number[], whole: [] as number[] };
      const firstTexts: number[] = [];
      for (let round = 0; round < rounds; round++) {
        // There and back, so that a machine that grows slower or faster does so for all.
        for (const way of ['engine', 'streamed', 'whole', 'whole', 'streamed', 'engine'] as const) {
          const began = performance.now();
          const done = await allAtOnce(work.requests, streams, ways[way]);
          const tokens = done.reduce((sum, asked) => sum + asked.tokens, 0);
          speeds[way].push(tokens / ((performance.now() - began) / 1000));
          for (const { firstText } of done) if (firstText !== undefined) firstTexts.push(firstText);
        }
      }
      return {
        engine: median(speeds.engine),
        streamed: median(speeds.streamed),
        whole: median(speeds.whole),
        firstText: median(firstTexts),
      };
    } finally {
      AGENT.destroy();
      await listener.close(ending, 0);
    }
  } finally {
    await engine.close();
    await rm(own, { recursive: true, force: true });
  }
}

/** Runs so many, never more than `places` at a time. */
async function allAtOnce(count: number, places: number, run: (i: number) => Promise<Asked>): Promise<Asked[]> {
  const done: Asked[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(places, count) }, async () => {
      while (next < count) done.push(await run(next++));
    }),
  );
  return done;
}

const questionOf = (i: number): ChatCall['messages'] => [{ role: 'user', content: `Tell me all that you know about the number ${i}.` }];

async function askEngine(sampler: Sampler, format: ChatFormat, { maxTokens }: ServeWorkload, i: number): Promise<Asked> {
  const { tokens } = await sampler.sample({
    prompt: format.prompt(questionOf(i), []),
    maxTokens,
    temperature: 1,
    topP: 1,
    seed: i,
    stopTokenIds: format.stopTokenIds,
  });
  return { tokens: tokens.length };
}

/** By Node's own client, which costs less than `fetch`: it shares the machine with what is measured. */
function askServer(url: string, { model, maxTokens }: ServeWorkload, i: number, stream: boolean): Promise<Asked> {
  const began = performance.now();
  const usage = { stream_options: { include_usage: true } };
  const body = JSON.stringify({ model, messages: questionOf(i), max_tokens: maxTokens, seed: i, stream, ...(stream && usage) });
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent: AGENT, headers: { 'content-type': 'application/json' } }, (answer) => {
      let firstText: number | undefined;
      let last = '';
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => {
        last = last.slice(-TAIL) + text;
        if (firstText === undefined && /"content":"[^"]/.test(text)) firstText = (performance.now() - began) / 1000;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        const tokens = Number(/"completion_tokens":(\d+)/.exec(last)?.[1]);
        resolve({ tokens, ...(stream && firstText !== undefined && { firstText }) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const AGENT = new Agent({ keepAlive: true });
/** The usage stands in the last characters. */
const TAIL = 600;
