import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startHeartbeat } from './heartbeat.js';

/** A server in a process of its own: this one will be busy. Counts posts; answers with the status it is started with. */
const SERVER = `
let count = 0;
const server = require('node:http').createServer((request, response) => {
  if (request.method === 'POST') { count++; response.writeHead(Number(process.argv[1])); response.end('{}'); }
  else response.end(String(count));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit());
`;

async function counter(status: number): Promise<{ url: string; count(): Promise<number>; stop(): Promise<void> }> {
  const child = spawn(process.execPath, ['-e', SERVER, String(status)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${line.toString().trim()}/`;
  return {
    url,
    count: async () => Number(await (await fetch(url)).text()),
    stop: async () => {
      const closed = once(child, 'close');
      child.stdin.end();
      await closed;
    },
  };
}

describe('a heartbeat', () => {
  it('misses no beat while the main thread computes', async () => {
    const server = await counter(200);
    const events: string[] = [];
    const options = {
      sessionId: 's',
      everyMs: 20,
      silenceMs: 60_000,
      onDropped: () => events.push('dropped'),
      onSilent: () => events.push('silent'),
    };
    const stop = startHeartbeat({ ...options, url: server.url });
    while ((await server.count()) === 0) await sleep(20);
    const before = await server.count();
    const until = performance.now() + 800;
    while (performance.now() < until);
    // What arrived while nothing of this thread ran.
    expect((await server.count()) - before).toBeGreaterThan(5);
    await stop();
    const ended = await server.count();
    await sleep(100);
    expect(await server.count()).toBe(ended);
    expect(events).toEqual([]);
    await server.stop();
  });

  it('tells that the server has dropped the session', async () => {
    const server = await counter(404);
    const dropped = new Promise<void>((resolve) => {
      const stop = startHeartbeat({
        url: server.url,
        sessionId: 's',
        everyMs: 20,
        silenceMs: 60_000,
        onDropped: () => void stop().then(resolve),
        onSilent: () => undefined,
      });
    });
    await dropped;
    await server.stop();
  });
});
