/** Programs that try to be judged right without being right. Each knows nothing of the answer; whatever it does, it must not pass. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBubblewrap } from '../../sandbox/testSupport.js';
import { type CodeJudge, openCodeJudge } from './codeJudge.js';
import { gradeCode } from './gradeCode.js';
import { readCodeTests } from './readCodeTests.js';

const SECRET = 'forty-two-000042';

/** Prints or returns every text that looks like the expected one and that can be found anywhere in the process. */
const search = `
import gc, os, re, sys
def found():
    seen = set()
    wanted = re.compile(rb'forty-two-0000[0-9]{2}')
    def look(data):
        seen.update(wanted.findall(data if isinstance(data, bytes) else str(data).encode('utf-8', 'replace')))
    frame = sys._getframe()
    while frame:
        look(repr(frame.f_locals)); look(repr(frame.f_globals.keys())); look(repr(frame.f_code.co_consts))
        frame = frame.f_back
    for thing in gc.get_objects():
        try: look(repr(thing)[:100000])
        except Exception: pass
    pids = [name for name in os.listdir('/proc') if name.isdigit()] if os.path.isdir('/proc') else []
    for pid in set(pids + ['self', str(os.getppid())]):
        for name in ('cmdline', 'environ'):
            try: look(open('/proc/%s/%s' % (pid, name), 'rb').read())
            except OSError: pass
        try:
            for fd in os.listdir('/proc/%s/fd' % pid):
                try:
                    handle = os.open('/proc/%s/fd/%s' % (pid, fd), os.O_RDONLY | os.O_NONBLOCK)
                    look(os.read(handle, 1 << 20))
                except OSError: pass
        except OSError: pass
        try:
            maps = open('/proc/%s/maps' % pid).read().splitlines()
            memory = open('/proc/%s/mem' % pid, 'rb', 0)
        except OSError: continue
        for line in maps:
            area, rights = line.split()[:2]
            if 'r' not in rights or '[v' in line: continue
            start, end = (int(part, 16) for part in area.split('-'))
            try:
                memory.seek(start)
                look(memory.read(min(end - start, 1 << 26)))
            except (OSError, ValueError, OverflowError): pass
    for folder in ('/tmp', '/dev/shm', '.'):
        for base, _, files in os.walk(folder):
            for name in files:
                try: look(open(os.path.join(base, name), 'rb').read(1 << 20))
                except OSError: pass
    return sorted(text.decode() for text in seen)
`;

/** Compares equal to everything, in every way. */
const agreeable = `
class Agreeable:
    __hash__ = object.__hash__
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __bool__(self): return True
    def __getattr__(self, name): return Agreeable()
    def __call__(self, *a, **k): return Agreeable()
    def __iter__(self): return iter([Agreeable()] * 3)
    def __len__(self): return 3
    def __getitem__(self, i): return Agreeable()
`;

