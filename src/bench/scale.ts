/**
 * What the TypeScript side bears. The real scheduler and tool loop against an engine and a sandbox that only take their time (virtual, so
 * that hours take seconds), with 64 to 100,000 rollouts in flight; many long rollouts over the wire against a server that answers at once;
 * memory of many rollouts in flight. Each measurement is a process of its own (`scaleProcess.ts`), so that none has another's memory.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { extname } from 'node:path/posix';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { ChatFormat } from '../chat/chatFormat.js';
import type { Rollout, Trajectory } from '../domain/trajectory.js';
import type { Sampler } from '../engine/sampler.js';
import { connectEngine } from '../engine/tinkerClient.js';
import { planGroups, runRollouts } from '../rollout/scheduler.js';
import { packageRoot } from '../setup/paths.js';
import { toDatum } from '../training/datum.js';
import { Script, type ScriptSize, scriptedProblems, scriptedSettings } from './script.js';
import { lognormal, quantile, Station } from './station.js';
import { VirtualClock } from './virtualClock.js';

export type ScaleTask =
  | ({ readonly kind: 'queue' } & QueueSettings)
  | ({ readonly kind: 'wire'; readonly rollouts: number } & ScriptSize)
  | ({ readonly kind: 'memory'; readonly rollouts: number } & ScriptSize);

export interface QueueSettings extends ScriptSize {
  /** In flight at once. */
  readonly concurrency: number;
  readonly rollouts: number;
  /** Sequences that the engine samples at once, and the median seconds of a turn. */
  readonly engine: { readonly places: number; readonly seconds: number };
  /** Programs that the sandbox runs at once, and the median seconds of one. */
  readonly sandbox: { readonly places: number; readonly seconds: number };
}

interface Waits {
  readonly p50: number;
  readonly p99: number;
}

export interface QueueFigures {
  /** Virtual time. */
  readonly seconds: number;
  readonly rolloutsPerSecond: number;
  /** Share of the engine's places that were busy, on average. */
  readonly busy: number;
  readonly engine: Waits;
  readonly sandbox: Waits;
  readonly tokens: number;
  /** What the whole took in real time. */
  readonly realSeconds: number;
}

export interface WireFigures {
  readonly rollouts: number;
  /** Prompt and response of a rollout. */
  readonly tokensPerRollout: number;
  readonly seconds: number;
  /** The longest time for which the event loop did not turn. */
  readonly stallSeconds: number;
  /** One forward_backward of all of them. */
  readonly training: { readonly seconds: number; readonly stallSeconds: number };
}

export interface MemoryFigures {
  readonly rollouts: number;
  readonly tokensPerRollout: number;
  readonly seconds: number;
}

export type WithPeak<T> = T & { readonly peakBytes: number };

const GROUP = 8;
const loadFormat = (): Promise<ChatFormat> => ChatFormat.load(join(packageRoot(), 'models', 'nano'));
const plansOf = (rollouts: number) => planGroups(scriptedProblems(Math.ceil(rollouts / GROUP)), GROUP, 'scale').slice(0, rollouts);

/** A step of training: all rollouts are kept until the last has ended. */
export async function measureQueues(settings: QueueSettings): Promise<QueueFigures> {
  const format = await loadFormat();
  const clock = new VirtualClock();
  const [engine, sandbox] = [settings.engine, settings.sandbox].map(({ places }) => new Station(clock, places)) as [Station, Station];
  const script = new Script(format, settings);
  let served = 0;
  let calls = 0;
  const sampler: Sampler = {
    policyVersion: 0,
    async sample({ conversation, seed }) {
      const seconds = lognormal(settings.engine.seconds, 'engine', seed);
      served += seconds;
      await engine.serve(seconds);
      return script.next(conversation!);
    },
  };
  const settingsOf = scriptedSettings(format, () => sandbox.serve(lognormal(settings.sandbox.seconds, 'sandbox', calls++)));
  const started = performance.now();
  const work = runRollouts(
    plansOf(settings.rollouts),
    { ...settingsOf, sampler },
    { runSeed: 1, step: 0, concurrency: settings.concurrency },
  );
  const trajectories = finished(await clock.run(work));
  const waits = ({ waits: all }: Station): Waits => ({ p50: quantile(all, 0.5), p99: quantile(all, 0.99) });
  return {
    seconds: clock.now,
    rolloutsPerSecond: trajectories.length / clock.now,
    busy: served / (clock.now * settings.engine.places),
    engine: waits(engine),
    sandbox: waits(sandbox),
    tokens: trajectories.reduce((sum, { promptTokens, tokens }) => sum + promptTokens.length + tokens.length, 0),
    realSeconds: (performance.now() - started) / 1000,
  };
}

