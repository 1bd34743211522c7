import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Scratch } from './scratch.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwise-scratch-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('records on disk', () => {
  it('come back by number, small and large, written and not yet written', () => {
    const scratch = new Scratch(folder);
    try {
      const sizes = Array.from({ length: 400 }, (_, i) => (i % 50 === 7 ? 3_000_000 : (i * 997) % 20_000));
      for (const [i, size] of sizes.entries()) {
        expect(scratch.add(Buffer.alloc(size, i % 251))).toBe(i);
        expect(scratch.get(i).length).toBe(size);
      }
      for (const i of [0, 7, 399, 57, 200, 1]) expect(scratch.get(i).equals(Buffer.alloc(sizes[i]!, i % 251))).toBe(true);
      expect(scratch.records).toBe(400);
      expect(scratch.bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
    } finally {
      scratch.close();
    }
  });

  it.skipIf(process.platform === 'win32')('have no name that could stay behind', () => {
    const scratch = new Scratch(folder);
    scratch.add(Buffer.from('a'));
    expect(readdirSync(folder)).toEqual([]);
    scratch.close();
    scratch.close();
    expect(readdirSync(folder)).toEqual([]);
  });
});