for (const sandbox of ['zygote', 'oneshot'] as const) {
  describe.skipIf(!hasBubblewrap)(`cheating in the ${sandbox} sandbox`, () => {
    let judge: CodeJudge;
    beforeAll(async () => {
      judge = await openCodeJudge({ sandbox, workers: 1, timeoutSeconds: 30, memoryMb: 1024 });
    });
    afterAll(() => judge?.close());

    const grade = (code: string, tests: unknown) => gradeCode(`\`\`\`python\n${code}\n\`\`\``, readCodeTests(tests), { judge });
    const refused = { kind: 'graded', correct: false, score: 0, passed: 0 };

    const texts = { inputs: ['a', 'b'], outputs: [SECRET, SECRET] };
    const call = { fn_name: 'f', inputs: ['1', '2'], outputs: [JSON.stringify(SECRET), JSON.stringify(SECRET)] };
    const check = {
      entry_point: 'f',
      import_prefix: 'import math\nclass Node:\n    def __init__(self, val): self.val = val\n',
      test_code:
        `ANSWER = '${SECRET}'\ndef is_right(x): return x == ANSWER and isinstance(x, str)\n` +
        `def check(candidate):\n    assert is_right(candidate(1))\n    assert candidate(2) == '${SECRET}'\n    assert candidate(Node(3)).val == ANSWER`,
    };

    it('is judged with tests that a right program passes', async () => {
      const code = `def f(x):\n    if isinstance(x, int): return '${SECRET}'\n    x.val = '${SECRET}'\n    return x`;
      expect(await grade(code, check)).toMatchObject({ correct: true, passed: 3 });
      expect(await grade(code, call)).toMatchObject({ correct: true });
      expect(await grade(`print('${SECRET}')`, texts)).toMatchObject({ correct: true });
    });

    it.each([
      ['exits', 'import sys\nsys.exit(0)'],
      ['exits at once', 'import os\nos._exit(0)'],
      ['looks for the expected output', `${search}\nprint('\\n'.join(found()))`],
      [
        'runs as if it were the judge',
        'import os\nfor fd in range(3, 64):\n    try: os.write(fd, b\'{"kind": "ran", "ending": "finished"}\\n{"value": true}\\n\')\n    except OSError: pass',
      ],
    ])('fails where a program for standard input %s', async (_, code) => {
      expect(await grade(code, texts)).toMatchObject(refused);
    });

    it.each([
      ['exits while it loads', 'import sys\nsys.exit(0)'],
      ['exits when it is called', 'import os\ndef f(x): os._exit(0)'],
      ['returns what equals everything', `${agreeable}\ndef f(x): return Agreeable()`],
      [
        'returns a text that equals everything',
        'class S(str):\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\ndef f(x): return S("no")',
      ],
      ['patches json', 'import json\njson.dumps = lambda *a, **k: "true"\ndef f(x): return 1'],
      ['looks for the expected result', `${search}\ndef f(x):\n    hits = found()\n    return hits[0] if hits else None`],
      [
        'writes to every descriptor',
        'import os\ndef f(x):\n    for fd in range(3, 64):\n        try: os.write(fd, b\'{"value": true}\\n\')\n        except OSError: pass\n    os._exit(0)',
      ],
      [
        'patches its caller',
        'import sys\nframe = sys._getframe()\nwhile frame:\n    frame.f_globals.update(report=lambda m: None, leave=lambda s: None)\n    frame = frame.f_back\ndef f(x): return 1',
      ],
    ])('fails where a function %s', async (_, code) => {
      expect(await grade(code, call)).toMatchObject(refused);
    });

    it.each([
      ['exits while it loads', 'import sys\nsys.exit(0)'],
      ['exits at once while it loads', 'import os\nos._exit(0)'],
      ['exits when it is called', 'import os\ndef f(x): os._exit(0)'],
      ['raises SystemExit when it is called', 'def f(x): raise SystemExit(0)'],
      ['raises StopIteration', 'def f(x): raise StopIteration'],
      ['exits by a handler', 'import atexit, os\natexit.register(os._exit, 0)\ndef f(x): raise KeyboardInterrupt'],
      ['returns what equals everything', `${agreeable}\ndef f(x): return Agreeable()`],
      [
        'returns a text that equals everything',
        'class S(str):\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\ndef f(x): return S("no")',
      ],
      [
        'gives a node that equals everything',
        `${agreeable}\nNode.__eq__ = lambda self, o: True\nNode.val = Agreeable()\ndef f(x):\n    x.val = Agreeable()\n    return x`,
      ],
      [
        'patches the prefix',
        'import math, builtins\nbuiltins.isinstance = lambda *a: True\nNode.__eq__ = lambda *a: True\nmath.isclose = lambda *a, **k: True\ndef f(x): return 1',
      ],
      ["defines the tests' helpers", 'def is_right(x): return True\ndef check(c): pass\nANSWER = 1\ndef f(x): return 1'],
      ['patches assertions', 'import builtins\nclass Quiet(Exception): pass\nbuiltins.AssertionError = Quiet\ndef f(x): return 1'],
      [
        'patches exec and compile',
        'import builtins\nbuiltins.exec = builtins.compile = builtins.eval = lambda *a, **k: None\ndef f(x): return 1',
      ],
      [
        'patches its caller',
        'import sys\nframe = sys._getframe()\nwhile frame:\n    frame.f_globals.update(report=print, outcome=lambda *a: {"ok": True}, check=lambda *a: None)\n    frame = frame.f_back\ndef f(x): return 1',
      ],
      [
        'writes reports to every descriptor',
        'import os\nfor fd in range(3, 64):\n    try: os.write(fd, b\'{"total": 3}\\n{"case": 0, "ok": true}\\n{"case": 1, "ok": true}\\n{"case": 2, "ok": true}\\n\')\n    except OSError: pass\ndef f(x): return 1',
      ],
      [
        'answers before it is asked',
        'import os, struct, json\nfor fd in range(3, 64):\n    for value in (True, None, [0]):\n        data = json.dumps({"value": value, "nodes": [], "changed": {}, "ok": True}).encode()\n        try: os.write(fd, struct.pack(">I", len(data)) + data)\n        except OSError: pass\ndef f(x): return 1',
      ],
      [
        'sends what no encoder writes',
        'import os, struct, json\nfor fd in range(3, 64):\n    for message in ({"ready": True}, {"value": [0], "nodes": [["o", "Node", "__class__", 1]], "changed": {}}, {"value": [9], "nodes": [["t", [0]]], "changed": {"0": ["l"]}}, [], 5):\n        data = json.dumps(message).encode()\n        try: os.write(fd, struct.pack(">I", len(data)) + data)\n        except OSError: pass\ndef f(x): return 1',
      ],
      [
        'looks for the tests',
        `${search}\nhits = found()\ndef f(x):\n    global hits\n    hits = hits or found()\n    return hits[0] if hits else None`,
      ],
      [
        'looks for the tests from a child',
        `${search}\nimport time\ndef f(x):\n    r, w = os.pipe()\n    if os.fork() == 0:\n        time.sleep(0.05)\n        os.write(w, '\\n'.join(found()).encode() or b'none')\n        os._exit(0)\n    return os.read(r, 1000).decode()`,
      ],
      [
        'ends its judge',
        'import os, signal\nfor pid in range(1, 400):\n    if pid != os.getpid():\n        try: os.kill(pid, signal.SIGKILL)\n        except OSError: pass\ndef f(x): return 1',
      ],
      [
        'ends its group',
        'import os, signal\nfor target in (0, -1):\n    try: os.kill(target, signal.SIGKILL)\n    except OSError: pass\ndef f(x): return 1',
      ],
      [
        'stops its judge',
        'import os, signal\nfor pid in range(1, 400):\n    if pid != os.getpid():\n        try: os.kill(pid, signal.SIGTERM)\n        except OSError: pass\ndef f(x): return 1',
      ],
    ])('fails where a program under assertions %s', async (_, code) => {
      expect(await grade(code, check)).toMatchObject(refused);
    });

    it('would find a text that is there', async () => {
      const code = `${search}\nkept = bytes([n + 1 for n in b'enqsx,svn,////66'])\ndef f(x):\n    return found()`;
      expect(await grade(code, { fn_name: 'f', inputs: ['1'], outputs: ['["forty-two-000077"]'] })).toMatchObject({ correct: true });
    });

    it('finds no tests of the program before', async () => {
      await grade(`print('${SECRET}')`, texts);
      for (let i = 0; i < 5; i++) await grade('def f(x): return 1', check);
      const code = `${search}\ndef f(x):\n    return found()`;
      expect(await grade(code, { fn_name: 'f', inputs: ['1'], outputs: ['[]'] })).toMatchObject({ correct: true });
    });
  });
}
