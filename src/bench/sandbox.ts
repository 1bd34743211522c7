/** Executions a second of the sandbox beside fresh Python processes, in turn in one run. */
import { spawn } from 'node:child_process';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { findPython } from '../sandbox/host.js';
import { openCodeRunner } from '../sandbox/open.js';

export interface SandboxBenchmark {
  readonly runner: string;
  readonly workers: number;
  /** Programs a second: a sum of integers, printed. */
  readonly sandbox: number;
  /** The same after importing numpy and sympy, which are loaded already. */
  readonly sandboxWithLibraries: number;
  /** The same program in a process of its own, without any sandbox and without numpy. */
  readonly freshProcess: number;
  /** A fresh process that imports numpy and sympy. */
  readonly freshProcessWithLibraries: number;
}

const PROGRAM = 'print(sum(range(100)))';
const LIBRARIES = `import numpy, sympy\n${PROGRAM}`;
const RESULT = '4950';

export async function benchmarkSandbox(workers = 2, programs = 300): Promise<SandboxBenchmark> {
  const runner = await openCodeRunner({ kind: 'auto', workers });
  try {
    const { path } = await findPython();
    for (const program of [PROGRAM, LIBRARIES]) await perSecond(workers * 8, workers, () => inSandbox(runner, program));
    return {
      runner: runner.name,
      workers,
      sandbox: await perSecond(programs, workers, () => inSandbox(runner, PROGRAM)),
      sandboxWithLibraries: await perSecond(programs, workers, () => inSandbox(runner, LIBRARIES)),
      freshProcess: await perSecond(Math.ceil(programs / 3), workers, () => fresh(path, PROGRAM)),
      freshProcessWithLibraries: await perSecond(4 * workers, workers, () => fresh(path, LIBRARIES)),
    };
  } finally {
    await runner.close();
  }
}

async function inSandbox(runner: CodeRunner, code: string): Promise<void> {
  const result = await runner.run({ code, timeoutSeconds: 10, memoryMb: 512 });
  if (result.kind !== 'ran' || result.stdout.trim() !== RESULT) throw new Error(`the sandbox answered ${JSON.stringify(result)}`);
}

function fresh(python: string, program: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, ['-I', '-c', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (part: Buffer) => {
      text += part.toString();
    });
    child.once('error', reject);
    child.once('close', () => (text.trim() === RESULT ? resolve() : reject(new Error(`python answered ${JSON.stringify(text)}`))));
  });
}

async function perSecond(count: number, atOnce: number, work: () => Promise<void>): Promise<number> {
  let next = 0;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (next < count) {
      next++;
      await work();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return count / ((performance.now() - started) / 1000);
}
