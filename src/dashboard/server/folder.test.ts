import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Folder } from './folder.js';
import { Place } from './testSupport.js';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clean());

const put = (...path: string[]): void => {
  mkdirSync(join(place.folder, ...path), { recursive: true });
  writeFileSync(join(place.folder, ...path, 'run.sqlite'), 'x');
};
const idsIn = (folder: Folder): string[] => [...folder.runs().keys()].sort();

describe('runs below a folder', () => {
  it('are found at any bounded depth, and inside other runs’ folders', () => {
    put('a');
    put('b', 'c', 'd');
    put('a', 'benchmarks', 'e');
    put('1', '2', '3', '4', '5', '6', '7');
    const folder = new Folder(place.folder);
    expect(idsIn(folder)).toEqual(['a', 'a/benchmarks/e', 'b/c/d']);
    expect(folder.cutShort).toBe(true);
    expect(folder.run('b/c/d')).toEqual({ id: 'b/c/d', name: 'd', folder: join(place.folder, 'b', 'c', 'd') });
  });

  it('are not looked for in checkpoints, hidden folders and packages', () => {
    for (const name of ['checkpoints', '.hidden', 'node_modules']) put('a', name, 'x');
    expect(idsIn(new Folder(place.folder))).toEqual([]);
  });

  it('are never reached through a link, out of the folder or in a circle', () => {
    const outside = new Place();
    try {
      mkdirSync(join(outside.folder, 'run'));
      writeFileSync(join(outside.folder, 'run', 'run.sqlite'), 'x');
      put('own');
      symlinkSync(outside.folder, join(place.folder, 'out'));
      symlinkSync(place.folder, join(place.folder, 'own', 'circle'));
      const folder = new Folder(place.folder);
      expect(idsIn(folder)).toEqual(['own']);
      for (const id of ['out/run', '../own', 'own/../own', '/etc', 'own/', '', '.']) expect(folder.run(id), id).toBeUndefined();
    } finally {
      outside.clean();
    }
  });

  it('appear and go while the folder is shown', () => {
    const folder = new Folder(place.folder);
    expect(idsIn(folder)).toEqual([]);
    put('new', 'one');
    expect(idsIn(folder)).toEqual(['new/one']);
    put('new', 'two');
    expect(idsIn(folder)).toEqual(['new/one', 'new/two']);
    expect([...folder.runs(60_000).keys()]).toHaveLength(2);
  });

  it('of odd names are told as they are named', () => {
    for (const name of ['with space', 'a%2Fb', 'äö', '@']) put(name);
    expect(idsIn(new Folder(place.folder))).toEqual(['@', 'a%2Fb', 'with space', 'äö']);
  });

  it('of a folder that is gone are none', () => {
    expect(idsIn(new Folder(join(place.folder, 'nowhere')))).toEqual([]);
  });
});