/** All in flight at once; every answer takes the same time, so that all of them stand at the same turn with what they hold. */
export async function measureMemory(size: { readonly rollouts: number } & ScriptSize): Promise<MemoryFigures> {
  const format = await loadFormat();
  const clock = new VirtualClock();
  const script = new Script(format, size);
  const sampler: Sampler = {
    policyVersion: 0,
    async sample({ conversation }) {
      await clock.sleep(10);
      return script.next(conversation!);
    },
  };
  const started = performance.now();
  const settings = { ...scriptedSettings(format, () => clock.sleep(1)), sampler };
  const work = runRollouts(plansOf(size.rollouts), settings, { runSeed: 1, step: 0, concurrency: size.rollouts });
  const trajectories = finished(await clock.run(work));
  return { rollouts: trajectories.length, tokensPerRollout: tokensOf(trajectories), seconds: (performance.now() - started) / 1000 };
}

/** Text to tokens, requests, answers, tokens to text, calls; then all of it as training data to the server and its log-probs back. */
export async function measureWire(size: { readonly rollouts: number } & ScriptSize): Promise<WireFigures> {
  const format = await loadFormat();
  const server = await startNullServer(size);
  const engine = await connectEngine({ url: server.url });
  try {
    const trainer = await engine.createTrainer({ model: 'null', trainUnembed: true, loraRank: 0, seed: 1 });
    const sampler = await trainer.publish();
    const settings = { ...scriptedSettings(format, () => undefined), sampler };
    const rollouts = await timed(async () =>
      finished(await runRollouts(plansOf(size.rollouts), settings, { runSeed: 1, step: 0, concurrency: size.rollouts })),
    );
    const training = await timed(async () => {
      const data = rollouts.value.map((one) =>
        toDatum(one, { logProbs: one.samplerLogProbs, advantages: one.mask.map((trained) => trained * 0.125) }),
      );
      return trainer.forwardBackward(data, { name: 'importance_sampling' });
    });
    const lengths = rollouts.value.every((one, i) => training.value.logProbs[i]!.length >= one.tokens.length);
    if (!lengths) throw new Error('the server gave log-probs of another length');
    return {
      rollouts: rollouts.value.length,
      tokensPerRollout: tokensOf(rollouts.value),
      seconds: rollouts.seconds,
      stallSeconds: rollouts.stallSeconds,
      training: { seconds: training.seconds, stallSeconds: training.stallSeconds },
    };
  } finally {
    await engine.close();
    server.stop();
  }
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; seconds: number; stallSeconds: number }> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const started = performance.now();
  const value = await work();
  const seconds = (performance.now() - started) / 1000;
  // The monitor's own timer has to ring once more after the last stall.
  await new Promise((resolve) => setTimeout(resolve, 30));
  delay.disable();
  return { value, seconds, stallSeconds: delay.max / 1e9 };
}

function finished(rollouts: readonly Rollout[]): Trajectory[] {
  return rollouts.map((rollout) => {
    if (rollout.kind === 'infra') throw new Error(rollout.error);
    if (rollout.trajectory.stopReason.kind !== 'answered') throw new Error(`a rollout ended by ${rollout.trajectory.stopReason.kind}`);
    return rollout.trajectory;
  });
}

const tokensOf = (all: readonly Trajectory[]): number =>
  Math.round(all.reduce((sum, { promptTokens, tokens }) => sum + promptTokens.length + tokens.length, 0) / all.length);

const own = (name: string): string => fileURLToPath(new URL(`./${name}${extname(fileURLToPath(import.meta.url))}`, import.meta.url));

async function startNullServer(size: ScriptSize): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [...process.execArgv, own('nullServer'), JSON.stringify(size)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => reject(new Error(`the null server ended with ${code}`)));
    child.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()));
  });
  return { url, stop: () => child.stdin.end() };
}

/** Measures in a process of its own. */
export async function measured<T>(task: ScaleTask): Promise<WithPeak<T>> {
  // 100,000 rollouts that are all kept need more than Node allows itself by default.
  const room = task.kind === 'queue' ? ['--max-old-space-size=8192'] : [];
  const child = spawn(process.execPath, [...process.execArgv, ...room, own('scaleProcess'), JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`the measurement ${JSON.stringify(task)} ended with ${code}`);
  return JSON.parse(output) as WithPeak<T>;
}
