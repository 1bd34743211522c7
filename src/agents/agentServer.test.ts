/** The recording endpoint against whoever may call it: strangers, the wrong key, pages in a browser, ended rollouts, huge bodies. */
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentServer, type OpenedRollout, type Posted } from './agentServer.js';
import { Recording } from './recording.js';
import { inputOf, nanoFormat, scripted, settingsOf } from './testSupport.js';

const format = await nanoFormat();
let server: AgentServer;
let rollout: OpenedRollout;
let ends: Posted[];
let failures: string[];

beforeEach(async () => {
  failures = [];
  ends = [];
  server = await AgentServer.open((text) => failures.push(text));
  const sampler = scripted(format, () => 'yes');
  const settings = settingsOf({ format, sampler });
  const never = (): never => {
    throw new Error('not meant to happen');
  };
  const recording = new Recording({
    settings,
    input: inputOf(),
    signal: new AbortController().signal,
    onNotice: never,
    onLimit: never,
    onFailure: never,
  });
  rollout = server.rollout({ modelId: 'nano', recording, settings: { sampler, format }, onEnd: (end) => ends.push(end) });
});
afterEach(() => server.close());

const CHAT = JSON.stringify({ model: 'nano', messages: [{ role: 'user', content: 'x' }] });

interface Given {
  readonly method?: string;
  readonly key?: string | undefined;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

async function send(url: string, { method = 'POST', key = rollout.apiKey, body, headers }: Given = {}) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers },
    ...(body !== undefined && { body }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the wire's JSON
  return { status: response.status, body: (await response.json()) as any };
}

/** With a host of its own choosing, which fetch does not allow. */
const withHost = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { port, pathname } = new URL(`${rollout.baseUrl}/models`);
    request({ host: '127.0.0.1', port, path: pathname, headers: { host, authorization: `Bearer ${rollout.apiKey}` } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on('error', reject)
      .end();
  });

describe('who may call', () => {
  it('is who has the key of this very rollout', async () => {
    const url = `${rollout.baseUrl}/chat/completions`;
    expect((await send(url, { body: CHAT })).body.choices[0].message.content).toBe('yes');
    for (const key of ['', 'wrong', `${rollout.apiKey}x`]) {
      const refused = await send(url, { body: CHAT, key });
      expect([refused.status, refused.body.error.code]).toEqual([401, 'invalid_api_key']);
    }
    const unknown = await send(url.replace(/rollouts\/[^/]+/, 'rollouts/other'), { body: CHAT });
    expect(unknown.status).toBe(404);
  });

  it('is no page in a browser, and nobody by another name', async () => {
    expect((await send(`${rollout.baseUrl}/models`, { method: 'GET', headers: { origin: 'http://localhost:3000' } })).status).toBe(403);
    const { port } = new URL(rollout.url);
    expect(await withHost(`127.0.0.1:${port}`)).toBe(200);
    expect(await withHost(`localhost:${port}`)).toBe(200);
    expect(await withHost('evil.example')).toBe(403);
    expect(await withHost('127.0.0.1.evil.example')).toBe(403);
  });
});

describe('what is not there', () => {
  it('is told as such', async () => {
    expect((await send(`${rollout.baseUrl}/models`, { method: 'GET' })).body.data).toMatchObject([{ id: 'nano' }]);
    expect((await send(`${rollout.baseUrl}/responses`, { body: '{}' })).body.error.message).toContain('chat completions');
    expect((await send(`${rollout.baseUrl}/embeddings`, { body: '{}' })).status).toBe(404);
    expect((await send(`${new URL(rollout.url).origin}/`, { method: 'GET' })).status).toBe(404);
  });
});

describe('the end of a rollout', () => {
  it('is taken once: the first stands, a second is refused', async () => {
    const end = `${rollout.url}/end`;
    expect((await send(end, { body: '{"answer":"12","reward":1}' })).body).toEqual({ ended: true });
    const second = await send(end, { body: '{"answer":"13"}' });
    expect([second.status, second.body.error.code]).toEqual([409, 'ended_already']);
    expect(ends).toEqual([{ kind: 'answer', answer: { answer: '12', reward: 1 } }]);
  });

  it('is refused where it is none, and may then be posted right', async () => {
    const end = `${rollout.url}/end`;
    for (const body of ['', '[]', '{}', '{"answer":1}', '{"reward":"much"}', '{"reward":{"a":null}}', '{"reward":1e999}', 'no JSON']) {
      expect([body, (await send(end, { body })).status]).toEqual([body, 400]);
    }
    expect((await send(end, { body: CHAT, headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect((await send(end, { body: JSON.stringify({ answer: 'x'.repeat(2 ** 20) }) })).status).toBe(413);
    expect((await send(end, { body: '{"answer":"12"}', key: 'wrong' })).status).toBe(401);
    expect(ends).toEqual([]);
    expect((await send(end, { body: '{"error":"no more paper"}' })).status).toBe(200);
    expect(ends).toEqual([{ kind: 'error', error: 'no more paper' }]);
  });

  it('leaves nothing at its address, neither for calls nor for a second end', async () => {
    rollout.close();
    for (const url of [`${rollout.baseUrl}/chat/completions`, `${rollout.url}/end`]) {
      const late = await send(url, { body: CHAT });
      expect([late.status, late.body.error.code]).toEqual([410, 'rollout_ended']);
    }
    expect(failures).toEqual([]);
  });
});

describe('bodies', () => {
  it('of a call are read up to a size', async () => {
    const url = `${rollout.baseUrl}/chat/completions`;
    const huge = JSON.stringify({ model: 'nano', messages: [{ role: 'user', content: 'x'.repeat(17 * 2 ** 20) }] });
    expect((await send(url, { body: huge })).status).toBe(413);
    expect((await send(url, { body: '{"model":"nano"}' })).status).toBe(400);
  });
});
