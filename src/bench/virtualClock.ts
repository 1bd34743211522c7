/**
 * Time that passes only when nothing is left to do at the present moment: hours of simulated latencies take seconds and repeat exactly.
 * Work under it may use promises and this clock's `sleep`, but no timers and no input or output of its own.
 */
interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly ring: () => void;
}

/** Turns without anything to do after which the work is taken to wait for nothing. */
const MOST_IDLE = 100;

export class VirtualClock {
  #now = 0;
  #order = 0;
  /** A binary heap, the earliest first. */
  readonly #alarms: Alarm[] = [];

  /** Seconds since the clock was made. */
  get now(): number {
    return this.#now;
  }

  /** @throws the signal's reason, at once, when it is aborted */
  sleep(seconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      const ring = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#push({ at: this.#now + Math.max(0, seconds), order: this.#order++, ring });
    });
  }

  /**
   * Lets time pass until the work ends.
   * @throws what the work throws; Error where it waits for something that will never happen
   */
  async run<T>(work: Promise<T>): Promise<T> {
    let ended = false;
    const end = (): void => {
      ended = true;
    };
    work.then(end, end);
    for (let idle = 0; idle < MOST_IDLE; ) {
      // Two turns of the event loop: the work may give way to others for one.
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      if (ended) return work;
      const alarm = this.#pop();
      idle = alarm ? 0 : idle + 1;
      if (!alarm) continue;
      this.#now = alarm.at;
      alarm.ring();
    }
    throw new Error(`nothing is left to happen after ${this.#now} s, and the work has not ended`);
  }

  #push(alarm: Alarm): void {
    const heap = this.#alarms;
    let i = heap.push(alarm) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(heap[i]!, heap[parent]!)) break;
      [heap[i], heap[parent]] = [heap[parent]!, heap[i]!];
      i = parent;
    }
  }

  #pop(): Alarm | undefined {
    const heap = this.#alarms;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let i = 0; ; ) {
      const left = 2 * i + 1;
      let least = i;
      if (left < heap.length && before(heap[left]!, heap[least]!)) least = left;
      if (left + 1 < heap.length && before(heap[left + 1]!, heap[least]!)) least = left + 1;
      if (least === i) return first;
      [heap[i], heap[least]] = [heap[least]!, heap[i]!];
      i = least;
    }
  }
}

const before = (a: Alarm, b: Alarm): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
