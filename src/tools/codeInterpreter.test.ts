import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeRequest, CodeResult, CodeRunner } from '../sandbox/codeRunner.js';
import { openCodeRunner } from '../sandbox/open.js';
import { hasBubblewrap } from '../sandbox/testSupport.js';
import { codeInterpreter, outcomeOf, programOf } from './codeInterpreter.js';
import type { ToolContext } from './tool.js';

const context = (signal = new AbortController().signal): ToolContext<undefined> => ({
  problem: {} as ToolContext['problem'],
  trajectoryId: 't',
  state: undefined,
  signal,
});

describe('the program in an argument', () => {
  it.each([
    ['plain text', 'print(1)', 'print(1)'],
    ['one block', '```python\nprint(1)\n```', 'print(1)'],
    ['a block without a label', 'Here:\n```\nprint(1)\n```\nDone.', 'print(1)'],
    ['the last of several', '```python\na\n```\nor\n```py\nb\n```', 'b'],
    ['the last that is Python', '```python\na\n```\noutput:\n```text\nb\n```', 'a'],
    ['the last that is complete', '```python\na\n```\n```python\nb', 'a'],
    ['no complete block: the text as it is', '```python\nprint(1)', '```python\nprint(1)'],
    ['Windows line ends', '```python\r\na\r\nb\r\n```\r\n', 'a\nb'],
    ['backticks inside a line', '```python\nx = "```"\nprint(x)\n```', 'x = "```"\nprint(x)'],
    ['a longer fence around a shorter one', '````python\ns = """\n```\n"""\n````', 's = """\n```\n"""'],
    ['tildes', '~~~python\na\n~~~', 'a'],
    ['a label in capitals and spaces', '``` Python \na\n```  ', 'a'],
    ['an empty block', '```python\n```', ''],
    ['inline code only', 'use `print(1)`', 'use `print(1)`'],
    ['nothing', '', ''],
  ])('%s', (_, text, program) => {
    expect(programOf(text)).toBe(program);
  });
});

describe('what the model reads', () => {
  const ran = (more: Partial<CodeResult & { kind: 'ran' }>): CodeResult => ({
    kind: 'ran',
    ending: 'finished',
    exitCode: 0,
    stdout: '',
    stderr: '',
    seconds: 0,
    queuedSeconds: 0,
    ...more,
  });
  const read = (more: Partial<CodeResult & { kind: 'ran' }>) => outcomeOf(ran(more), 5, 100);

  it.each([
    ['stdout alone, without its last newline', { stdout: '1\n2\n' }, 'ok', '1\n2'],
    ['blank lines the program printed, save the last newline', { stdout: '1\n\n' }, 'ok', '1\n'],
    ['nothing', {}, 'ok', '(no output)'],
    ['warnings', { stdout: '1\n', stderr: 'careful\n' }, 'ok', 'stdout:\n1\nstderr:\ncareful'],
    ['stderr alone', { stderr: 'bad\n', exitCode: 1 }, 'error', 'stderr:\nbad'],
    ['a silent exit status', { exitCode: 3 }, 'error', 'The program ended with exit status 3.'],
    ['a crash', { stdout: 'a\n', exitCode: 139 }, 'error', 'a\nThe program was ended by signal 11.'],
    ['a time-out', { ending: 'timeout', exitCode: 137, stdout: 'a\n' }, 'error', 'a\nThe program was stopped: it ran longer than 5 s.'],
    ['a time-out without output', { ending: 'timeout', exitCode: 137 }, 'error', 'The program was stopped: it ran longer than 5 s.'],
    ['a memory limit', { ending: 'memoryLimit', exitCode: 137 }, 'error', 'The program was stopped: it used more than 100 MB of memory.'],
    ['an output limit', { ending: 'outputLimit', stdout: 'aa' }, 'error', 'aa\nThe program was stopped: it printed too much.'],
  ] as const)('%s', (_, result, kind, text) => {
    expect(read(result)).toEqual({ kind, text });
  });

  it('passes a failure of the sandbox on as infra', () => {
    expect(outcomeOf({ kind: 'infra', error: 'down' }, 5, 100)).toEqual({ kind: 'infra', error: 'down' });
  });
});

