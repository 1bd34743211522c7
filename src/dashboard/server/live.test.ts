import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LiveEvent, RunSummary } from '../api.js';
import { Catalogue } from './catalogue.js';
import { Live } from './live.js';
import { type Served, serveDashboard } from './serve.js';
import { type Asked, Place, play } from './testSupport.js';

let place: Place;
let server: Asked;
let listeners: Listener[];
const FAST = { pollMs: 15, heartbeatMs: 40, lingerMs: 10_000 };
beforeEach(() => {
  place = new Place();
  server = place.serve({ live: FAST });
  listeners = [];
});
afterEach(async () => {
  for (const listener of listeners) await listener.leave();
  place.clean();
});

interface Told {
  readonly id: string;
  readonly event: LiveEvent;
}

/** A client of the events, as a browser's EventSource. */
class Listener {
  readonly told: Told[] = [];
  heartbeats = 0;
  retry: string | undefined;
  #rest = '';
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(response: Response) {
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    this.#reader = response.body!.getReader();
    listeners.push(this);
  }

  /** Reads until it is so. @returns whether the stream goes on */
  async until(so: () => boolean): Promise<boolean> {
    while (!so()) {
      const { value, done } = await this.#reader.read();
      if (done) return false;
      this.#rest += new TextDecoder().decode(value);
      const frames = this.#rest.split('\n\n');
      this.#rest = frames.pop()!;
      for (const frame of frames) this.#take(frame);
    }
    return true;
  }

  event(kind: LiveEvent['kind']): LiveEvent | undefined {
    return this.told.find(({ event }) => event.kind === kind)?.event;
  }

  count(kind: LiveEvent['kind']): number {
    return this.told.filter(({ event }) => event.kind === kind).length;
  }

  leave(): Promise<void> {
    return this.#reader.cancel().catch(() => undefined);
  }

  #take(frame: string): void {
    if (frame.startsWith(':')) this.heartbeats++;
    else if (frame.startsWith('retry: ')) this.retry = frame;
    else {
      const [, id, data] = /^id: (.+)\ndata: (.+)$/.exec(frame)!;
      this.told.push({ id: id!, event: JSON.parse(data!) as LiveEvent });
    }
  }
}

const listen = async (lastId?: string): Promise<Listener> =>
  new Listener(await server.response('/api/events', lastId === undefined ? {} : { headers: { 'last-event-id': lastId } }));

describe('live events', () => {
  it('tell steps, evaluations and notes of a run as they are written, and that it ended', async () => {
    const writer = place.writer('run');
    play(writer, 1);
    const listener = await listen();
    await listener.until(() => listener.count('runs') === 1);
    expect(listener.retry).toBeDefined();
    writer.sink({ kind: 'note', level: 'warning', text: 'entropy is falling' });
    play(writer, 2, 1);
    await listener.until(
      () => listener.count('steps') === 2 && listener.event('evaluation') !== undefined && listener.event('note') !== undefined,
    );
    expect(listener.told.filter(({ event }) => event.kind === 'steps').map(({ event }) => event)).toEqual([
      { kind: 'steps', run: 'run', stage: 'rl', step: 1, metrics: { 'reward/total': 0.1, 'loss/kl': null } },
      { kind: 'steps', run: 'run', stage: 'rl', step: 2, metrics: { 'reward/total': 0.2, 'loss/kl': null } },
    ]);
    expect(listener.event('evaluation')).toEqual({
      kind: 'evaluation',
      run: 'run',
      evaluation: { name: 'greedy', stage: 'rl', step: 3, metrics: { accuracy: 1 } },
    });
    expect(listener.event('note')).toEqual({ kind: 'note', run: 'run', level: 'warning', text: 'entropy is falling' });
    writer.sink({ kind: 'stageEnded', stage: 'rl', seconds: 1 });
    writer.close();
    await listener.until(() => listener.count('runs') >= 2);
    const state = async (): Promise<string> => (await server.json<RunSummary[]>('/api/runs'))[0]!.state;
    expect(await state()).toBe('ended');
    expect(new Set(listener.told.map(({ id }) => id)).size).toBe(listener.told.length);
  });

  it('tell that a run came and went', async () => {
    const listener = await listen();
    place.run('new');
    await listener.until(() => listener.count('runs') >= 2);
    const before = listener.count('runs');
    rmSync(join(place.folder, 'new'), { recursive: true });
    await listener.until(() => listener.count('runs') > before);
    expect(await server.json('/api/runs')).toEqual([]);
  });

  it('say that the client should load anew where a run was rolled back', async () => {
    const writer = place.writer('run');
    play(writer, 5);
    const listener = await listen();
    writer.rollbackAfter('rl', 2);
    await listener.until(() => listener.event('reset') !== undefined);
  });

  it('keep a silent connection open by signs of life', async () => {
    const listener = await listen();
    await listener.until(() => listener.heartbeats >= 2);
  });
});

