import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pythonIn } from '../setup/paths.js';
import { benchmarkPeers, median, medianRatio } from './peers.js';
import { ensurePeerEnv, stampOf, TRL } from './peersEnv.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'peers-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

describe('peers', () => {
  it('compares round with round, and takes the middle', () => {
    const ours = { system: 'engine', tokens: [100, 100, 100], seconds: [1, 2, 4] };
    const theirs = { system: 'other', tokens: [100, 100, 100], seconds: [2, 2, 40] };
    expect(medianRatio(ours, theirs)).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([5])).toBe(5);
  });

  it('uses an environment that is whole, without installing anything', async () => {
    const packages = ['nothing-of-this-kind==1'];
    const python = standIn('peer', packages);
    expect(await ensurePeerEnv({ name: 'peer', packages }, () => {}, home)).toEqual({ kind: 'ready', python });
    expect(existsSync(join(home, 'peer.log'))).toBe(false);
  });

  it('tells a peer that fails as missing, with its last words, and goes on; a failure of ours is an error', async () => {
    standIn(TRL.name, TRL.packages, 'echo "no module named torch" >&2; exit 3');
    const python = standIn('ours', [], `echo '{"what":"training","system":"engine","tokens":100,"seconds":2}'`);
    vi.stubEnv('TOOLWISE_HOME', home);
    const options = { python, model: home, parts: ['training'] as const, rounds: 2, log: () => {} };
    const [found] = await benchmarkPeers(options);
    expect(found).toMatchObject({ part: 'training', peer: 'transformers', ours: { tokens: [100, 100], seconds: [2, 2] } });
    expect(found).toMatchObject({ theirs: { missing: 'with_transformers.py ended with 3: no module named torch' } });
    expect(found).not.toHaveProperty('ratio');
    await expect(benchmarkPeers({ ...options, python: pythonIn(join(home, TRL.name)) })).rejects.toThrow("the engine's training ended");
  });
});

/** An environment whose Python is a shell script. @returns its path */
function standIn(name: string, packages: readonly string[], script = 'exit 0'): string {
  const python = pythonIn(join(home, name));
  mkdirSync(dirname(python), { recursive: true });
  writeFileSync(python, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  writeFileSync(join(home, name, 'toolwise.json'), stampOf(packages));
  return python;
}
