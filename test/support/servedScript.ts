/** A served model whose turns are given: the routes over a socket, without an engine. For tests of what clients see. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatFormat } from '../../src/chat/chatFormat.js';
import type { CompletionSettings } from '../../src/completions/complete.js';
import { TokenHistory } from '../../src/completions/history.js';
import type { Sample, SampleRequest, Sampler } from '../../src/engine/sampler.js';
import { type AppOptions, type ServedModel, serveApp } from '../../src/serve/app.js';
import { listen } from '../../src/serve/listener.js';
import { type Script, scriptedSampler } from './scriptedSampler.js';

export interface ServedScript {
  /** Ends in `/v1`. */
  readonly url: string;
  readonly name: string;
  readonly requests: SampleRequest[];
  /** Samples that were given up. */
  readonly cancelled: number;
  readonly failures: unknown[];
  close(): Promise<void>;
}

export interface ServeScriptOptions {
  readonly app?: Partial<AppOptions>;
  readonly model?: Partial<ServedModel>;
  readonly settings?: Partial<CompletionSettings>;
  /** Tokens of a part of a stream; absent: the sampler gives whole samples only. */
  readonly partTokens?: number;
  /** Between two parts. */
  readonly pauseMs?: number;
}

export async function serveScript(format: ChatFormat, script: Script, options: ServeScriptOptions = {}): Promise<ServedScript> {
  const scripted = scriptedSampler(format, script);
  const state = { cancelled: 0, failures: [] as unknown[] };
  const { partTokens, pauseMs = 0 } = options;
  const stream: NonNullable<Sampler['stream']> = async (request, onPart, signal) => {
    const sample: Sample = await scripted.sample(request);
    for (let at = 0; at < sample.tokens.length; at += partTokens!) {
      await sleep(pauseMs);
      if (signal?.aborted) {
        state.cancelled++;
        throw signal.reason;
      }
      onPart?.({ tokens: sample.tokens.slice(at, at + partTokens!), logProbs: sample.logProbs.slice(at, at + partTokens!) });
    }
    return sample;
  };
  const settings: CompletionSettings = {
    sampler: partTokens === undefined ? scripted : { ...scripted, stream },
    format,
    history: new TokenHistory(format),
    contextTokens: 2000,
    ...options.settings,
  };
  const ending = new AbortController();
  const app = serveApp({
    model: { name: 'scripted', created: 1, settings, system: '', ...options.model },
    maxRequests: 8,
    ending: ending.signal,
    onFailure: (error) => state.failures.push(error),
    ...options.app,
  });
  const listener = await listen(app.fetch, '127.0.0.1', 0);
  return {
    url: `${listener.url}/v1`,
    name: 'scripted',
    requests: scripted.requests,
    get cancelled() {
      return state.cancelled;
    },
    failures: state.failures,
    close: () => listener.close(ending, 0),
  };
}
