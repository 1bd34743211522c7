/**
 * The engine beside what else does this work on a CPU: transformers and vLLM for generation, TRL for a whole reinforcement-learning step, a
 * plain padded loop for training. Same model, same conversations, same number of threads; one process after another, each round both sides.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engineFolder } from '../setup/paths.js';
import { ensurePeerEnv, type PeerEnv, TRL, VLLM } from './peersEnv.js';

export const PEER_PARTS = ['generation', 'step', 'training'] as const;
export type PeerPart = (typeof PEER_PARTS)[number];

export interface PeersOptions {
  /** Python of the engine's environment. */
  readonly python: string;
  readonly model: string;
  readonly parts: readonly PeerPart[];
  /** How often each side runs, in turn. */
  readonly rounds: number;
  /** Laid over the workload's own settings: `{ answer: 8 }` becomes `--answer 8`. */
  readonly workload?: Readonly<Record<string, number>>;
  readonly log: (line: string) => void;
}

/** One side's figures of one part. `tokens`: useful sampled tokens, or trained ones; `seconds` of each round. */
export interface Side {
  readonly system: string;
  readonly tokens: readonly number[];
  readonly seconds: readonly number[];
}

export interface Comparison {
  readonly part: PeerPart;
  readonly peer: string;
  readonly target: number;
  readonly ours: Side;
  /** Why there are no figures is a value. */
  readonly theirs: Side | { readonly missing: string };
  /** How many times as fast ours is: the median over rounds. */
  readonly ratio?: number;
}

interface Measured {
  readonly what: PeerPart;
  readonly system: string;
  readonly tokens: number;
  readonly seconds: number;
}

interface Runner {
  readonly system: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly env: PeerEnv;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Part, peer, how many times as fast as it ours is to be. */
const TARGETS = [
  ['generation', 'transformers', 2.5],
  ['generation', 'vllm', 0.8],
  ['step', 'trl', 2],
  ['training', 'transformers', 1.3],
] as const satisfies readonly (readonly [PeerPart, string, number])[];

/** @throws Error when our own side fails; a peer that fails is told as missing */
export async function benchmarkPeers(options: PeersOptions): Promise<Comparison[]> {
  const threads = availableParallelism();
  const targets = TARGETS.filter(([part]) => options.parts.includes(part));
  const wanted = new Set<string>(targets.map(([, peer]) => peer));
  const trl = wanted.has('transformers') || wanted.has('trl') ? await ensurePeerEnv(TRL, options.log) : undefined;
  const vllm = wanted.has('vllm') ? await ensurePeerEnv(VLLM, options.log) : undefined;
  const runner = (part: PeerPart, system: string): Runner => {
    if (system === 'engine') {
      return {
        system,
        script: 'with_engine.py',
        args: [part],
        env: { kind: 'ready', python: options.python },
        variables: { PYTHONPATH: engineFolder() },
      };
    }
    if (system === 'vllm') return { system, script: 'with_vllm.py', args: [], env: vllm!, variables: vllmVariables(threads) };
    return system === 'trl'
      ? { system, script: 'with_trl.py', args: [], env: trl! }
      : { system, script: 'with_transformers.py', args: [part], env: trl! };
  };
  const found: Comparison[] = [];
  for (const part of options.parts) {
    const peers = targets.filter((target) => target[0] === part);
    const sides = ['engine', ...peers.map(([, peer]) => peer)];
    const figures = new Map(sides.map((system) => [system, [] as Measured[]]));
    const missing = new Map<string, string>();
    for (let round = 0; round < options.rounds; round++) {
      for (const system of sides) {
        if (missing.has(system)) continue;
        const done = await measure(runner(part, system), options, threads);
        if ('missing' in done && system === 'engine') throw new Error(`the engine's ${part} ended: ${done.missing}`);
        if ('missing' in done) missing.set(system, done.missing);
        else figures.get(system)!.push(done);
      }
    }
    const ours = side('engine', figures.get('engine')!);
    for (const [, peer, target] of peers) {
      const reason = missing.get(peer);
      if (reason !== undefined) found.push({ part, peer, target, ours, theirs: { missing: reason } });
      else {
        const theirs = side(peer, figures.get(peer)!);
        found.push({ part, peer, target, ours, theirs, ratio: medianRatio(ours, theirs) });
      }
    }
  }
  return found;
}

/** All processors, one thread each, bound; two gigabytes for keys and values. */
function vllmVariables(threads: number): Record<string, string> {
  return {
    VLLM_CPU_OMP_THREADS_BIND: threads === 1 ? '0' : `0-${threads - 1}`,
    VLLM_CPU_KVCACHE_SPACE: '2',
    VLLM_NO_USAGE_STATS: '1',
    VLLM_LOGGING_LEVEL: 'ERROR',
  };
}

const side = (system: string, measured: readonly Measured[]): Side => ({
  system,
  tokens: measured.map((one) => one.tokens),
  seconds: measured.map((one) => one.seconds),
});

/** Tokens a second, ours by theirs, round by round: the middle one. */
export function medianRatio(ours: Side, theirs: Side): number {
  const speed = (of: Side, round: number): number => of.tokens[round]! / of.seconds[round]!;
  return median(ours.seconds.map((_, round) => speed(ours, round) / speed(theirs, round)));
}

/** Of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2;
}

async function measure(runner: Runner, options: PeersOptions, threads: number): Promise<Measured | { readonly missing: string }> {
  if (runner.env.kind === 'missing') return { missing: runner.env.reason };
  const script = join(fileURLToPath(new URL('peers', import.meta.url)), runner.script);
  const workload = Object.entries(options.workload ?? {}).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const args = [script, options.model, '--threads', `${threads}`, ...workload, ...runner.args];
  const variables = { OMP_NUM_THREADS: `${threads}`, HF_HUB_OFFLINE: '1', TRANSFORMERS_VERBOSITY: 'error', ...runner.variables };
  options.log(`${runner.system}: ${runner.script} ${runner.args.join(' ')}`);
  const { status, stdout, stderr } = await ended(runner.env.python, args, variables);
  const line = stdout.split('\n').find((one) => one.startsWith('{"what"'));
  if (status === 0 && line !== undefined) return JSON.parse(line) as Measured;
  return { missing: `${runner.script} ended with ${status}: ${stderr.trim().split('\n').at(-1)}` };
}

function ended(program: string, args: readonly string[], variables: Readonly<Record<string, string>>) {
  return new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
    const child = spawn(program, args, { env: { ...process.env, ...variables }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-20_000);
    });
    child.on('error', (error) => resolve({ status: 127, stdout, stderr: error.message }));
    child.on('close', (status) => resolve({ status: status ?? 128, stdout, stderr }));
  });
}
