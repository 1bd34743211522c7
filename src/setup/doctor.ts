/** Looks at everything a run needs, one check each, and says what to do. Changes nothing. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { release } from 'node:os';
import { join } from 'node:path';
import { installCommand } from '../sandbox/host.js';
import { UserError } from '../userError.js';
import { run, tail } from './command.js';
import { availableMemory, freeDisk } from './machine.js';
import { engineFolder, homeFolder, packageRoot } from './paths.js';
import { findPython, hasNvidiaGpu, inspectPythonEnv } from './pythonEnv.js';
import { inspectSandboxNeeds, missingSandboxNeeds } from './sandboxNeeds.js';
import { findModel, NANO } from './weights.js';

export interface Check {
  readonly name: string;
  /** `missing` is something needed; `warn` is something that only part of what there is to do needs. */
  readonly status: 'ok' | 'warn' | 'missing';
  /** What was found. */
  readonly detail: string;
  /** What to do about it. */
  readonly remedy?: string;
}

const GB = 1e9;

/** All checks, in the order in which they are best mended. `report` is called for each as it is done. */
export async function diagnose(report: (check: Check) => void = () => undefined, home = homeFolder()): Promise<Check[]> {
  const checks: Check[] = [];
  const steps: (() => Check | Promise<Check>)[] = [
    checkPlatform,
    checkNode,
    checkPackages,
    checkPython,
    () => checkEngine(home),
    checkSandboxNeeds,
    checkSandbox,
    checkMemory,
    () => checkDisk(home),
    () => checkWeights(NANO, home, 'missing'),
    () => checkWeights('smollm2-135m', home, 'warn'),
  ];
  for (const step of steps) {
    const check = await step();
    checks.push(check);
    report(check);
  }
  return checks;
}

function checkPlatform(): Check {
  const name = 'platform';
  const detail = `${process.platform} ${release()} ${process.arch}`;
  if (process.platform === 'linux') return { name, status: 'ok', detail };
  if (process.platform === 'darwin') {
    return {
      name,
      status: 'warn',
      detail: `${detail}: engine, training and evaluation without programs work; the sandbox does not exist here`,
      remedy: 'For tools that run programs use a Linux container or virtual machine, or --sandbox none at your own risk.',
    };
  }
  return {
    name,
    status: 'warn',
    detail: `${detail}: not tested; the sandbox does not exist here`,
    remedy: process.platform === 'win32' ? 'Use WSL 2 (wsl --install), where all of it works.' : 'Use Linux.',
  };
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const name = 'node';
  const detail = process.versions.node;
  return major > 20 || (major === 20 && minor >= 19)
    ? { name, status: 'ok', detail }
    : { name, status: 'missing', detail, remedy: 'Install Node 20.19 or newer.' };
}

/** Each dependency is found, and the one with a native part works. */
async function checkPackages(): Promise<Check> {
  const name = 'npm packages';
  const require = createRequire(import.meta.url);
  const { dependencies = {} } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  const broken: string[] = [];
  for (const dependency of Object.keys(dependencies)) {
    try {
      await import(dependency);
    } catch (error) {
      broken.push(`${dependency} (${(error as Error).message.split('\n')[0]})`);
    }
  }
  try {
    const Database = require('better-sqlite3') as new (file: string) => { close(): void };
    new Database(':memory:').close();
  } catch (error) {
    broken.push(`better-sqlite3 (${(error as Error).message.split('\n')[0]})`);
  }
  if (broken.length === 0) return { name, status: 'ok', detail: `${Object.keys(dependencies).length} found` };
  return {
    name,
    status: 'missing',
    detail: [...new Set(broken)].join('; '),
    remedy: 'Run: npm ci (or npm rebuild better-sqlite3 after a change of Node)',
  };
}

async function checkPython(): Promise<Check> {
  const name = 'python';
  if (process.env.TOOLWISE_ENGINE_PYTHON)
    return { name, status: 'ok', detail: `${process.env.TOOLWISE_ENGINE_PYTHON} (TOOLWISE_ENGINE_PYTHON)` };
  try {
    const { program, version } = await findPython();
    return { name, status: 'ok', detail: `${program} is ${version}` };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { name, status: 'missing', detail: error.message, ...(error.hint === undefined ? {} : { remedy: error.hint }) };
  }
}

const QUESTION = `
import json, os, platform, toolwise_engine, torch, transformers
flags = open('/proc/cpuinfo').read() if os.path.exists('/proc/cpuinfo') else ''
cores = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()
print(json.dumps({'engine': toolwise_engine.__version__, 'torch': torch.__version__, 'transformers': transformers.__version__, 'cores': cores,
 'python': platform.python_version(), 'cuda': torch.cuda.is_available(), 'bf16': 'avx512_bf16' in flags or 'amx_bf16' in flags or 'bf16' in flags.split()}))
`;

