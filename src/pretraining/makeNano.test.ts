import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChatFormat } from '../chat/chatFormat.js';
import { splitOf } from '../problems/calc.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { openCodeRunner } from '../sandbox/open.js';
import { inspectPythonEnv } from '../setup/pythonEnv.js';
import { makeNano, makeThinkingTraces, makeTraces } from './makeNano.js';
import { NANO_SETTINGS } from './settings.js';

const SMALL = { ...NANO_SETTINGS, traces: 200, updates: 3, vocabulary: 300 };

describe('making nano', () => {
  const environment = inspectPythonEnv();
  let runner: CodeRunner;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolwise-make-nano-'));
    runner = await openCodeRunner({ kind: 'auto', workers: 1, outputBytes: 2 ** 24 });
  });
  afterAll(async () => {
    await runner.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('uses problems of the training split only, and repeats its traces', async () => {
    const traces = await makeTraces(SMALL, runner);
    expect(traces).toHaveLength(200);
    expect(traces.every(({ problem }) => splitOf(problem.id) === 'train')).toBe(true);
    expect(await makeTraces(SMALL, runner)).toEqual(traces);
  });

  it('thinks on problems of the training split only, three of level 1 for one of level 2', async () => {
    const traces = await makeThinkingTraces(SMALL, runner);
    expect(traces.every(({ problem }) => splitOf(problem.id) === 'train')).toBe(true);
    expect(traces.filter(({ problem }) => problem.tags.level === 1)).toHaveLength(150);
    expect(traces.some(({ turns }) => turns[0]!.reply !== undefined)).toBe(true);
    expect(await makeThinkingTraces(SMALL, runner)).toEqual(traces);
  });

  it.skipIf(environment.kind === 'missing')('gives the same usable model folder for the same settings', async () => {
    const python = environment.kind === 'ready' ? environment.python : '';
    const make = (out: string) => makeNano({ settings: SMALL, out, python, runner, log: () => {} });
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    const figures = await make(first);
    await make(second);
    expect(figures).toMatchObject({ traces: 200, parameters: 918656 - (512 - 300) * 128 });
    expect(figures.trainedTokens).toBeGreaterThan(1000);
    for (const name of readdirSync(first).filter((file) => file !== 'README.md')) {
      expect(readFileSync(join(first, name)).equals(readFileSync(join(second, name))), name).toBe(true);
    }
    expect(existsSync(join(first, 'README.md'))).toBe(true);
    const format = await ChatFormat.load(first);
    expect(format.decode(format.stopTokenIds)).toBe('<|end|>');
  });

  it.skipIf(environment.kind === 'missing')('tells why the training ended early', async () => {
    const python = environment.kind === 'ready' ? environment.python : '';
    const settings = { ...SMALL, traces: 10 };
    await expect(makeNano({ settings, out: join(folder, 'few'), python, runner, log: () => {} })).rejects.toThrow(/10 traces are fewer/);
  });
});
