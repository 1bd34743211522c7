import { describe, expect, it } from 'vitest';
import type { CodeResult, CodeRunner } from './codeRunner.js';
import { openCodeRunner } from './open.js';
import { probeSandbox } from './probe.js';
import { hasBubblewrap } from './testSupport.js';

describe.skipIf(!hasBubblewrap)('the escape probe', () => {
  it.each(['zygote', 'oneshot'] as const)('finds no way out of %s', async (kind) => {
    const runner = await openCodeRunner({ kind, workers: 2 });
    try {
      const results = await probeSandbox(runner);
      expect(results.filter((it) => !it.ok)).toEqual([]);
      expect(results.length).toBeGreaterThanOrEqual(20);
      expect(new Set(results.map((it) => it.name)).size).toBe(results.length);
    } finally {
      await runner.close();
    }
  });
});

const canned = (result: CodeResult): CodeRunner => ({ name: 'canned', run: async () => result, close: async () => {} });
const ran = { kind: 'ran', ending: 'finished', exitCode: 0, stderr: '', seconds: 0, queuedSeconds: 0 } as const;

describe('the escape probe of a sandbox that does not hold', () => {
  it('fails every attack that got through', async () => {
    const results = await probeSandbox(canned({ ...ran, stdout: 'held a EPERM\nopen b None\n' }));
    expect(results.filter((it) => it.ok)).toEqual([]);
    expect(results[0]!.detail).toBe('open b None');
  });

  it('fails an attack that said nothing, or that could not be run', async () => {
    const silent = await probeSandbox(canned({ ...ran, exitCode: 1, stdout: '', stderr: 'NameError: x' }));
    expect(silent.filter((it) => it.ok).map((it) => it.name)).toEqual(['kill its keeper']);
    const down = await probeSandbox(canned({ kind: 'infra', error: 'down' }));
    expect(down.filter((it) => it.ok)).toEqual([]);
  });

  it('runs nothing without a sandbox', async () => {
    let runs = 0;
    const run = async (): Promise<CodeResult> => {
      runs++;
      return { ...ran, stdout: '' };
    };
    expect(await probeSandbox({ name: 'none', run, close: async () => {} })).toMatchObject([{ ok: false }]);
    expect(runs).toBe(0);
  });
});
