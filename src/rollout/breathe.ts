/**
 * Lets the event loop turn in the midst of much work: answers that come together would else be worked on one after the other without a
 * pause, and heartbeats, timers and other sockets would wait for seconds.
 */
import { setImmediate } from 'node:timers';

/** Work in one turn of the loop goes on for so long. */
const TURN_MS = 50;

let turnBegan: number | undefined;
const waiting: (() => void)[] = [];

/** Resolves at once while this turn of the loop is young, else in a later turn, one caller a turn, the first come first. */
export async function breathe(): Promise<void> {
  if (turnBegan === undefined) {
    turnBegan = performance.now();
    setImmediate(() => {
      turnBegan = undefined;
    });
  }
  if (waiting.length === 0 && performance.now() - turnBegan < TURN_MS) return;
  const turn = new Promise<void>((resolve) => waiting.push(resolve));
  if (waiting.length === 1) setImmediate(next);
  await turn;
}

/** What a caller does before it waits again runs to its end before the next turn. */
function next(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(next);
}
