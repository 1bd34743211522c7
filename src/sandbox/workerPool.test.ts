/** Queue, retry and replacement, with workers that misbehave on command: small scripts in place of a supervisor. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PythonWorker } from './pythonWorker.js';
import { WorkerPool } from './workerPool.js';

const request = { code: 'x', timeoutSeconds: 5, memoryMb: 64 };
const done = `{"kind":"ran","id":1,"ending":"finished","exitCode":0,"stdout":"done","stderr":"","seconds":0}`;

describe('the pool', () => {
  let folder: string;
  let pool: WorkerPool;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolwise-pool-'));
  });
  afterEach(async () => {
    await pool.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A pool of one whose n-th worker runs the n-th shell script (the last one for all after it). */
  function open(...scripts: string[]): { starts: () => number } {
    let starts = 0;
    const start = () => {
      const script = scripts[Math.min(starts++, scripts.length - 1)]!;
      return PythonWorker.start({
        file: '/bin/sh',
        args: ['-c', script],
        env: { PATH: '/usr/bin:/bin', FOLDER: folder },
        openFiles: [],
        cwd: '/',
      });
    };
    pool = new WorkerPool({ size: 1, oneShot: false, outputBytes: 1000, start });
    return { starts: () => starts };
  }

  const ready = `echo '{"kind":"ready","python":"3","notes":[]}' >&3; `;
  const good = `${ready} while read line; do echo "$line" >> $FOLDER/seen; echo '${done}' >&3; done`;
  const diesBefore = `${ready} read line; echo oops >&2; exit 3`;
  const diesAfter = `${ready} read line; echo '{"kind":"started","id":1}' >&3; sleep 0.1; exit 3`;

  it('tries once more when the worker was lost before the program began', async () => {
    const { starts } = open(diesBefore, good);
    expect(await pool.run(request)).toMatchObject({ kind: 'ran', stdout: 'done' });
    expect(starts()).toBe(2);
  });

  it('does not run a program twice', async () => {
    const { starts } = open(diesAfter, good);
    expect(await pool.run(request)).toMatchObject({ kind: 'infra', error: expect.stringContaining('status 3') });
    expect(starts()).toBe(1);
    expect(await pool.run(request)).toMatchObject({ kind: 'ran' });
    expect(readFileSync(join(folder, 'seen'), 'utf8').trim().split('\n').length).toBe(1);
  });

  it('gives up after the second loss, with what the worker said', async () => {
    const { starts } = open(diesBefore);
    expect(await pool.run(request)).toEqual({ kind: 'infra', error: 'the sandbox process ended (status 3): oops' });
    expect(starts()).toBe(2);
  });

  it('reports a worker that cannot be started', async () => {
    open('echo "no namespaces here" >&2; exit 1');
    await expect(pool.warm()).rejects.toThrow('no namespaces here');
    expect(await pool.run(request)).toMatchObject({ kind: 'infra', error: expect.stringContaining('no namespaces here') });
  });

  it('drops a worker that answers with something else than JSON', async () => {
    open(`${ready} read line; echo 'hello' >&3; exec sleep 5`);
    expect(await pool.run(request)).toMatchObject({ kind: 'infra', error: expect.stringContaining('hello') });
  });

  it('reports a command that does not exist', async () => {
    const command = { file: '/nowhere/bwrap', args: [], env: {}, openFiles: [], cwd: '/' };
    pool = new WorkerPool({ size: 1, oneShot: false, outputBytes: 1000, start: () => PythonWorker.start(command) });
    expect(await pool.run(request)).toMatchObject({ kind: 'infra', error: expect.stringContaining('/nowhere/bwrap') });
  });

  it('serves in order, and a caller who leaves the queue is not served', async () => {
    open(
      `${ready} id=1; while read line; do echo "$line" >> $FOLDER/seen; echo '${done}' | sed "s/\\"id\\":1/\\"id\\":$id/" >&3; id=$((id+1)); done`,
    );
    const leaving = new AbortController();
    const runs = ['a', 'b', 'c'].map((code) => pool.run({ ...request, code }, code === 'b' ? leaving.signal : undefined));
    leaving.abort();
    expect((await Promise.all(runs)).map((it) => it.kind)).toEqual(['ran', 'infra', 'ran']);
    const seen = readFileSync(join(folder, 'seen'), 'utf8');
    expect(
      seen
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { code: string }).code),
    ).toEqual(['a', 'c']);
  });

  it('needs at least one worker', () => {
    open(good);
    expect(() => new WorkerPool({ size: 0, oneShot: false, outputBytes: 1, start: () => Promise.reject(new Error()) })).toThrow(RangeError);
  });
});