interface EngineFacts {
  readonly engine: string;
  readonly torch: string;
  readonly transformers: string;
  readonly cores: number;
  readonly python: string;
  readonly bf16: boolean;
  readonly cuda: boolean;
}

async function checkEngine(home: string): Promise<Check> {
  const name = 'engine';
  const state = inspectPythonEnv({ home });
  const remedy = 'Run: npx toolwise setup';
  if (state.kind === 'missing') return { name, status: 'missing', detail: `its Python environment: ${state.reason}`, remedy };
  const asked = await run(state.python, ['-c', QUESTION], { env: { PYTHONPATH: engineFolder(), HF_HUB_OFFLINE: '1' }, timeoutMs: 180_000 });
  if (asked.status !== 0) return { name, status: 'missing', detail: `it does not load: ${tail(asked.output, 1)}`, remedy };
  const facts = JSON.parse(asked.stdout.trim().split('\n').at(-1)!) as EngineFacts;
  const bf16 = facts.bf16 ? 'bfloat16 in hardware' : 'no bfloat16 in hardware (float32 is used)';
  const gpu = (await hasNvidiaGpu())
    ? facts.cuda
      ? '; the NVIDIA GPU here is used where engine.device is not cpu (this path has not been run yet: docs/unverified.md)'
      : '; the NVIDIA GPU here is not used: this build of torch cannot. TOOLWISE_TORCH=plain, set before set-up, installs the one that can'
    : '';
  return {
    name,
    status: 'ok',
    detail: `${facts.engine} on Python ${facts.python}, torch ${facts.torch}, transformers ${facts.transformers}; CPU, ${facts.cores} cores, ${bf16}${gpu}`,
  };
}

async function checkSandboxNeeds(): Promise<Check> {
  const name = 'sandbox programs';
  if (process.platform !== 'linux') return { name, status: 'warn', detail: 'bubblewrap is for Linux only' };
  const needs = await inspectSandboxNeeds();
  const missing = missingSandboxNeeds(needs);
  if (missing.length > 0) return { name, status: 'missing', detail: `not here: ${missing.join(', ')}`, remedy: `Run: ${installCommand}` };
  return { name, status: 'ok', detail: `${needs.bubblewrap}, ${needs.python} with numpy and sympy` };
}

/** Programs that try to get out are run in the real sandbox. */
async function checkSandbox(): Promise<Check> {
  const name = 'sandbox';
  if (process.platform !== 'linux') return { name, status: 'warn', detail: 'not on this system' };
  const [{ openCodeRunner }, { probeSandbox }] = await Promise.all([import('../sandbox/open.js'), import('../sandbox/probe.js')]);
  try {
    const runner = await openCodeRunner({ kind: 'auto', workers: 1 });
    try {
      const probes = await probeSandbox(runner);
      const failed = probes.filter((probe) => !probe.ok);
      if (failed.length === 0) {
        return {
          name,
          status: 'ok',
          detail: [`${runner.name}: ${probes.length} attempts to get out all failed`, ...runner.notes].join('; '),
        };
      }
      const detail = failed.map((probe) => `${probe.name}: ${probe.detail}`).join('; ');
      return { name, status: 'missing', detail: `${runner.name} does not hold: ${detail}`, remedy: 'Do not run programs of a model here.' };
    } finally {
      await runner.close();
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { name, status: 'missing', detail: error.message, ...(error.hint === undefined ? {} : { remedy: error.hint }) };
  }
}

function checkMemory(): Check {
  const name = 'memory';
  const free = availableMemory();
  const detail = `${(free / GB).toFixed(1)} GB free`;
  if (free < 4 * GB) return { name, status: 'missing', detail, remedy: 'nano needs 4 GB, smollm2-135m 12 GB: end other programs.' };
  if (free < 12 * GB) return { name, status: 'warn', detail, remedy: 'Enough for nano; training smollm2-135m needs 12 GB.' };
  return { name, status: 'ok', detail };
}

async function checkDisk(home: string): Promise<Check> {
  const name = 'disk';
  const free = await freeDisk(home);
  const detail = `${(free / GB).toFixed(1)} GB free at ${home}`;
  if (free < GB) return { name, status: 'missing', detail, remedy: 'Make room, or name another place in TOOLWISE_HOME.' };
  if (free < 10 * GB) return { name, status: 'warn', detail, remedy: 'Set-up and the checkpoints of a run may take 10 GB.' };
  return { name, status: 'ok', detail };
}

function checkWeights(model: string, home: string, otherwise: 'warn' | 'missing'): Check {
  const name = `weights of ${model}`;
  try {
    const found = findModel(model, home);
    if (found !== undefined) return { name, status: 'ok', detail: `${found.folder} (${found.source})` };
    return { name, status: otherwise, detail: 'not on this machine', remedy: `Run: npx toolwise setup --model ${model}` };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { name, status: otherwise, detail: error.message, ...(error.hint === undefined ? {} : { remedy: error.hint }) };
  }
}
