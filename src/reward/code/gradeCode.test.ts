/** Judging, on real processes. The sandbox's kinds that need bubblewrap are skipped by name where it is missing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeResult, CodeRunner } from '../../sandbox/codeRunner.js';
import { openCodeRunner } from '../../sandbox/open.js';
import { descendantsOf, hasBubblewrap } from '../../sandbox/testSupport.js';
import { type CodeJudge, openCodeJudge } from './codeJudge.js';
import { type CodeVerdict, type GradeCodeOptions, gradeCode } from './gradeCode.js';
import { readCodeTests } from './readCodeTests.js';

const fenced = (code: string): string => `The program:\n\`\`\`python\n${code}\n\`\`\`\n`;
const squares = { inputs: ['3\n', '-12\n'], outputs: ['9\n', '144\n'] };

for (const sandbox of ['zygote', 'oneshot', 'none'] as const) {
  describe.skipIf(sandbox !== 'none' && !hasBubblewrap)(`the judge in the ${sandbox} sandbox`, () => {
    let runner: CodeRunner;
    let judge: CodeJudge;
    let hasty: CodeJudge;
    beforeAll(async () => {
      runner = await openCodeRunner({ kind: sandbox, workers: 2 });
      judge = await openCodeJudge({ runner, timeoutSeconds: 30, memoryMb: 512 });
      hasty = await openCodeJudge({ runner, timeoutSeconds: 2, memoryMb: 512 });
    });
    afterAll(async () => {
      await runner?.close();
      expect(descendantsOf(process.pid).filter((entry) => entry.state !== 'Z')).toEqual([]);
    });

    const grade = (code: string, tests: unknown, options: Partial<GradeCodeOptions> = {}): Promise<CodeVerdict> =>
      gradeCode(fenced(code), readCodeTests(tests), { judge, ...options });
    const right = (total: number) => ({ kind: 'graded', correct: true, score: 1, reason: 'match', passed: total, total });
    const wrong = (reason: string, passed: number, total: number, detail: RegExp | string = '') => ({
      kind: 'graded',
      correct: false,
      score: passed / total,
      reason,
      passed,
      total,
      detail: detail instanceof RegExp ? expect.stringMatching(detail) : expect.stringContaining(detail),
    });

    describe('with standard input', () => {
      it.each([
        ['input()', 'print(int(input()) ** 2)'],
        ['sys.stdin', 'import sys\nfor line in sys.stdin: print(int(line) ** 2)'],
        ['sys.stdin.buffer', 'import sys\nprint(int(sys.stdin.buffer.read()) ** 2)'],
        ['open(0)', 'print(int(open(0).read()) ** 2)'],
        ['os.read', 'import os\nprint(int(os.read(0, 100)) ** 2)'],
        ['/dev/stdin', 'print(int(open("/dev/stdin").read()) ** 2)'],
        ['sys.stdout.buffer', 'import sys\nsys.stdout.buffer.write(b"%d\\n" % (int(input()) ** 2))'],
        ['sys.stdout.write', 'import sys\nsys.stdout.write(str(int(input()) ** 2))'],
        ['os.write', 'import os\nos.write(1, str(int(input()) ** 2).encode())'],
        ['a main guard', 'def main(): print(int(input()) ** 2)\nif __name__ == "__main__": main()'],
        ['sys.exit', 'import sys\nprint(int(input()) ** 2)\nsys.exit()'],
        ['os._exit', 'import os\nprint(int(input()) ** 2, flush=True)\nos._exit(0)'],
        [
          'a thread with a large stack',
          'import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(1 << 27)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\ndef main():\n    assert f(50000) == 50000\n    print(int(input()) ** 2)\nt = threading.Thread(target=main)\nt.start()\nt.join()',
        ],
        ['deep recursion', 'def f(n): return 0 if n == 0 else 1 + f(n - 1)\nassert f(100000) == 100000\nprint(int(input()) ** 2)'],
        [
          'deep recursion through C',
          'from functools import lru_cache\n@lru_cache(None)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\nassert f(50000) == 50000\nprint(int(input()) ** 2)',
        ],
        ['huge integers', 'n = int(input())\nassert len(str(7 ** 20000)) == 16902\nassert int("9" * 6000) > 0\nprint(n * n)'],
        ['words on stderr', 'import sys\nprint("thinking", file=sys.stderr)\nprint(int(input()) ** 2)'],
      ])('takes a program that uses %s', async (_, code) => {
        expect(await grade(code, squares)).toMatchObject(right(2));
      });

      it('gives the share of tests passed, and the first fault', async () => {
        expect(await grade('print(9)', squares)).toMatchObject(wrong('wrongOutput', 1, 2, 'printed "9"'));
      });

      it.each([
        ['compileError', 'print((', 0, 'SyntaxError'],
        ['runtimeError', 'n = int(input())\nprint(n * n)\nassert n > 0, "negative"', 1, 'AssertionError: negative'],
        ['runtimeError', 'n = int(input())\nprint(n * n)\nraise SystemExit(3)', 0, 'exit status 3'],
        ['runtimeError', 'def f(n): return f(n + 1)\nf(0)', 0, 'RecursionError'],
        ['runtimeError', 'import os\nos.abort()', 0, '134'],
        ['runtimeError', 'print(undefined)', 0, 'NameError'],
        ['memoryLimit', 'b = []\nwhile True: b.append(bytearray(1 << 20))', 0, '512 MB'],
        ['wrongOutput', 'while True: print("x" * 1000)', 0, 'more output'],
        ['wrongOutput', 'pass', 0, 'printed'],
      ])('reports %s of %j', async (reason, code, passed, detail) => {
        expect(await grade(code, squares)).toMatchObject(wrong(reason, passed, 2, detail));
      });

      it("reports a time-out as the program's own", async () => {
        expect(await grade('n = int(input())\nwhile n > 0: pass\nprint(n * n)', squares, { judge: hasty })).toMatchObject(
          wrong('timeout', 1, 2),
        );
      });

      it('takes decimals as they are meant, and integers exactly', async () => {
        const tests = { inputs: [''], outputs: ['0.333333333333 7'] };
        expect(await grade('print(1 / 3 + 1e-9, 7)', tests)).toMatchObject(right(1));
        expect(await grade('print(1 / 3, 7.0)', tests)).toMatchObject(wrong('wrongOutput', 0, 1));
      });

      it('takes output of several megabytes', async () => {
        const output = `${'123456789 '.repeat(300_000)}\n`;
        expect(await grade('print("123456789 " * 300000)', { inputs: ['x'.repeat(2_000_000)], outputs: [output] })).toMatchObject(right(1));
      });

      it('stops early when asked to, with the same verdict whatever runs at once', async () => {
        const inputs = Array.from({ length: 12 }, (_, i) => `${i}\n`);
        const tests = { inputs, outputs: inputs };
        const code = 'import time\nn = int(input())\ntime.sleep(0.3 if n == 3 else 0)\nprint(0 if n in (3, 5, 9) else n)';
        const whole = await grade(code, tests);
        expect(whole).toMatchObject(wrong('wrongOutput', 9, 12));
        for (const parallel of [1, 2, 8]) {
          expect(await grade(code, tests, { stopEarly: true, parallel })).toMatchObject(wrong('wrongOutput', 3, 12));
        }
      });
    });

    describe('with calls', () => {
      const sum = { fn_name: 'total', inputs: ['[1, 2]\n3', '[]\n0'], outputs: ['6', '0'] };
      it.each([
        ['a method of class Solution', 'class Solution:\n    def total(self, a: List[int], b: int) -> int:\n        return sum(a) + b'],
        ['a function', 'def total(a, b): return sum(a) + b'],
        [
          'what an editor imports',
          'class Solution:\n    def total(self, a, b):\n        heap = a + [b]\n        heapify(heap)\n        return reduce(lambda x, y: x + y, deque(heap))',
        ],
        ['printing', 'def total(a, b):\n    print("debug" * 1000)\n    return sum(a) + b'],
        ['a main guard that reads', 'def total(a, b): return sum(a) + b\nif __name__ == "__main__": print(total(input(), 1))'],
        ['numpy numbers', 'import numpy\ndef total(a, b): return numpy.array(a, dtype=int).sum() + b'],
      ])('takes %s', async (_, code) => {
        expect(await grade(code, sum)).toMatchObject(right(2));
      });

      it.each([
        ['a tuple for a list', 'return (1, (2, 3))', '[1, [2, 3]]'],
        ['a float in a list', 'return [0.1 + 0.2]', '[0.3]'],
        ['a list for a list', 'return [1, [2, 3]]', '[1, [2, 3]]'],
        ['an integer', 'return 3', '3'],
        ['a decimal', 'return 3.0000001', '3.0'],
        ['an integer for a decimal', 'return 3', '3.0'],
        ['a truth value', 'return True', 'true'],
        ['a truth value of numpy', 'import numpy\n    return numpy.bool_(True)', 'true'],
        ['an integer of numpy', 'import numpy\n    return [numpy.int64(3)]', '[3]'],
        ['None', 'pass', 'null'],
        ['a text', 'return "a\\"é"', '"a\\"é"'],
        ['a dictionary', 'return {"a": [1]}', '{"a": [1]}'],
        ['a huge integer', 'return 10 ** 5000 + 1', `1${'0'.repeat(4999)}1`],
        ['a not-a-number', 'return float("nan")', 'NaN'],
      ])('compares %s', async (_, body, output) => {
        expect(await grade(`def f():\n    ${body}`, { fn_name: 'f', inputs: [''], outputs: [output] })).toMatchObject(right(1));
      });

      it.each([
        ['a decimal from an integer', 'return 3.0', '3', 'returned'],
        ['a decimal of numpy from an integer', 'import numpy\n    return numpy.float64(3)', '3', 'returned'],
        ['a truth value from an integer', 'return True', '1', 'returned'],
        ['a truth value from a decimal', 'return True', '1.0', 'returned'],
        ['an integer from a truth value', 'return 1', 'true', 'returned'],
        ['a truth value of numpy from an integer', 'import numpy\n    return [numpy.bool_(True)]', '[1]', 'returned'],
        ['a decimal within a tuple from an integer', 'return (1, 2.0)', '[1, 2]', 'returned'],
        ['a text from a number', 'return "3"', '3', 'returned'],
      ])('tells %s', async (_, body, output, detail) => {
        const tests = { fn_name: 'f', inputs: [''], outputs: [output] };
        expect(await grade(`def f():\n    ${body}`, tests)).toMatchObject(wrong('wrongOutput', 0, 1, detail));
      });

      it.each([
        ['wrongOutput', 'def total(a, b): return b', 'returned'],
        ['compileError', 'def total(a, b) return b', 'SyntaxError'],
        ['runtimeError', 'def other(a, b): return b', 'there is no function total'],
        ['runtimeError', 'def total(a): return 1', 'TypeError'],
        ['runtimeError', 'def total(a, b):\n    return a[5]', 'IndexError: list index out of range (line 2)'],
        ['runtimeError', 'def total(a, b): return {1, 2}', 'type set'],
        ['runtimeError', 'def total(a, b):\n    a.append(a)\n    return a', 'ircular'],
        ['runtimeError', 'import sys\nsys.exit(0)', 'SystemExit'],
        ['runtimeError', 'def total(a, b):\n    import os\n    os._exit(0)', 'ended without a result'],
        ['memoryLimit', 'def total(a, b): return len(bytearray(1 << 40))', 'MB'],
      ])('reports %s of %j', async (reason, code, detail) => {
        expect(await grade(code, { fn_name: 'total', inputs: ['[1]\n3'], outputs: ['4'] })).toMatchObject(wrong(reason, 0, 1, detail));
      });
    });

    describe('with assertions', () => {
      const tests = (test_code: string, more = {}) => ({ entry_point: 'f', test_code, ...more });
      const three = tests(
        'def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 3\n    assert candidate(3) == 4\n',
      );

      it.each([
        ['a check function', three, 3],
        ['assertions at the top', tests('assert f(1) == 2\nassert f(2) == 3'), 2],
        ['a check function that is called', tests('def check(candidate):\n    assert candidate(1) == 2\ncheck(f)'), 1],
        [
          'helpers and data before',
          tests(
            'import math\nDATA = [(1, 2), (2, 3)]\ndef same(a, b): return math.isclose(a, b)\ndef check(g):\n    for x, y in DATA:\n        assert same(g(x), y)\n    assert g(x=5) == 6',
          ),
          2,
        ],
        [
          'assertions in a helper',
          tests('def is_it(a, b): assert a == b\ndef check(candidate):\n    for i in range(3): is_it(candidate(i), i + 1)'),
          1,
        ],
        ['a return in it', tests('def check(candidate):\n    assert candidate(1) == 2\n    return True'), 1],
        [
          'locals that closures use',
          tests(
            'def check(candidate):\n    n = 4\n    g = lambda: candidate(n)\n    assert g() == 5\n    assert all(candidate(i) == i + 1 for i in range(n))',
          ),
          2,
        ],
        ['prefix names', tests('assert f(sqrt(4)) == 3', { import_prefix: 'from math import sqrt\n' }), 1],
      ])('runs %s', async (_, value, total) => {
        expect(await grade('def f(x): return x + 1', value)).toMatchObject(right(total));
      });

      it('counts each assertion, and names the first that fails', async () => {
        expect(await grade('def f(x): return x + 1 if x != 2 else 0', three)).toMatchObject(wrong('wrongOutput', 2, 3, 'AssertionError'));
        expect(await grade('def f(x): return x + 1 if x != 2 else 0', three, { stopEarly: true })).toMatchObject(
          wrong('wrongOutput', 1, 3),
        );
      });

      it.each([
        ['compileError', 'def f(x) return x', 0, 'SyntaxError'],
        ['runtimeError', 'def g(x): return x', 0, "name 'f' is not defined"],
        ['runtimeError', 'def f(x):\n    return x + 1 if x != 2 else x / 0', 2, 'ZeroDivisionError: division by zero (line 2)'],
        ['runtimeError', 'import sys\nsys.exit(0)', 0, 'SystemExit'],
        ['runtimeError', 'import os\ndef f(x):\n    if x == 2: os._exit(0)\n    return x + 1', 2, 'ended'],
        ['memoryLimit', 'def f(x): return len(bytearray(1 << 40)) if x == 2 else x + 1', 2, ''],
        ['runtimeError', 'class A: pass\ndef f(x): return A() if x == 2 else x + 1', 2, 'own type A, which cannot be compared'],
        ['wrongOutput', 'def f(x): pass', 0, 'AssertionError'],
      ])('reports %s of %j, and judges what is left', async (reason, code, passed, detail) => {
        expect(await grade(code, three)).toMatchObject(wrong(reason, passed, 3, detail));
      });

      it('gives each assertion its own time', async () => {
        const code = 'def f(x):\n    while x == 2: pass\n    return x + 1';
        expect(await grade(code, three, { judge: hasty })).toMatchObject(wrong('timeout', 2, 3));
        const slow = 'import time\ndef f(x):\n    time.sleep(0.9)\n    return x + 1';
        expect(await grade(slow, three, { judge: hasty })).toMatchObject(right(3));
      });

      it.each([
        [
          'tuples, sets and other plain types',
          'def f(x): return (1, {2, 3}, frozenset([4]), b"a", 2j, {(1, 2): [None]}, range(3), float("inf"))',
          'assert f(1) == (1, {2, 3}, frozenset([4]), b"a", 2j, {(1, 2): [None]}, range(3), float("inf"))\nassert type(f(1)) is tuple',
        ],
        [
          'subclasses of plain types',
          'from collections import Counter, namedtuple\nP = namedtuple("P", "a b")\ndef f(x): return [Counter("aab"), P(1, 2)]',
          'assert f(1) == [{"a": 2, "b": 1}, (1, 2)]',
        ],
        [
          'numbers of numpy',
          'import numpy\ndef f(x): return numpy.float64(0.5), numpy.int64(3), numpy.arange(2)',
          'assert f(1) == (0.5, 3, [0, 1])',
        ],
        ['iterators', 'def f(x):\n    yield from range(x)', 'assert list(f(3)) == [0, 1, 2]\nassert next(f(1)) == 0'],
        [
          'errors',
          'def f(x):\n    class Odd(ValueError): pass\n    raise Odd("odd")',
          'try:\n    f(1)\n    assert False\nexcept ValueError as error:\n    assert "odd" in str(error)',
        ],
        [
          'work in place',
          'def f(x):\n    x[0].append(3)\n    x.sort(key=len)',
          'a = [[1, 2], [9]]\nfirst = a[0]\nf(a)\nassert a == [[9], [1, 2, 3]]\nassert a[1] is first',
        ],
        ['nothing in place where something is returned', 'def f(x):\n    x.clear()\n    return []', 'a = [2, 1]\nassert f(a) != sorted(a)'],
        ['keyword arguments', 'def f(*, x, y=1): return x - y', 'assert f(x=3) == 2\nassert f(y=2, x=3) == 1'],
        [
          'cycles and shared parts',
          'def f(x):\n    a = [x]\n    a.append(a)\n    return [a, a]',
          'r = f(1)\nassert r[0] is r[1] and r[0][1] is r[0] and r[0][0] == 1',
        ],
        [
          'values nested deeply',
          'def f(x):\n    r = []\n    for _ in range(50000): r = [r]\n    return r',
          'r = f(1)\nn = 0\nwhile r:\n    r = r[0]\n    n += 1\nassert n == 50000',
        ],
        ['integers of any size', 'def f(x): return x ** 300', 'assert f(10 ** 20) == 10 ** 6000'],
      ])('carries %s between tests and program', async (_, code, test_code) => {
        const verdict = await grade(code, tests(test_code));
        expect(verdict).toMatchObject({ correct: true });
      });

      const lists =
        'class ListNode:\n    def __init__(self, val=0, next=None):\n        self.val = val\n        self.next = next\n' +
        'def build(values):\n    head = None\n    for v in reversed(values): head = ListNode(v, head)\n    return head\n' +
        'def same(a, b):\n    while a and b and a.val == b.val: a, b = a.next, b.next\n    return a is None and b is None\n';
      const reversal = {
        entry_point: 'Solution().flip',
        import_prefix: `from typing import *\n${lists}`,
        test_code:
          'def check(candidate):\n    assert same(candidate(head=build([1, 2, 3])), build([3, 2, 1]))\n    assert candidate(head=None) is None\n    assert same(candidate(build(range(20000))), build(range(19999, -1, -1)))',
      };
      const flip =
        'class Solution:\n    def flip(self, head: Optional[ListNode]) -> Optional[ListNode]:\n        last = None\n        while head: head.next, last, head = last, head, head.next\n        return last';

      it('carries objects of classes that the prefix defines', async () => {
        expect(await grade(flip, reversal)).toMatchObject(right(3));
        expect(
          await grade(`class ListNode:\n    def __init__(self, val=0, next=None): self.val, self.next = val, next\n${flip}`, reversal),
        ).toMatchObject(right(3));
        expect(await grade(flip.replace('return last', 'return head'), reversal)).toMatchObject(wrong('wrongOutput', 1, 3));
      });

      it("leaves objects of the program's own where they are, and forwards calls", async () => {
        const value = {
          entry_point: 'Stack',
          test_code: 's = Stack(2)\ns.push(5)\ns.push(6)\nassert s.pop() == 6\nassert s.items == [5]\nassert s.limit == 2',
        };
        expect(
          await grade(
            'class Stack:\n    def __init__(self, limit):\n        self.limit, self.items = limit, []\n    def push(self, x): self.items.append(x)\n    def pop(self): return self.items.pop()',
            value,
          ),
        ).toMatchObject(right(3));
      });

      it.each([
        ['do not compile', 'def check(candidate)\n    assert candidate(1) == 2', {}, 'SyntaxError'],
        ['use what they do not define', 'assert same(f(1), 2)', {}, 'same'],
        ['pass a function', 'assert f(lambda: 1) == 2', {}, 'function'],
        ['never call the program', 'assert 1 == 1', {}, 'never call'],
        ['fail before they begin', 'DATA = [1][2]\nassert f(1) == 2', {}, 'IndexError'],
        ['have a prefix that does not run', 'assert f(1) == 2', { import_prefix: 'import nowhere_to_be_found' }, 'nowhere_to_be_found'],
        ['are a comment', '# nothing', {}, 'tests'],
      ])('is not to blame where the tests %s', async (_, test_code, more, error) => {
        expect(await grade('def f(x): return x + 1', tests(test_code, more))).toMatchObject({
          kind: 'infra',
          brokenTests: true,
          error: expect.stringContaining(error),
        });
      });

      it('is to blame where the tests work on what it returned, outside of an assertion', async () => {
        const value = tests('r = f(1)\nfirst = r[0]\nassert first == 1\nassert f(2) == [2]');
        expect(await grade('def f(x): return [x]', value)).toMatchObject(right(2));
        expect(await grade('def f(x): return x', value)).toMatchObject(wrong('wrongOutput', 0, 2));
      });

      it('counts an assertion without a call where the first one with a call ran out of time', async () => {
        const value = tests('assert f(1) == 1\nassert True');
        expect(await grade('def f(x):\n    while True: pass', value, { judge: hasty })).toMatchObject(wrong('timeout', 1, 2));
      });
    });

    it('leaves nothing running', async () => {
      const before = descendantsOf(process.pid).length;
      const spawn = 'import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n';
      await grade(`${spawn}print(int(input()) ** 2)`, squares);
      await grade(`${spawn}def f(x): return x`, { fn_name: 'f', inputs: ['1'], outputs: ['1'] });
      await grade(`${spawn}def f(x): return x`, { entry_point: 'f', test_code: 'assert f(1) == 1\nassert f(2) == 2' });
      expect(descendantsOf(process.pid).length).toBeLessThanOrEqual(before);
    });

    it('is cancelled as a whole', async () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 100);
      expect(await grade('while True: pass', squares, { signal: controller.signal })).toEqual({ kind: 'infra', error: 'cancelled' });
    });
  });
}

describe('the verdict', () => {
  const ran: CodeResult = { kind: 'ran', ending: 'finished', exitCode: 0, stdout: '9', stderr: '', seconds: 0, queuedSeconds: 0 };
  const withRunner = async (answers: CodeResult[]) => {
    let runs = 0;
    const runner: CodeRunner = { name: 'scripted', run: async () => answers[Math.min(runs++, answers.length - 1)]!, close: async () => {} };
    const judge = await openCodeJudge({ runner });
    const verdict = await gradeCode(fenced('print(9)'), readCodeTests({ inputs: ['3'], outputs: ['9'] }), { judge });
    return { verdict, runs };
  };

  it('is infra when the sandbox fails twice, and never a score', async () => {
    expect(await withRunner([{ kind: 'infra', error: 'down' }])).toEqual({ verdict: { kind: 'infra', error: 'down' }, runs: 2 });
  });

  it('is a score when the sandbox recovers', async () => {
    expect(await withRunner([{ kind: 'infra', error: 'down' }, ran])).toMatchObject({ verdict: { correct: true }, runs: 2 });
  });

  it('is that there is no program', async () => {
    const runner: CodeRunner = { name: 'never', run: () => Promise.reject(new Error('ran')), close: async () => {} };
    const judge = await openCodeJudge({ runner });
    for (const tests of [squares, { entry_point: 'f', test_code: 'assert f(1)' }]) {
      expect(await gradeCode('I do not know.', readCodeTests(tests), { judge })).toMatchObject({
        kind: 'graded',
        correct: false,
        score: 0,
        reason: 'noProgram',
      });
    }
  });

  it('shows the program', async () => {
    expect((await withRunner([ran])).verdict).toMatchObject({ extracted: 'print(9)' });
  });
});
