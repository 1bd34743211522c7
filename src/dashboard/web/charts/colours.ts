/** The colours of the theme in force, for canvases: CSS variables do not reach them. */

export interface ChartColours {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly grid: string;
  readonly background: string;
  readonly series: readonly string[];
}

/** Colours that people with any colour vision tell apart, then the same again with other line styles. */
export const SERIES_COLOURS = 8;

const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [9, 3, 2, 3]];

export function chartColours(): ChartColours {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  return {
    text: value('--text'),
    muted: value('--muted'),
    line: value('--line-strong'),
    grid: value('--line'),
    background: value('--raised'),
    series: Array.from({ length: SERIES_COLOURS }, (_, i) => value(`--series-${i + 1}`)),
  };
}

export const dashOf = (style: number): readonly number[] => DASHES[style % DASHES.length]!;

/** `#rrggbb` with an opacity. */
export const faded = (colour: string, opacity: number): string =>
  `${colour}${Math.round(opacity * 255)
    .toString(16)
    .padStart(2, '0')}`;
