/** A study by the command line, with the real engine: two arms over two blocks, a step each. Checks the machinery, and no claim. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { ArmResult } from '../src/study/armResult.js';
import { missingForEndToEnd } from './support.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'study-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const out = join(folder, 'study');
const results = join(out, 'results');

/** @param names of the narrow arm and of the wide one */
const planWith = (name: string, [narrow, wide]: readonly [string, string], change: object = {}): object => ({
  name,
  title: 'The upper bound',
  blocks: 2,
  base: {
    extends: 'nano',
    engine: { threads: 1, deterministic: true },
    problems: { train: { kind: 'calc-small', count: 8 }, evaluation: { kind: 'calc-small', count: 16 } },
    rl: { steps: 1, groupsPerStep: 2, groupSize: 4, updatesPerStep: 2 },
    evaluation: { base: false, extra: [] },
    ...change,
  },
  arms: { [narrow]: { rl: { algorithm: { clipHigh: 0.2 } } }, [wide]: null },
  claims: [
    {
      id: 'accuracy',
      says: 'A higher upper bound ends higher',
      fair: 'One step: nothing can be seen.',
      parts: [{ above: wide, below: narrow, endpoint: { final: 'accuracy' }, margin: 5 }],
      differs: ['rl.algorithm.clipHigh'],
    },
  ],
});
function write(file: string, plan: object): string {
  const path = join(folder, file);
  writeFileSync(path, stringify(plan));
  return path;
}
const first = write('first.yaml', planWith('first', ['narrow', 'wide']));
const second = write('second.yaml', planWith('second', ['low', 'high']));

describe.skipIf(missing !== undefined)(`a study${missing === undefined ? '' : ` (skipped: ${missing})`}`, { timeout: 300_000 }, () => {
  it('is stopped by Ctrl-C with what has ended kept', async () => {
    const child = start([first, '--out', out, '--parallel', '1']);
    const end = ended(child);
    // The first arm has ended and the second trains.
    await until(child, () => kept().length === 1 && runFolders().length === 1);
    child.kill('SIGINT');
    const { code, text } = await end;
    expect(code, text).toBe(130);
    expect(text).toContain('Go on with the same command');
    expect(kept()).toHaveLength(1);
  });

  it('goes on where it was, and runs nothing twice, for two plans of equal arms', async () => {
    const before = stamps();
    const { code, text } = await ended(start([first, second, '--out', out, '--parallel', '1', '--json']));
    expect(code, text).toBe(0);
    expect(text).toContain('4 arm-runs (4 shared between plans), 1 there already, 3 to run');
    expect(kept()).toHaveLength(4);
    expect(stamps()).toMatchObject(before);
    expect(runFolders()).toEqual([]);
    const all = readResults();
    expect(all.map(({ seed, steps, evaluations }) => [seed, steps.rl, evaluations.length]).sort()).toEqual(
      [1, 1, 2, 2].map((seed) => [seed, 1, 1]),
    );

    const after = stamps();
    const again = await ended(start([first, second, '--out', out]));
    expect(again.code, again.text).toBe(0);
    expect(again.text).toContain('4 there already, 0 to run');
    expect(stamps()).toEqual(after);
  });

  it('repeats an arm to the last bit where it is deterministic', async () => {
    const [name] = kept();
    const was = readResult(name!);
    rmSync(join(results, name!));
    const { code, text } = await ended(start([first, '--out', out]));
    expect(code, text).toBe(0);
    expect(timeless(readResult(name!))).toEqual(timeless(was));
  });

  it('refuses an edited plan, and leaves everything as it was', async () => {
    const before = stamps();
    const edited = write('edited.yaml', planWith('first', ['narrow', 'wide'], { seed: 7 }));
    const { code, text } = await ended(start([edited, '--out', out]));
    expect(code, text).toBe(2);
    expect(text).toContain('the plan first was another one');
    expect(text).not.toMatch(/^\s+at /m);
    expect(stamps()).toEqual(before);
  });

  it('is reported without its plan files, and no report is written over', async () => {
    rmSync(first);
    rmSync(second);
    const markdown = join(folder, 'findings.md');
    const { code, text } = await ended(start(['report', out, '--to', join(out, 'report.html'), '--markdown', markdown]));
    expect(code, text).toBe(0);
    expect(text).toContain('EXPLORATORY');
    const page = readFileSync(join(out, 'report.html'), 'utf8');
    expect(page.match(/… exploratory<\/span>/g)).toHaveLength(4);
    expect(page).toContain('4 of 4 arm-runs');
    const figures = [...readFileSync(markdown, 'utf8').matchAll(/\]\((findings-figures\/[\w.-]+)\)/g)].map((match) => match[1]!);
    expect(figures).toHaveLength(4);
    for (const figure of figures) expect(existsSync(join(folder, figure)), figure).toBe(true);

    const again = await ended(start(['report', out]));
    expect(again.code).toBe(2);
    expect(again.text).toContain('report.html is there already');
    const json = await ended(start(['report', out, '--json']));
    expect((JSON.parse(json.text) as { claims: unknown[] }).claims).toHaveLength(2);
  });
});

const kept = (): string[] => (existsSync(results) ? readdirSync(results).filter((name) => name.endsWith('.json')) : []);
const runFolders = (): string[] => (existsSync(join(out, 'runs')) ? readdirSync(join(out, 'runs')) : []);
const stamps = (): Record<string, number> => Object.fromEntries(kept().map((name) => [name, statSync(join(results, name)).mtimeMs]));
const readResult = (name: string): ArmResult => JSON.parse(readFileSync(join(results, name), 'utf8')) as ArmResult;
const readResults = (): ArmResult[] => kept().map(readResult);

/** A result without what the clock decides. */
function timeless({ seconds: _, ended: __, curves, evaluations, ...result }: ArmResult): unknown {
  const without = (metrics: Readonly<Record<string, unknown>> = {}): object =>
    Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith('seconds')));
  return { ...result, curves: without(curves.rl), evaluations: evaluations.map((one) => ({ ...one, metrics: without(one.metrics) })) };
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'study', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function ended(child: ChildProcess): Promise<{ code: number | null; text: string }> {
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, text };
}

/** Waits for a state of the folder, or for the child's end. */
async function until(child: ChildProcess, holds: () => boolean): Promise<void> {
  while (child.exitCode === null && child.signalCode === null && !holds()) await new Promise((resolve) => setTimeout(resolve, 50));
}
