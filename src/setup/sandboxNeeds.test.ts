import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ensureSandboxNeeds, missingSandboxNeeds } from './sandboxNeeds.js';

const all = { bubblewrap: '/usr/bin/bwrap', setpriv: '/usr/bin/setpriv', python: '/usr/bin/python3', missingModules: [] };

afterEach(() => vi.unstubAllEnvs());

describe('what the sandbox needs', () => {
  it('is named where it is missing', () => {
    expect(missingSandboxNeeds(all, true)).toEqual([]);
    expect(missingSandboxNeeds({ ...all, bubblewrap: undefined, missingModules: ['sympy'] }, false)).toEqual([
      'bubblewrap',
      "Python's sympy",
    ]);
    expect(missingSandboxNeeds({ ...all, python: undefined }, false)).toEqual(['a Python for programs']);
  });

  it('includes setpriv for root alone', () => {
    expect(missingSandboxNeeds({ ...all, setpriv: undefined }, false)).toEqual([]);
    expect(missingSandboxNeeds({ ...all, setpriv: undefined }, true)).toEqual(['setpriv (util-linux)']);
  });

  it.skipIf(process.platform !== 'linux')('is told with the command that installs it, where it cannot be installed from here', async () => {
    const home = mkdtempSync(join(tmpdir(), 'toolwise-sandbox-test-'));
    vi.stubEnv('PATH', home);
    const refusal = ensureSandboxNeeds(() => undefined, home);
    await expect(refusal).rejects.toMatchObject({ name: 'UserError', hint: expect.stringContaining('apt-get install -y bubblewrap') });
    rmSync(home, { recursive: true });
  });
});
