import { describe, expect, it, vi } from 'vitest';
import { onAbort } from './onAbort.js';

describe('many that wait for one signal', () => {
  it('are told in the order in which they came, once, unless they have gone', () => {
    const stop = new AbortController();
    const told: string[] = [];
    onAbort(stop.signal, () => told.push('a'));
    const leave = onAbort(stop.signal, () => told.push('b'));
    onAbort(stop.signal, () => told.push('c'));
    leave();
    stop.abort();
    leave();
    expect(told).toEqual(['a', 'c']);
  });

  it('put one listener on it, and none on one that is aborted', () => {
    const stop = new AbortController();
    const added = vi.spyOn(stop.signal, 'addEventListener');
    for (let i = 0; i < 1000; i++) onAbort(stop.signal, () => undefined);
    expect(added).toHaveBeenCalledTimes(1);
    stop.abort();
    const act = vi.fn();
    onAbort(stop.signal, act)();
    expect(act).not.toHaveBeenCalled();
  });

  it('may give the same function twice', () => {
    const stop = new AbortController();
    const act = vi.fn();
    onAbort(stop.signal, act);
    onAbort(stop.signal, act)();
    stop.abort();
    expect(act).toHaveBeenCalledTimes(1);
  });
});
