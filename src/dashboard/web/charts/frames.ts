/** Draws charts once a frame at most, however often their data change, and only those in sight. */

type Draw = () => void;
const waiting = new Set<Draw>();
let asked = false;

export function drawSoon(draw: Draw): void {
  waiting.add(draw);
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    const draws = [...waiting];
    waiting.clear();
    for (const each of draws) each();
  });
}

export const forget = (draw: Draw): void => void waiting.delete(draw);
