/** What keys do on a chart. */
import type uPlot from 'uplot';
import type { LineChartProps } from './types.js';

/** Whether the key was the chart's: arrows move the cursor, with Shift the range; plus and minus zoom at the cursor; 0 and Escape show all. */
export function chartKey(u: uPlot, event: KeyboardEvent, { onRange, range, startX }: LineChartProps): boolean {
  const x = u.data[0];
  const { min, max } = u.scales.x!;
  if (min == null || max == null) return false;
  const first = startX ?? (x[0] as number);
  const last = x[x.length - 1] as number;
  const to = (index: number): true => {
    const i = Math.max(u.valToIdx(min), Math.min(u.valToIdx(max), index));
    // the third, which its types do not name, tells the other charts of the group
    (u.setCursor as (place: { left: number; top: number }, tell: boolean, others: boolean) => void)(
      { left: u.valToPos(x[i] as number, 'x'), top: u.over.clientHeight / 2 },
      true,
      true,
    );
    return true;
  };
  const idx = u.cursor.idx ?? u.valToIdx(max);
  const zoom = (factor: number): true => {
    const centre = u.cursor.idx == null ? (min + max) / 2 : (x[u.cursor.idx] as number);
    const from = Math.max(first, centre - (centre - min) * factor);
    const end = Math.min(last, centre + (max - centre) * factor);
    onRange?.(from <= first && end >= last ? undefined : { from, to: end });
    return true;
  };
  const pan = (share: number): true => {
    const width = max - min;
    const from = Math.max(first, Math.min(last - width, min + share * width));
    onRange?.({ from, to: from + width });
    return true;
  };
  switch (event.key) {
    case 'ArrowLeft':
      return event.shiftKey ? pan(-0.25) : to(idx - 1);
    case 'ArrowRight':
      return event.shiftKey ? pan(0.25) : to(idx + 1);
    case 'PageUp':
      return to(idx - 10);
    case 'PageDown':
      return to(idx + 10);
    case 'Home':
      return to(0);
    case 'End':
      return to(x.length - 1);
    case '+':
    case '=':
      return zoom(0.5);
    case '-':
      return zoom(2);
    case '0':
      onRange?.(undefined);
      return true;
    case 'Escape':
      if (range === undefined) return false;
      onRange?.(undefined);
      return true;
    default:
      return false;
  }
}
