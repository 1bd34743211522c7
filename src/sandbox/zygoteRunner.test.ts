/** What only the pre-warmed pool has to show: no leak between programs of one worker, replacement, no process left behind. */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type OpenedRunner, openCodeRunner } from './open.js';
import { pythonSourcePath, pythonSources } from './pythonWorker.js';
import { descendantsOf, eventually, hasBubblewrap, running } from './testSupport.js';

const limits = { timeoutSeconds: 30, memoryMb: 512 };

describe.skipIf(!hasBubblewrap)('the zygote pool', () => {
  let runner: OpenedRunner;
  const open = async (workers: number) => {
    runner = await openCodeRunner({ kind: 'zygote', workers });
    return runner;
  };
  afterEach(async () => {
    await runner.close();
    expect(descendantsOf(process.pid).filter((entry) => entry.state !== 'Z')).toEqual([]);
  });

  async function stdout(code: string, more = {}): Promise<string> {
    const result = await runner.run({ code, ...limits, ...more });
    return result.kind === 'ran' ? result.stdout + result.stderr : result.error;
  }

  it('carries nothing from one program to the next', async () => {
    await open(1);
    await stdout(
      'import sys, os, random, numpy, math, builtins, decimal\nbuiltins.print = None\nmath.pi = 3\nsys.modules["json"] = None\n' +
        'os.environ["LEFT"] = "1"\nos.chdir("/dev/shm")\nopen("/tmp/left", "w").close()\nnumpy.set_printoptions(precision=1)\n' +
        'decimal.getcontext().prec = 3\nsys.setrecursionlimit(50)\nopen("/dev/shm/left", "w").close()',
    );
    const look =
      'import sys, os, math, json, numpy, decimal\nprint(math.pi > 3.1, "LEFT" in os.environ, os.getcwd(), os.listdir("/tmp"), os.listdir("/dev/shm"), ' +
      'numpy.get_printoptions()["precision"], decimal.getcontext().prec, sys.getrecursionlimit())';
    expect(await stdout(look)).toBe('True False /tmp [] [] 8 28 1000\n');
  });

  it("shows a program none of the sandbox's own modules", async () => {
    await open(1);
    const own = pythonSources.map((name) => name.replace('.py', ''));
    const code = `import sys\nfor name in ${JSON.stringify(own)}:\n    assert name not in sys.modules, name\n    try:\n        __import__(name)\n        print("found", name)\n    except ImportError: pass`;
    expect(await stdout(code)).toBe('');
  });

  it('draws other numpy and sympy numbers in each program', async () => {
    await open(1);
    const code = 'import numpy, sympy.core.random\nprint(numpy.random.rand(), sympy.core.random.random())';
    const pairs = [await stdout(code), await stdout(code), await stdout(code)].map((it) => it.trim().split(' '));
    expect(new Set(pairs.map((it) => it[0])).size).toBe(3);
    expect(new Set(pairs.map((it) => it[1])).size).toBe(3);
  });

  it('answers many callers, each with their own', async () => {
    await open(2);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => stdout(`print(${i} ** 2)`)));
    expect(answers).toEqual(Array.from({ length: 60 }, (_, i) => `${i ** 2}\n`));
  });

  it('leaves no zombie', async () => {
    await open(1);
    const before = descendantsOf(process.pid).length;
    for (let i = 0; i < 10; i++) await stdout('import os\nfor _ in range(3):\n    if os.fork() == 0: os._exit(0)');
    const after = descendantsOf(process.pid);
    expect(after.length).toBe(before);
    expect(after.filter((entry) => entry.state === 'Z')).toEqual([]);
  });

  it('replaces a worker that died idle, and the next program does not notice', async () => {
    await open(1);
    const [worker, ...below] = descendantsOf(process.pid).map((entry) => entry.pid);
    process.kill(worker!, 'SIGKILL');
    expect(await stdout('print("fine")')).toBe('fine\n');
    await eventually(() => running(below).length === 0, 'what the dead worker ran is gone');
  });

  it('reports a worker that died during a program as infra, and replaces it', async () => {
    await open(1);
    const [worker, ...others] = descendantsOf(process.pid);
    const lost = runner.run({ code: 'import time; time.sleep(60)', timeoutSeconds: 100, memoryMb: 256 });
    await eventually(() => descendantsOf(process.pid).length >= others.length + 3, 'the program runs');
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.kill(worker!.pid, 'SIGKILL');
    expect(await lost).toMatchObject({ kind: 'infra', error: expect.stringContaining('SIGKILL') });
    expect(await stdout('print("fine")')).toBe('fine\n');
  });

  it('ends what runs and what waits when it is closed', async () => {
    await open(1);
    const runs = [1, 2].map(() => runner.run({ code: 'while True: pass', timeoutSeconds: 100, memoryMb: 256 }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await runner.close();
    expect((await Promise.all(runs)).map((it) => it.kind)).toEqual(['infra', 'infra']);
    expect(await runner.run({ code: '1', ...limits })).toEqual({ kind: 'infra', error: 'the code runner is closed' });
  });

  it('dies with the process that opened it', async () => {
    await open(1);
    const script = `
      import { openCodeRunner } from ${JSON.stringify(fileURLToPath(new URL('open.ts', import.meta.url)))};
      const runner = await openCodeRunner({ kind: 'zygote', workers: 2 });
      runner.run({ code: 'import os; os.fork(); os.fork()\\nwhile True: pass', timeoutSeconds: 1000, memoryMb: 256 });
      setTimeout(() => console.log('running'), 500);`;
    const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => parent.stdout.once('data', resolve));
    const below = descendantsOf(parent.pid!).map((entry) => entry.pid);
    expect(below.length).toBeGreaterThanOrEqual(8);
    parent.kill('SIGKILL');
    await eventually(() => running(below).length === 0, 'all processes of the sandbox are gone');
  });
});

describe('the Python of the sandbox', () => {
  it('is listed as a whole, and each file is there', () => {
    const there = readdirSync(dirname(pythonSourcePath('supervisor.py'))).filter((name) => name.endsWith('.py'));
    expect([...pythonSources].sort()).toEqual(there.sort());
  });
});