describe('the tool', () => {
  function recording() {
    const requests: CodeRequest[] = [];
    const runner: CodeRunner = {
      name: 'recording',
      run: async (request) => {
        requests.push(request);
        return { kind: 'infra', error: 'none' };
      },
      close: async () => {},
    };
    return { requests, runner };
  }

  it('passes its limits on', async () => {
    const { requests, runner } = recording();
    await codeInterpreter(runner).execute({ code: '1' }, context());
    await codeInterpreter(runner, { timeoutSeconds: 2, memoryMb: 64, echoLast: false }).execute({ code: '```\n2\n```' }, context());
    expect(requests).toEqual([
      { code: '1', timeoutSeconds: 30, memoryMb: 2048, echoLast: true },
      { code: '2', timeoutSeconds: 2, memoryMb: 64, echoLast: false },
    ]);
  });

  it('takes one string named code and nothing else', () => {
    const { parameters, name } = codeInterpreter(recording().runner);
    expect(name).toBe('code_interpreter');
    expect(parameters.safeParse({ code: '1' }).success).toBe(true);
    for (const bad of [{}, { code: 1 }, { code: '1', more: 2 }]) expect(parameters.safeParse(bad).success).toBe(false);
  });
});

describe.skipIf(!hasBubblewrap)('the tool in the sandbox', () => {
  let runner: CodeRunner;
  beforeAll(async () => {
    runner = await openCodeRunner({ kind: 'auto', workers: 1 });
  });
  afterAll(() => runner?.close());
  const execute = (code: string, options = {}, signal?: AbortSignal) => codeInterpreter(runner, options).execute({ code }, context(signal));

  it.each([
    ['a last expression', 'x = 6\nx * 7', { kind: 'ok', text: '42' }],
    ['a loop at the end', 'for i in range(3):\n    print(i)', { kind: 'ok', text: '0\n1\n2' }],
    ['an assignment', 'x = 5', { kind: 'ok', text: '(no output)' }],
    ['sympy', 'import sympy\nx = sympy.symbols("x")\nsympy.solve(x**2 - 4, x)', { kind: 'ok', text: '[-2, 2]' }],
    ['numpy', 'import numpy as np\nprint(np.arange(3).sum())', { kind: 'ok', text: '3' }],
    [
      'an exception after output',
      'print(1)\n1/0',
      {
        kind: 'error',
        text: expect.stringMatching(/^stdout:\n1\nstderr:\nTraceback[\s\S]*"<code>", line 2[\s\S]*ZeroDivisionError: division by zero$/),
      },
    ],
    ['a fenced program', 'Let me compute:\n```python\nprint(2**10)\n```', { kind: 'ok', text: '1024' }],
  ])('runs %s', async (_, code, outcome) => {
    expect(await execute(code)).toEqual(outcome);
  });

  it('tells the model of a time-out after what was printed', async () => {
    expect(await execute('print("start")\nwhile True: pass', { timeoutSeconds: 0.3 })).toEqual({
      kind: 'error',
      text: 'start\nThe program was stopped: it ran longer than 0.3 s.',
    });
  });

  it('tells the model of the memory limit', async () => {
    const outcome = await execute('print("start")\nx = bytearray(1 << 30)', { memoryMb: 128 });
    expect(outcome).toMatchObject({
      kind: 'error',
      text: expect.stringMatching(/^stdout:\nstart\nstderr:[\s\S]*MemoryError\n.*more than 128 MB of memory\.$/),
    });
  });

  it('stops when the rollout is aborted', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    expect(await execute('while True: pass', {}, controller.signal)).toEqual({ kind: 'infra', error: 'cancelled' });
  });
});
