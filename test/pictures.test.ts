import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { pictures } from '../scripts/pictures.js';

const FOLDER = fileURLToPath(new URL('../docs/img/', import.meta.url));

describe('the pictures of the pages', () => {
  it.each(Object.entries(pictures()))('%s is as it is drawn from the functions (npx tsx scripts/pictures.ts)', (name, drawn) => {
    expect(readFileSync(FOLDER + name, 'utf8')).toBe(drawn);
  });

  it('are all drawn here, apart from screenshots', () => {
    const drawn = readdirSync(FOLDER).filter((name) => name.endsWith('.svg'));
    expect(drawn.sort()).toEqual(Object.keys(pictures()).sort());
  });
});
