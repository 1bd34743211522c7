/** Axes of plots: where a value stands, and where the ticks are. Pure. */

export interface Scale {
  /** In [0, 1] along the axis. */
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Ticks at round numbers; the ends are as given. */
export function linearScale(low: number, high: number, wanted = 5): Scale {
  const [from, to] = low === high ? [low - 0.5, high + 0.5] : [low, high];
  const step = roundStep((to - from) / wanted);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => tidy((first + i) * step));
  return { at: (value) => (value - from) / (to - from), ticks };
}

/** Powers of two between the ends, both above 0. */
export function powerScale(low: number, high: number): Scale {
  const [from, to] = low === high ? [low / 2, high * 2] : [low, high];
  const ticks: number[] = [];
  for (let tick = 2 ** Math.ceil(Math.log2(from) - 1e-9); tick <= to * (1 + 1e-9); tick *= 2) ticks.push(tick);
  return { at: (value) => Math.log(value / from) / Math.log(to / from), ticks };
}

/** 1, 2 or 5 times a power of ten, at least as large. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough * (1 - 1e-9)) ?? 10 * power;
}

const tidy = (value: number): number => Number(value.toPrecision(12));