describe('more notes than anybody reads', () => {
  it('are loaded anew and not told one by one', async () => {
    const writer = place.writer('run');
    play(writer, 1);
    const listener = await listen();
    for (let i = 0; i < 150; i++) writer.sink({ kind: 'note', level: 'info', text: `${i}` });
    await listener.until(() => listener.event('reset') !== undefined);
  });
});

describe('a lost connection', () => {
  it('goes on where it was: nothing is missed, nothing comes twice', async () => {
    const writer = place.writer('run');
    play(writer, 1);
    const first = await listen();
    play(writer, 1, 1);
    await first.until(() => first.count('steps') === 1 && first.event('evaluation') !== undefined);
    const { id } = first.told.at(-1)!;
    await first.leave();
    play(writer, 3, 2);
    const second = await listen(id);
    await second.until(() => second.count('steps') === 3);
    const steps = second.told.flatMap(({ event }) => (event.kind === 'steps' ? [event.step] : []));
    expect(steps).toEqual([2, 3, 4]);
    expect(second.event('reset')).toBeUndefined();
  });

  it.each(['other-1', 'nonsense', '-', 'x-99999'])('with an id of another server (%s) is told to load anew', async (id) => {
    const listener = await listen(id);
    await listener.until(() => listener.told.length > 0);
    expect(listener.told[0]!.event).toEqual({ kind: 'reset' });
  });

  it('that comes after more events than are held is told to load anew', async () => {
    const writer = place.writer('run');
    play(writer, 1);
    const first = await listen();
    await first.until(() => first.told.length > 0);
    const { id } = first.told[0]!;
    await first.leave();
    const listener = await listen();
    for (let n = 0; n < 45; n++) {
      for (let i = 0; i < 60; i++) writer.sink({ kind: 'note', level: 'info', text: `note ${n} ${i}` });
      await listener.until(() => listener.count('note') >= 60 * (n + 1));
    }
    const late = await listen(id);
    await late.until(() => late.told.length > 0);
    expect(late.told[0]!.event).toEqual({ kind: 'reset' });
  });
});

describe('many clients', () => {
  it('are told the same, by one watcher; one that does not read holds up nobody and is told to load anew', async () => {
    const catalogue = place.keep(new Catalogue(place.folder));
    const live = place.keep(new Live(catalogue, FAST));
    const writer = place.writer('run');
    play(writer, 1);
    const readers = await Promise.all(Array.from({ length: 20 }, async () => new Listener(await live.connect(undefined))));
    const idle = new Listener(await live.connect(undefined));
    expect(live.clients).toBe(21);
    for (let n = 0; n < 8; n++) {
      for (let i = 0; i < 80; i++) writer.sink({ kind: 'note', level: 'info', text: `${n} ${i}` });
      await Promise.all(readers.map((reader) => reader.until(() => reader.count('note') >= 80 * (n + 1))));
    }
    await idle.until(() => idle.event('reset') !== undefined);
    expect(idle.told.length).toBeLessThan(600);
    for (const reader of readers) expect(reader.told.map(({ id }) => id)).toEqual(readers[0]!.told.map(({ id }) => id));
    for (const listener of [...readers, idle]) await listener.leave();
    expect(live.clients).toBe(0);
  });
});

describe('over a real connection', () => {
  let served: Served | undefined;
  afterEach(async () => served?.close());

  it('a client that has gone is let go of', async () => {
    const live = place.keep(new Live(place.keep(new Catalogue(place.folder)), FAST));
    const port = await new Promise<number>((resolve) => {
      const listening = serve({ fetch: () => live.connect(undefined), port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port));
      place.keep({ close: () => listening.close() });
    });
    const control = new AbortController();
    const listener = new Listener(await fetch(`http://127.0.0.1:${port}/`, { signal: control.signal }));
    await listener.until(() => listener.heartbeats > 0);
    expect(live.clients).toBe(1);
    control.abort();
    while (live.clients > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  it('the server ends though clients are connected', async () => {
    served = await serveDashboard({ folder: place.folder, assets: place.folder });
    const listener = new Listener(await fetch(`${served.address}api/events`));
    await listener.until(() => listener.told.length > 0);
    await served.close();
    served = undefined;
    expect(await listener.until(() => false).catch(() => false)).toBe(false);
  });
});
