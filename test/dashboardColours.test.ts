import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = (name: string): string => readFileSync(new URL(`../src/dashboard/web/${name}`, import.meta.url), 'utf8');

/** Variables of a theme: those of `:root`, and in the dark one what replaces them. */
function variables(theme: 'light' | 'dark', ...sheets: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const read = (block: string): void => {
    for (const [, name, value] of block.matchAll(/(--[\w-]+):\s*([^;]+);/g)) found.set(name!, value!.trim());
  };
  for (const sheet of sheets) for (const [, block] of sheet.matchAll(/:root \{([^}]*)\}/g)) read(block!);
  if (theme === 'dark')
    for (const sheet of sheets) for (const [, block] of sheet.matchAll(/:root\[data-theme="dark"\] \{([^}]*)\}/g)) read(block!);
  return found;
}

function luminance(hex: string): number {
  const channel = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const sheets = ['styles/base.css', 'trajectories/trajectories.css', 'trajectories/tokens.css'].map(css);

describe.each(['light', 'dark'] as const)('colours of tokens in the %s theme', (theme) => {
  const colours = variables(theme, ...sheets);
  const swatches = [...colours].filter(([name, value]) => name.startsWith('--sw-') && value !== 'transparent');

  it('are there for every step', () => {
    expect(swatches.map(([name]) => name.slice('--sw-'.length)).sort()).toEqual(
      ['given', 'model', 'n1', 'n2', 'n3', 'n4', 'n5', 'prompt', 's0', 's1', 's2', 's3', 's4', 's5', 'z'].sort(),
    );
  });

  it.each(swatches)('keep the text readable on %s (AA: 4.5)', (_, colour) => {
    expect(contrast(colours.get('--text')!, colour)).toBeGreaterThanOrEqual(4.5);
  });

  it('grow with the value, so that they can be told apart without their hue', () => {
    for (const side of ['s', 'n']) {
      const steps = [1, 2, 3, 4, 5].map((step) => luminance(colours.get(`--sw-${side}${step}`)!));
      const ordered = [...steps].sort((a, b) => (theme === 'light' ? b - a : a - b));
      expect(steps).toEqual(ordered);
      expect(Math.abs(steps[0]! - steps[4]!)).toBeGreaterThan(theme === 'light' ? 0.4 : 0.08);
    }
  });

  it.each(['--series-1', '--hl-number', '--series-3', '--series-4', '--series-7', '--muted'])('colour code readably with %s', (name) => {
    for (const ground of ['--code', '--panel', '--raised', '--bg'])
      expect(contrast(colours.get(name)!, colours.get(ground)!)).toBeGreaterThanOrEqual(4.5);
  });
});
