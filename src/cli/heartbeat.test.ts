import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Heartbeat } from './heartbeat.js';

describe('a heartbeat', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const started = (terminal: boolean) => {
    const lines: string[] = [];
    const narrator = { line: (text: string) => void lines.push(text), progress: vi.fn() };
    return { lines, narrator, heart: new Heartbeat(narrator, 'graded', { everySeconds: 10, terminal }) };
  };

  it('says now and then how far the work is where there is no terminal, and that nothing moves', () => {
    const { lines, heart } = started(false);
    vi.advanceTimersByTime(10_000);
    expect(lines).toEqual([]);
    heart.update(0, 9);
    vi.advanceTimersByTime(10_000);
    vi.advanceTimersByTime(10_000);
    heart.update(4, 9);
    vi.advanceTimersByTime(10_000);
    heart.end();
    vi.advanceTimersByTime(60_000);
    expect(lines).toEqual(['graded 0 of 9 after 20 s', 'graded 0 of 9 after 30 s; waiting', 'graded 4 of 9 after 40 s']);
  });

  it('leaves a terminal to the bar while it moves', () => {
    const { lines, narrator, heart } = started(true);
    heart.update(1, 9);
    vi.advanceTimersByTime(10_000);
    heart.update(2, 9);
    vi.advanceTimersByTime(10_000);
    expect(lines).toEqual([]);
    expect(narrator.progress).toHaveBeenLastCalledWith('graded', 2, 9);
    vi.advanceTimersByTime(10_000);
    heart.end();
    expect(lines).toEqual(['graded 2 of 9 after 30 s; waiting']);
  });
});
