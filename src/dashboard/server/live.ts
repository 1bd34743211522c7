/**
 * What happens in the runs while they are shown, as server-sent events. One watcher looks at the files of all runs for all clients, as long
 * as there are any; each client has a bounded queue, and who falls behind is told to load anew. Events have ids, so that a client that
 * lost its connection gets what it missed, as far as that is still held.
 */
import { randomBytes } from 'node:crypto';
import type { Stage } from '../../domain/event.js';
import { isBeingWritten } from '../../runs/lock.js';
import type { EvaluationSummary, LiveEvent } from '../api.js';
import type { Catalogue } from './catalogue.js';
import { stampOf } from './openRuns.js';
import type { RunView } from './runView.js';
import { evaluationsOf, metricsOf, progressOf } from './summary.js';

interface Sent {
  readonly number: number;
  readonly event: LiveEvent;
}

/** What is known of a run; everything after it is news. */
interface Seen {
  readonly stamp: string;
  readonly running: boolean;
  readonly done: ReadonlyMap<Stage, number>;
  readonly evaluations: ReadonlyMap<string, string>;
  readonly note: number;
  /** Stages begun and ended. */
  readonly stages: string;
}

export interface LiveOptions {
  readonly pollMs?: number;
  readonly heartbeatMs?: number;
  /** The watcher outlives the last client for so long, so that a lost connection loses no event. */
  readonly lingerMs?: number;
}

/** Looks at runs before the folders are looked through for new ones. */
const FOLDERS_EVERY = 3;
const HELD_EVENTS = 2_000;
const QUEUED_EVENTS = 500;
/** Steps of a stage, or notes, that are told one by one; more are loaded anew. */
const MOST_AT_ONCE = 100;

export class Live {
  readonly #catalogue: Catalogue;
  readonly #pollMs: number;
  readonly #heartbeatMs: number;
  readonly #lingerMs: number;
  readonly #clients = new Set<Client>();
  /** Ids of another watcher mean nothing to this one. */
  #epoch = randomBytes(6).toString('hex');
  #number = 0;
  #held: Sent[] = [];
  #seen: Map<string, Seen> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stop: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(catalogue: Catalogue, { pollMs = 1_000, heartbeatMs = 15_000, lingerMs = 120_000 }: LiveOptions = {}) {
    this.#catalogue = catalogue;
    this.#pollMs = pollMs;
    this.#heartbeatMs = heartbeatMs;
    this.#lingerMs = lingerMs;
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** @param lastId of the last event that the client has, as it was sent */
  async connect(lastId: string | undefined): Promise<Response> {
    const client = new Client(this.#heartbeatMs, () => this.#leave(client));
    if (this.#seen === undefined) await this.#begin();
    clearTimeout(this.#stop);
    this.#stop = undefined;
    this.#clients.add(client);
    if (lastId === undefined) client.send(`id: ${this.#id(this.#number)}\ndata: ${JSON.stringify({ kind: 'runs' })}\n\n`);
    else this.#resume(client, lastId);
    if (this.#timer === undefined) this.#schedule();
    return client.response;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#stop);
    for (const client of this.#clients) client.end();
    this.#clients.clear();
  }

  #leave(client: Client): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0 || this.#closed) return;
    this.#stop = setTimeout(() => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#seen = undefined;
      this.#held = [];
      this.#epoch = randomBytes(6).toString('hex');
    }, this.#lingerMs);
    this.#stop.unref();
  }

  #resume(client: Client, lastId: string): void {
    const [epoch, text] = lastId.split('-');
    const number = Number(text);
    const first = this.#held[0]?.number ?? this.#number + 1;
    if (epoch !== this.#epoch || !Number.isInteger(number) || number > this.#number || number < first - 1) {
      client.send(`id: ${this.#id(this.#number)}\ndata: ${JSON.stringify({ kind: 'reset' })}\n\n`);
      return;
    }
    for (const sent of this.#held) if (sent.number > number) client.send(this.#frame(sent));
  }

  #emit(event: LiveEvent): void {
    const sent = { number: ++this.#number, event };
    this.#held.push(sent);
    if (this.#held.length > HELD_EVENTS) this.#held = this.#held.slice(-HELD_EVENTS / 2);
    const frame = this.#frame(sent);
    const reset = this.#frame({ number: sent.number, event: { kind: 'reset' } });
    for (const client of this.#clients) client.send(frame, reset);
  }

  readonly #id = (number: number): string => `${this.#epoch}-${number}`;
  readonly #frame = ({ number, event }: Sent): string => `id: ${this.#id(number)}\ndata: ${JSON.stringify(event)}\n\n`;

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      try {
        await this.#look();
      } finally {
        if (!this.#closed && this.#seen !== undefined) this.#schedule();
      }
    }, this.#pollMs);
    this.#timer.unref();
  }

  async #begin(): Promise<void> {
    this.#seen = new Map();
    for (const [id, run] of this.#catalogue.folder.runs()) {
      const seen = await this.#observe(id, run.folder);
      this.#seen.set(id, seen);
    }
  }

  async #look(): Promise<void> {
    const before = this.#seen;
    if (before === undefined) return;
    const now = new Map<string, Seen>();
    let listChanged = false;
    for (const [id, { folder }] of this.#catalogue.folder.runs(FOLDERS_EVERY * this.#pollMs)) {
      const old = before.get(id);
      const { stamp } = stampOf(folder);
      // a run that is being written may stop without a word
      const same = old?.stamp === stamp && (!old.running || isBeingWritten(folder));
      const seen = same ? old : await this.#observe(id, folder);
      now.set(id, seen);
      if (!old) listChanged = true;
      else if (!same) {
        if (old.running !== seen.running || old.stages !== seen.stages) listChanged = true;
        await this.#tell(id, old, seen);
      }
    }
    for (const id of before.keys()) if (!now.has(id)) listChanged = true;
    if (this.#seen === before) this.#seen = now;
    if (listChanged) this.#emit({ kind: 'runs' });
  }

  async #observe(id: string, folder: string): Promise<Seen> {
    const { stamp } = stampOf(folder);
    const running = isBeingWritten(folder);
    const nothing = { stamp, running, done: new Map(), evaluations: new Map(), note: 0, stages: '' };
    try {
      return await this.#catalogue.use(id, (view) => {
        const stages = progressOf(view);
        return {
          stamp,
          running,
          done: new Map(stages.map(({ stage, done }) => [stage, done])),
          evaluations: new Map(evaluationsOf(view).map((one) => [keyOf(one), JSON.stringify(one)])),
          note: (view.db.prepare('SELECT max(id) FROM notes').pluck().get() as number | null) ?? 0,
          stages: stages.map(({ stage, endedAt }) => `${stage} ${endedAt}`).join(),
        };
      });
    } catch {
      return nothing;
    }
  }

