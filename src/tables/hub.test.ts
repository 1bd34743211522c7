import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { fetchHubFile, parseHubSource } from './hub.js';
import { readTable } from './openTable.js';
import { temporaryFolder } from './testSupport.js';

const folder = temporaryFolder();
const COMMIT = 'a'.repeat(40);
const CONTENT = '{"question": "Q?", "answer": "1"}\n';
const TOKEN = 'hf_secret';

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

interface Seen {
  readonly path: string;
  readonly authorization: string | undefined;
}

/** A server on this machine, with what it was asked. */
async function serve(
  answer: (path: string, response: ServerResponse, request: IncomingMessage) => void,
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    seen.push({ path: request.url!, authorization: request.headers.authorization });
    response.setHeader('connection', 'close');
    answer(request.url!, response, request);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const listing = (files: readonly string[]): string => JSON.stringify({ sha: COMMIT, siblings: files.map((rfilename) => ({ rfilename })) });

let homes = 0;
const options = (url: string, env: NodeJS.ProcessEnv = {}) => {
  const home = join(folder.path, `home-${homes++}`);
  return { home, env: { HF_ENDPOINT: url, HF_TOKEN: TOKEN, HF_HOME: join(home, 'hf'), ...env } };
};

describe('the address of a file on the hub', () => {
  it.each([
    ['hf:openai/gsm8k/main/test.parquet', { repository: 'openai/gsm8k', revision: 'main', path: 'main/test.parquet' }],
    ['hf:a/b/c.jsonl@v1', { repository: 'a/b', revision: 'v1', path: 'c.jsonl' }],
    ['hf:a/b@v1/c.jsonl', { repository: 'a/b', revision: 'v1', path: 'c.jsonl' }],
    ['hf:a/b/c.parquet@refs/convert/parquet', { repository: 'a/b', revision: 'refs/convert/parquet', path: 'c.parquet' }],
    ['hf://datasets/a/b@refs%2Fpr%2F1/c.jsonl', { repository: 'a/b', revision: 'refs/pr/1', path: 'c.jsonl' }],
    ['hf:a/b', { repository: 'a/b', revision: 'main', path: '' }],
  ])('is read: %s', (source, expected) => {
    expect(parseHubSource(source)).toEqual(expected);
  });

  it.each(['hf:a', 'hf:', 'hf:../x/y', 'hf:a/b/../../c', 'hf:a/b/c@../x'])('is refused where it is none: %s', (source) => {
    expect(() => parseHubSource(source)).toThrow(UserError);
  });
});

describe('a file on the hub', () => {
  it('is fetched once, by its commit; a redirect over plain http to another host is not followed', async () => {
    const store = await serve((_, response) => response.end(CONTENT));
    const hub = await serve((path, response) => {
      if (path.startsWith('/api/')) return response.end(listing(['data/x.jsonl', 'README.md']));
      const tag = createHash('sha256').update(CONTENT).digest('hex');
      response.writeHead(302, { location: `${store.url.replace('127.0.0.1', 'localhost')}/blob`, 'x-linked-etag': `"${tag}"` }).end();
    });
    // A redirect to plain http on another origin is not followed; one on the same origin is.
    const strict = options(hub.url);
    await expect(fetchHubFile('hf:a/b/data/x.jsonl', strict)).rejects.toThrow(/which is not https; that is not followed/);
    expect(store.seen).toEqual([]);

    const direct = await serve((path, response) => {
      if (path.startsWith('/api/')) return response.end(listing(['data/x.jsonl']));
      if (path === '/blob') return response.end(CONTENT);
      response.writeHead(302, { location: '/blob' }).end();
    });
    const here = options(direct.url);
    const rows = await readTable('hf:a/b/data/x.jsonl', { hub: here });
    expect(rows).toMatchObject([{ where: `hf:a/b/data/x.jsonl@${COMMIT.slice(0, 12)}:1`, values: { question: 'Q?' } }]);
    expect(direct.seen.map(({ path }) => path)).toEqual([
      '/api/datasets/a/b/revision/main',
      `/datasets/a/b/resolve/${COMMIT}/data/x.jsonl`,
      '/blob',
    ]);
    expect(direct.seen.every(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);

    await fetchHubFile('hf:a/b/data/x.jsonl', here);
    await fetchHubFile(`hf:a/b/data/x.jsonl@${COMMIT}`, here);
    expect(direct.seen).toHaveLength(3);
  });

  it('is the only table where the address names none', async () => {
    const hub = await serve((path, response) => response.end(path.startsWith('/api/') ? listing(['x.jsonl', 'README.md']) : CONTENT));
    expect((await fetchHubFile('hf:a/b', options(hub.url))).name).toMatch(/^hf:a\/b\/x\.jsonl@a+$/);
    const two = await serve((_, response) => response.end(listing(['x.jsonl', 'y.parquet'])));
    await expect(fetchHubFile('hf:a/b', options(two.url))).rejects.toThrow(/which file of a\/b\? It has: x\.jsonl, y\.parquet/);
    await expect(fetchHubFile('hf:a/b/z.jsonl', options(two.url))).rejects.toThrow(/has no file z\.jsonl; it has: x\.jsonl, y\.parquet/);
  });

  it.each([
    [401, { 'x-error-code': 'GatedRepo' }, /^the data set a\/b is gated$/],
    [403, {}, /^the data set a\/b is gated$/],
    [401, {}, /is gated, private, or not there/],
    [404, { 'x-error-code': 'RevisionNotFound' }, /has no such revision/],
    [404, {}, /there is no data set a\/b/],
    [418, {}, /answers HTTP 418/],
  ])('that is refused is one sentence, without the token: %s %j', async (status, headers, message) => {
    const hub = await serve((_, response) => response.writeHead(status, headers as Record<string, string>).end('no'));
    const error: unknown = await fetchHubFile('hf:a/b/x.jsonl', options(hub.url, { HF_TOKEN: '' })).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toMatch(message);
    if (status === 401) expect((error as UserError).hint).toMatch(/set HF_TOKEN to a token of your account/);
    const withToken: unknown = await fetchHubFile('hf:a/b/x.jsonl', options(hub.url)).catch((e: unknown) => e);
    expect(JSON.stringify([(withToken as UserError).message, (withToken as UserError).hint])).not.toContain(TOKEN);
  });

  it('is tried again where the hub is busy', async () => {
    let asked = 0;
    const hub = await serve((path, response) => {
      if (asked++ === 0) return response.writeHead(503).end();
      response.end(path.startsWith('/api/') ? listing(['x.jsonl']) : CONTENT);
    });
    await fetchHubFile('hf:a/b/x.jsonl', options(hub.url));
    expect(asked).toBe(3);
  });

  it('that came in part or changed is not kept', async () => {
    const hub = await serve((path, response) => {
      if (path.startsWith('/api/')) return response.end(listing(['x.jsonl']));
      response.writeHead(200, { 'x-linked-etag': `"${'0'.repeat(64)}"` }).end(CONTENT);
    });
    const here = options(hub.url);
    await expect(fetchHubFile('hf:a/b/x.jsonl', here)).rejects.toThrow(/broke off: its hash is/);
    expect(readdirSync(join(here.home, 'datasets', 'a--b', COMMIT))).toEqual([]);
  });

  it('is taken from the cache of the Hugging Face libraries, and offline from there alone', async () => {
    const here = options('http://127.0.0.1:9', { HF_HUB_OFFLINE: '1' });
    const root = join(here.home, 'hf', 'hub', 'datasets--a--b');
    mkdirSync(join(root, 'refs'), { recursive: true });
    mkdirSync(join(root, 'snapshots', COMMIT), { recursive: true });
    writeFileSync(join(root, 'refs', 'main'), COMMIT);
    writeFileSync(join(root, 'snapshots', COMMIT, 'x.jsonl'), CONTENT);
    expect(await readTable('hf:a/b/x.jsonl', { hub: here })).toHaveLength(1);
    await expect(fetchHubFile('hf:a/b/y.jsonl', here)).rejects.toThrow(/is not on this machine, and HF_HUB_OFFLINE is set/);
  });
});
