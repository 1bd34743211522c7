/**
 * Draws charts once a frame at most, however often their data change; those that waited longest come first. Where frames take long (a slow
 * machine, many charts), fewer charts are drawn in each, so that the page stays quick to the hand.
 */
import { nextBatch } from './batch.js';

type Draw = () => void;
const waiting = new Set<Draw>();
let asked = false;
let batch = 64;
let before = 0;

export function drawSoon(draw: Draw): void {
  waiting.add(draw);
  ask();
}

export const forget = (draw: Draw): void => void waiting.delete(draw);

function ask(): void {
  if (asked) return;
  asked = true;
  requestAnimationFrame((now) => {
    asked = false;
    batch = nextBatch(batch, now - before);
    before = now;
    for (const draw of [...waiting].slice(0, batch)) {
      waiting.delete(draw);
      draw();
    }
    if (waiting.size > 0) ask();
  });
}