  async #tell(run: string, old: Seen, seen: Seen): Promise<void> {
    const fresh = [...seen.done].map(([stage, done]) => ({ stage, from: old.done.get(stage) ?? 0, to: done }));
    const rolledBack = fresh.some(({ from, to }) => to < from) || [...old.done.keys()].some((stage) => !seen.done.has(stage));
    if (rolledBack || fresh.some(({ from, to }) => to - from > MOST_AT_ONCE) || seen.note - old.note > MOST_AT_ONCE) {
      this.#emit({ kind: 'reset' });
      return;
    }
    try {
      const events = await this.#catalogue.use(run, (view) => eventsOf(run, view, old, seen, fresh));
      for (const event of events) this.#emit(event);
    } catch {
      // gone, or not to be read now: the next look tells
    }
  }
}

function eventsOf(
  run: string,
  view: RunView,
  old: Seen,
  seen: Seen,
  fresh: readonly { readonly stage: Stage; readonly from: number; readonly to: number }[],
): LiveEvent[] {
  const events: LiveEvent[] = [];
  for (const { stage, from, to } of fresh) {
    for (let step = from; step < to; step++)
      events.push({ kind: 'steps', run, stage, step, metrics: metricsOf(view, stage, step) as never });
  }
  for (const [key, text] of seen.evaluations) {
    if (old.evaluations.get(key) !== text) events.push({ kind: 'evaluation', run, evaluation: JSON.parse(text) as EvaluationSummary });
  }
  const notes = view.db.prepare('SELECT level, text FROM notes WHERE id > ? AND id <= ? ORDER BY id').all(old.note, seen.note);
  for (const note of notes as { level: 'info' | 'warning'; text: string }[]) events.push({ kind: 'note', run, ...note });
  return events;
}

const keyOf = ({ stage, step, name }: EvaluationSummary): string => JSON.stringify([stage, step, name]);

/** One open connection. */
class Client {
  readonly response: Response;
  #queue: string[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #onLeave: () => void;

  constructor(heartbeatMs: number, onLeave: () => void) {
    this.#onLeave = onLeave;
    this.send('retry: 2000\n\n');
    const encoder = new TextEncoder();
    const stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          while (this.#queue.length === 0 && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve));
          const frame = this.#queue.shift();
          if (frame !== undefined) controller.enqueue(encoder.encode(frame));
          else controller.close();
        },
        cancel: () => this.#finish(),
      },
      { highWaterMark: 0 },
    );
    this.#heartbeat = setInterval(() => {
      if (this.#queue.length === 0) this.send(': still here\n\n');
    }, heartbeatMs);
    this.#heartbeat.unref();
    this.response = new Response(stream, {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    });
  }

  /** @param reset what takes the place of everything that waits, where that has become too much */
  send(frame: string, reset?: string): void {
    if (this.#ended) return;
    if (reset !== undefined && this.#queue.length >= QUEUED_EVENTS) this.#queue = [reset];
    else this.#queue.push(frame);
    this.#wake?.();
    this.#wake = undefined;
  }

  end(): void {
    this.#ended = true;
    clearInterval(this.#heartbeat);
    this.#wake?.();
  }

  #finish(): void {
    this.end();
    this.#queue = [];
    this.#onLeave();
  }
}
