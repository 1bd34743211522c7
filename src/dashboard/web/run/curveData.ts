/**
 * The metrics of one stage of one run: fetched once, then kept true by live events, in bounded memory. Where a person looks closely at a
 * part of a decimated run, that part is fetched anew. Tells its listeners that something changed; renders nothing.
 */
import type { Stage } from '../../../domain/event.js';
import type { LiveEvent, Series } from '../../api.js';
import { SeriesBuffer } from '../charts/seriesBuffer.js';
import { ApiError, getJson, runPath } from '../client.js';
import { onLive } from '../live.js';

/** Buckets asked for: about two a column of a wide chart. */
const POINTS = 2000;
/** Steps that may come while an answer is on its way; more is asked anew. */
const MOST_WAITING = 500;
const RELOAD_MS = 5000;

interface StepEvent {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number | null>>;
}

export interface StepRange {
  readonly from: number;
  readonly to: number;
}

export class CurveData {
  readonly run: string;
  readonly stage: Stage;
  error: ApiError | undefined;
  ready = false;
  #names: readonly string[];
  #series = new Map<string, SeriesBuffer>();
  #detail: { readonly range: StepRange; readonly series: Map<string, SeriesBuffer> } | undefined;
  #waiting: StepEvent[] | undefined = [];
  #lost = false;
  #lastStep = -1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #loadedAt = 0;
  #abort = new AbortController();
  #detailAbort: AbortController | undefined;
  #stopListening: (() => void) | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(run: string, stage: Stage, names: readonly string[]) {
    this.run = run;
    this.stage = stage;
    this.#names = names;
  }

  open(): void {
    this.#abort = new AbortController();
    this.#stopListening = onLive((event) => this.#receive(event));
    void this.load();
  }

  close(): void {
    this.#stopListening?.();
    this.#abort.abort();
    this.#detailAbort?.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Names of metrics that are there or were promised. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** -1 before the first. */
  get lastStep(): number {
    return this.#lastStep;
  }

  /** The finest there is for the range that is looked at. */
  series(name: string, range?: StepRange): SeriesBuffer | undefined {
    const detail = this.#detail;
    if (detail !== undefined && range !== undefined && range.from >= detail.range.from && range.to <= detail.range.to) {
      const fine = detail.series.get(name);
      if (fine !== undefined && fine.length > 0) return fine;
    }
    return this.#series.get(name);
  }

  async load(): Promise<void> {
    this.#waiting = [];
    this.#lost = false;
    this.#loadedAt = performance.now();
    try {
      const series = await this.#fetch(this.#names, '', this.#abort.signal);
      this.#series = new Map(series.map((each) => [each.name, SeriesBuffer.from(each)]));
      this.#lastStep = Math.max(-1, ...[...this.#series.values()].map(({ lastStep }) => lastStep));
      this.#detail = undefined;
      this.error = undefined;
      this.ready = true;
      const waiting: readonly StepEvent[] = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const event of waiting) if (event.step > this.#lastStep) this.#append(event);
      if (this.#lost) this.#reloadSoon();
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#waiting = undefined;
      this.error = error instanceof ApiError ? error : new ApiError(String(error), 0);
    }
    this.#tell();
  }

  /** Asks for the finer values of a range of steps, where what is there was decimated. */
  async look(range: StepRange | undefined): Promise<void> {
    this.#detailAbort?.abort();
    if (range === undefined || this.series('', range) !== undefined) return;
    const coarse = [...this.#series].filter(([, buffer]) => buffer.decimated).map(([name]) => name);
    const steps = Math.max(1, this.#lastStep);
    if (coarse.length === 0 || (range.to - range.from) / steps > 0.75) return;
    const abort = new AbortController();
    this.#detailAbort = abort;
    const from = Math.max(0, Math.floor(range.from));
    const to = Math.ceil(range.to);
    try {
      const series = await this.#fetch(coarse, `&from=${from}&to=${to}`, abort.signal);
      if (abort.signal.aborted) return;
      this.#detail = { range: { from, to }, series: new Map(series.map((each) => [each.name, SeriesBuffer.from(each)])) };
      this.#tell();
    } catch {
      // the coarse values stay: they are true, only less fine
    }
  }

  async #fetch(names: readonly string[], rest: string, signal: AbortSignal): Promise<readonly Series[]> {
    if (names.length === 0) return [];
    const query = new URLSearchParams({ stage: this.stage });
    for (const name of names) query.append('name', name);
    query.append('points', String(POINTS));
    return getJson<readonly Series[]>(runPath(this.run, `metrics?${query}${rest}`), signal);
  }

  #receive(event: LiveEvent): void {
    if (event.kind === 'reset') this.#reloadSoon();
    if (event.kind !== 'steps' || event.run !== this.run || event.stage !== this.stage) return;
    if (this.#waiting !== undefined) {
      if (this.#waiting.length < MOST_WAITING) this.#waiting.push(event);
      else this.#lost = true;
      return;
    }
    if (!this.ready) return;
    if (event.step > this.#lastStep + 1) this.#reloadSoon();
    this.#append(event);
    this.#tell();
  }

  #append({ step, metrics }: StepEvent): void {
    for (const [name, value] of Object.entries(metrics)) {
      let buffer = this.#series.get(name);
      if (buffer === undefined) {
        buffer = new SeriesBuffer();
        this.#series.set(name, buffer);
        if (!this.#names.includes(name)) this.#names = [...this.#names, name];
      }
      buffer.append(step, value);
    }
    this.#lastStep = step;
  }

  /** Steps were missed: all is asked anew, not more often than every few seconds. */
  #reloadSoon(): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(0, this.#loadedAt + RELOAD_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.load();
    }, wait);
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
