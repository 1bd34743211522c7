import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { run } from '../setup/command.js';
import type { Check } from '../setup/doctor.js';
import { packageRoot } from '../setup/paths.js';

/** The Python named here is there and is never started: nothing is installed. */
const env = { TOOLWISE_ENGINE_PYTHON: process.execPath };
const main = fileURLToPath(new URL('main.ts', import.meta.url));
const findings = join(packageRoot(), 'studies', 'findings');
const toolwise = (...args: string[]) => run(process.execPath, ['--import', 'tsx', main, ...args], { env });

describe('the command line', () => {
  it('lists every command, and ends well', async () => {
    const { status, stdout } = await toolwise('--help');
    expect(status).toBe(0);
    for (const name of ['doctor', 'setup', 'demo', 'train', 'eval', 'grade', 'data', 'export', 'serve', 'ui', 'study']) {
      expect(stdout).toContain(`  ${name} `);
    }
  });

  it('helps with one command, in both ways of asking', async () => {
    const [one, other] = await Promise.all([toolwise('setup', '--help'), toolwise('help', 'setup')]);
    expect(one.stdout).toContain('--model <name...>');
    expect(other.stdout).toBe(one.stdout);
  });

  it('ends with 2, and without a stack trace, when the user is mistaken', async () => {
    for (const [args, message] of [
      [['bogus'], "unknown command 'bogus'"],
      [['doctor', '--bogus'], "unknown option '--bogus'"],
      [['setup', '--model', './no/such/folder', '--no-sandbox'], 'there is no model "./no/such/folder"'],
      [['study', 'clip-bounds', '--blocks', '1', '--out', main], `${main} cannot be made: a file has that name`],
      [['study', 'clip-bounds', '--blocks', '1', '--out', join(main, 'study')], `cannot be made: ${main} is a file`],
      [['study', 'report', findings, '--to', join(main, 'report.html')], `${main} cannot be made: a file has that name`],
      [['study', 'report', findings, '--markdown', dirname(main), '--force'], 'cannot be written: it is a folder (EISDIR)'],
    ] as const) {
      const { status, output } = await toolwise(...args);
      expect(output).toContain(message);
      expect(output).not.toMatch(/^\s+at /m);
      expect(status).toBe(2);
    }
  });

  it('says where a home that cannot be made is named', async () => {
    const home = join(main, 'home');
    const { status, output } = await run(process.execPath, ['--import', 'tsx', main, 'setup', '--no-sandbox'], {
      env: { TOOLWISE_HOME: home },
    });
    expect(output).toContain(`error: ${home} cannot be made: ${main} is a file\n  TOOLWISE_HOME names another place.`);
    expect(status).toBe(2);
  });

  it('shows what a terminal would obey, and does not say it', async () => {
    const { status, output } = await toolwise('train', './no/\u001b[31mrecipe.yaml');
    expect(output).toContain('no/\ufffd[31mrecipe.yaml');
    expect(status).toBe(2);
  });

  it('lets doctor say what is missing and end with 1', async () => {
    const { status, stdout } = await run(process.execPath, ['--import', 'tsx', main, 'doctor', '--json'], {
      env: { PATH: '/nonexistent', TOOLWISE_HOME: '/nonexistent', TOOLWISE_ENGINE_PYTHON: '' },
    });
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
    expect({ ok, status }).toEqual({ ok: false, status: 1 });
    const found = (name: string) => checks.find((check) => check.name === name);
    expect(found('node')).toMatchObject({ status: 'ok' });
    expect(found('python')).toMatchObject({ status: 'missing', remedy: expect.stringContaining('apt-get install') });
    expect(found('engine')).toMatchObject({ status: 'missing', remedy: 'Run: npx toolwise setup' });
    if (process.platform === 'linux') {
      expect(found('sandbox programs')).toMatchObject({ status: 'missing', remedy: expect.stringContaining('bubblewrap') });
      expect(found('sandbox')).toMatchObject({ status: 'missing' });
    }
    expect(found('weights of smollm2-135m')).toMatchObject({ status: 'warn', remedy: 'Run: npx toolwise setup --model smollm2-135m' });
  });
});
