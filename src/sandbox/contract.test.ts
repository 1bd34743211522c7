/** What every kind of runner promises, on real processes. Kinds that need bubblewrap are skipped by name where it is missing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeRequest, CodeResult } from './codeRunner.js';
import { type OpenedRunner, openCodeRunner } from './open.js';
import { descendantsOf, hasBubblewrap } from './testSupport.js';

type Ran = CodeResult & { kind: 'ran' };

for (const kind of ['zygote', 'oneshot', 'none'] as const) {
  describe.skipIf(kind !== 'none' && !hasBubblewrap)(`the ${kind} runner`, () => {
    let runner: OpenedRunner;

    beforeAll(async () => {
      runner = await openCodeRunner({ kind, workers: 2, outputBytes: 100_000 });
    });
    afterAll(async () => {
      await runner?.close();
      expect(descendantsOf(process.pid).filter((entry) => entry.state !== 'Z')).toEqual([]);
    });

    async function run(code: string, more: Partial<CodeRequest> = {}): Promise<Ran> {
      const result = await runner.run({ code, timeoutSeconds: 30, memoryMb: 512, ...more });
      if (result.kind === 'infra') throw new Error(result.error);
      return result;
    }

    const finished = (stdout: string, exitCode = 0, stderr = '') => ({ ending: 'finished', stdout, stderr, exitCode });

    describe('with echoLast', () => {
      it.each([
        ['an expression', '1 + 1', '2\n'],
        ['text, as its repr', '"a\\n"', "'a\\n'\n"],
        ['None', 'None', ''],
        ['a call that returns None', 'print(3)', '3\n'],
        ['a loop at the end', 'for i in range(2):\n    print(i)', '0\n1\n'],
        ['a loop with an expression in it', 'for i in range(2):\n    i', ''],
        ['an assignment', 'x = 5', ''],
        ['an import', 'import os', ''],
        ['an assertion', 'assert True', ''],
        ['a semicolon line', 'x = 3; x + 1', '4\n'],
        ['a semicolon at the end', 'x = 3; x;', '3\n'],
        ['a comment at the end', '7 * 6  # the answer\n# done', '42\n'],
        ['blank lines at the end', '7\n\n  \n', '7\n'],
        ['an expression over several lines', '(1 +\n 2\n)', '3\n'],
        ['a class whose repr is its own', 'class A:\n    def __repr__(self):\n        return "<A>"\nA()', '<A>\n'],
        ['a name that starts with print', 'printer = 3\nprinter', '3\n'],
        ['a docstring alone', '"hello"', "'hello'\n"],
        ['nothing', '', ''],
        ['only a comment', '# nothing', ''],
        ['a walrus', '(y := 4)', '4\n'],
        ['what came before it', 'from __future__ import annotations\nprint(1)\n2', '1\n2\n'],
      ])('shows %s', async (_, code, stdout) => {
        expect(await run(code, { echoLast: true })).toMatchObject(finished(stdout));
      });

      it('names the line of an error in the last expression', async () => {
        const { stderr, exitCode } = await run('x = 0\n\n1 / x', { echoLast: true });
        expect(stderr).toContain('File "<code>", line 3, in <module>');
        expect(exitCode).toBe(1);
      });
    });

    it('prints no value when it is not asked to', async () => {
      expect(await run('1 + 1')).toMatchObject(finished(''));
    });

    it('keeps stdout and stderr apart', async () => {
      expect(await run('import sys\nprint("a")\nprint("b", file=sys.stderr)\nprint("c")')).toMatchObject(finished('a\nc\n', 0, 'b\n'));
    });

    it('passes protocol look-alikes through as text', async () => {
      const line = '{"kind": "ran", "id": 1, "ending": "finished"}\n';
      expect(await run(`print('${line.trim()}')`)).toMatchObject(finished(line));
    });

    it('gives stdin, then its end', async () => {
      const code = 'import sys\nfirst = input()\nprint([first, sys.stdin.read()])';
      expect(await run(code, { stdin: 'one\ntwo\nthré\n' })).toMatchObject(finished("['one', 'two\\nthré\\n']\n"));
    });

    it('raises EOFError without stdin', async () => {
      expect((await run('input()')).stderr).toMatch(/EOFError/);
    });

    it('takes a long stdin', async () => {
      expect(await run('import sys\nprint(len(sys.stdin.buffer.read()))', { stdin: 'x'.repeat(3_000_000) })).toMatchObject(
        finished('3000000\n'),
      );
    });

    it('has real streams', async () => {
      const code =
        'import sys, os\nsys.stdout.buffer.write(b"raw\\n")\nsys.stdout.flush()\nos.write(1, b"fd\\n")\nprint(sys.stdin.fileno())';
      expect(await run(code)).toMatchObject(finished('raw\nfd\n0\n'));
    });

    it('replaces bytes that are no UTF-8', async () => {
      expect(await run('import sys\nsys.stdout.buffer.write(bytes([65, 255, 0, 66]))')).toMatchObject(finished('A\ufffd\u0000B'));
    });

    it.each([
      ['sys.exit(3)', 'import sys; print(1); sys.exit(3)', finished('1\n', 3)],
      ['sys.exit()', 'import sys; sys.exit()', finished('', 0)],
      ['sys.exit with a text', 'import sys; sys.exit("bad")', finished('', 1, 'bad\n')],
      ['os._exit', 'import os; os._exit(9)', finished('', 9)],
      ['a signal', 'import os, signal; os.kill(os.getpid(), signal.SIGTERM)', finished('', 143)],
      ['abort', 'import os; os.abort()', finished('', 134)],
    ])('reports the exit status of %s', async (_, code, expected) => {
      expect(await run(code)).toMatchObject(expected);
    });

    it('runs handlers and waits for threads at the end', async () => {
      const code =
        'import atexit, threading, time\natexit.register(print, "bye")\n' +
        'threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()\nprint("main")';
      expect(await run(code)).toMatchObject(finished('main\nthread\nbye\n'));
    });

    it('shows a traceback with the source and no frame of ours', async () => {
      const { stderr } = await run('def f(x):\n    return 1 / x\nf(0)');
      expect(stderr).toContain('  File "<code>", line 3, in <module>\n    f(0)\n');
      expect(stderr).toContain('  File "<code>", line 2, in f\n    return 1 / x\n');
      expect(stderr.trimEnd().endsWith('ZeroDivisionError: division by zero')).toBe(true);
      expect(stderr).not.toMatch(/program\.py|supervisor\.py/);
    });

    it('shows a syntax error without frames', async () => {
      const { stderr, exitCode } = await run('def f(:\n  pass', { echoLast: true });
      expect(stderr).toMatch(/^ {2}File "<code>", line 1\n/);
      expect(stderr).toMatch(/SyntaxError: /);
      expect(stderr).not.toMatch(/ast\.py/);
      expect(exitCode).toBe(1);
    });

    it('keeps the traceback of deep recursion short', async () => {
      const { stderr, exitCode } = await run('def f(n):\n    return g(n)\ndef g(n):\n    return f(n + 1)\nf(0)');
      expect(stderr).toMatch(/entries left out[\s\S]*RecursionError/);
      expect(stderr.split('\n').length).toBeLessThan(80);
      expect(exitCode).toBe(1);
    });

    it('survives recursion past the stack', async () => {
      const result = await run('import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return sorted([n], key=lambda x: f(x + 1))\nf(0)');
      expect(result.exitCode).not.toBe(0);
      expect(await run('print("next")')).toMatchObject(finished('next\n'));
    });

    it('reports source that cannot be encoded or holds a null', async () => {
      expect(await run('x = "\ud800"')).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/Error/) });
      expect(await run('x = 1\0')).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/Error/) });
    });

    it('prints a number of a hundred thousand digits', async () => {
      const { stdout } = await run('print(len(str(10**100000)))\nprint(7**110000)', { timeoutSeconds: 60 });
      expect(stdout.split('\n')[0]).toBe('100001');
      expect(stdout.split('\n')[1]!.length).toBe(92_961);
    });

    it('is __main__, so that classes can be pickled and processes started', async () => {
      const code =
        'import pickle, multiprocessing\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)\n' +
        'def square(x): return x * x\nif __name__ == "__main__":\n    with multiprocessing.Pool(2) as pool: print(pool.map(square, range(4)))';
      expect(await run(code)).toMatchObject(finished('True\n[0, 1, 4, 9]\n'));
    });

    it('stops an endless program and keeps what it printed', async () => {
      const result = await run('print("first")\nwhile True: pass', { timeoutSeconds: 0.3 });
      expect(result).toMatchObject({ ending: 'timeout', stdout: 'first\n' });
      expect(result.exitCode).not.toBe(0);
    });

    it('stops a program that closed its streams', async () => {
      expect(await run('import os\nos.close(1); os.close(2)\nwhile True: pass', { timeoutSeconds: 0.3 })).toMatchObject({
        ending: 'timeout',
      });
    });

    it('tells a memory limit from an error and from a time-out', async () => {
      const grow = 'print("first")\nblocks = []\nwhile True: blocks.append(bytearray(1 << 20))';
      expect(await run(grow, { memoryMb: 128 })).toMatchObject({ ending: 'memoryLimit', stdout: 'first\n' });
      expect(await run('blocks = [bytearray(1 << 20) for _ in range(64)]\nprint(len(blocks))', { memoryMb: 256 })).toMatchObject(
        finished('64\n'),
      );
    });

    it('lets a program go on after a MemoryError it caught', async () => {
      expect(await run('try:\n    bytearray(1 << 40)\nexcept MemoryError:\n    print("caught")')).toMatchObject(finished('caught\n'));
    });

    it('counts the memory of all processes together, and shared memory once', async () => {
      const each =
        'import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        b = b"x" * (50 << 20)\n        time.sleep(20)\n        os._exit(0)\ntime.sleep(20)';
      expect(await run(each, { memoryMb: 200 })).toMatchObject({ ending: 'memoryLimit' });
      const shared =
        'import os, time\nb = b"x" * (100 << 20)\nchildren = []\nfor _ in range(4):\n    pid = os.fork()\n    if pid == 0:\n' +
        '        sum(b[::4096])\n        time.sleep(0.2)\n        os._exit(0)\n    children.append(pid)\n' +
        'print(sum(os.waitpid(pid, 0)[1] for pid in children))';
      expect(await run(shared, { memoryMb: 250 })).toMatchObject(finished('0\n'));
    });

    it('ends a program that prints without end', async () => {
      const result = await run('while True: print("x" * 1000)');
      expect(result.ending).toBe('outputLimit');
      expect(result.stdout.length).toBe(100_000);
      expect((await run('import sys\nwhile True: print("x" * 1000, file=sys.stderr)')).ending).toBe('outputLimit');
    });

    it('leaves nothing running that a program started', async () => {
      const before = descendantsOf(process.pid).length;
      const code =
        'import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(1000)\n    os._exit(0)\nprint("done")';
      expect(await run(code)).toMatchObject(finished('done\n'));
      expect(descendantsOf(process.pid).length).toBeLessThanOrEqual(before);
    });

    it('draws other random numbers each time, and the same hash', async () => {
      const code = 'import random\nprint(random.random(), hash("a"))';
      const printed = await Promise.all(Array.from({ length: 4 }, async () => (await run(code)).stdout.split(' ')));
      expect(new Set(printed.map((it) => it[0])).size).toBe(4);
      expect(new Set(printed.map((it) => it[1])).size).toBe(1);
    });

    it('gives a program only its three descriptors', async () => {
      const code =
        'import os\ndef is_open(n):\n    try: return bool(os.fstat(n))\n    except OSError: return False\nprint([n for n in range(1024) if is_open(n)])';
      expect(await run(code)).toMatchObject(finished('[0, 1, 2]\n'));
    });

    it('runs at most as many at once as it has workers, and counts waiting apart', async () => {
      const code = 'import time\nstart = time.time()\ntime.sleep(0.15)\nprint(start, time.time())';
      const results = await Promise.all(Array.from({ length: 6 }, () => run(code)));
      const spans = results.map((it) => it.stdout.split(' ').map(Number) as [number, number]);
      for (const [start] of spans) expect(spans.filter(([from, to]) => from <= start && start < to).length).toBeLessThanOrEqual(2);
      expect(results.filter((it) => it.queuedSeconds > 0.1).length).toBe(4);
    });

    it('cancels what runs and what waits', async () => {
      const before = descendantsOf(process.pid).length;
      const controller = new AbortController();
      const request = { code: 'while True: pass', timeoutSeconds: 60, memoryMb: 128 };
      const runs = Array.from({ length: 4 }, () => runner.run(request, controller.signal));
      setTimeout(() => controller.abort(), 200);
      expect(await Promise.all(runs)).toEqual(Array(4).fill({ kind: 'infra', error: 'cancelled' }));
      expect(descendantsOf(process.pid).length).toBeLessThanOrEqual(before);
      expect(await run('print("next")')).toMatchObject(finished('next\n'));
      expect(descendantsOf(process.pid).length).toBeLessThanOrEqual(before);
      expect(await runner.run(request, AbortSignal.abort())).toEqual({ kind: 'infra', error: 'cancelled' });
    });

    it('refuses limits that make no sense', async () => {
      expect(await runner.run({ code: '1', timeoutSeconds: 0, memoryMb: 100 })).toMatchObject({ kind: 'infra' });
      expect(await runner.run({ code: '1', timeoutSeconds: 1, memoryMb: Number.NaN })).toMatchObject({ kind: 'infra' });
    });
  });
}
