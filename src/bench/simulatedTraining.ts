/**
 * RL as it is trained, against a sampler and a trainer that only take their time: lengths of rollouts are lognormal, an update takes a fixed
 * time, and time is virtual. Everything between them is the real thing: scheduler, ledger, rollouts, scoring, mini-batches.
 */

import { join } from 'node:path';
import { ChatFormat } from '../chat/chatFormat.js';
import type { EventSink, Metrics, TrajectoryRecord } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Trajectory } from '../domain/trajectory.js';
import type { Sampler } from '../engine/sampler.js';
import type { Trainer } from '../engine/trainer.js';
import { deriveSeed, Random } from '../random.js';
import { resolveRecipe } from '../recipe/load.js';
import type { Recipe, RecipeInput } from '../recipe/schema.js';
import { packageRoot } from '../setup/paths.js';
import { Toolbox } from '../tools/callTool.js';
import type { AsyncStart } from '../training/asyncPosition.js';
import { AsyncRollouts } from '../training/asyncRollouts.js';
import { asyncStep } from '../training/asyncStep.js';
import { type RlContext, rlStep } from '../training/rl.js';
import { VirtualClock } from './virtualClock.js';

export interface SimulatedTimes {
  /** Median seconds of a rollout; they are lognormal with sigma 1. */
  readonly rollout: number;
  /** Seconds of a step's forward pass and updates together. */
  readonly training: number;
}

export interface Simulation {
  /** RL section beside `steps`; `algorithm` and the rest have their defaults. */
  readonly rl: NonNullable<RecipeInput['rl']>;
  readonly times: SimulatedTimes;
  readonly seed?: number;
  /** Default: a coin for each rollout. */
  readonly reward?: (trajectory: Trajectory) => number;
  readonly signal?: AbortSignal;
  /** Steps made before, and where their stream stands. */
  readonly from?: { readonly step: number; readonly start: AsyncStart };
  /** Ends after so many steps, with rollouts still in flight, as an interruption does. */
  readonly until?: number;
  /** Whether a request fails; its rollout is then tried again. */
  readonly fails?: (seed: number) => Error | undefined;
}

export interface Simulated {
  /** Virtual seconds from the first step to the last. */
  readonly seconds: number;
  readonly steps: readonly Metrics[];
  /** What was told of each rollout. */
  readonly records: readonly TrajectoryRecord[];
  readonly notes: readonly string[];
  /** Most requests that were open at once. */
  readonly mostAtOnce: number;
  /** Requests that were still open when the stage had ended. */
  readonly leftOpen: number;
}

const PROBLEMS = 512;

export async function simulateTraining(simulation: Simulation): Promise<Simulated> {
  const { seed = 1, times, from = { step: 0, start: { next: 0, again: [] } } } = simulation;
  const format = await ChatFormat.load(join(packageRoot(), 'models', 'nano'));
  const recipe: Recipe = resolveRecipe({
    name: 'simulated',
    model: 'simulated',
    seed,
    stages: ['rl'],
    problems: { train: 'calc', evaluation: 'calc' },
    rl: simulation.rl,
  });
  const stage = recipe.rl!;
  const clock = new VirtualClock();
  const answer = [...format.encode('\\boxed{1}'), format.stopTokenIds[0]!];
  let open = 0;
  let mostAtOnce = 0;
  const samplerOf = (policyVersion: number): Sampler => ({
    policyVersion,
    async sample(request, signal) {
      open++;
      mostAtOnce = Math.max(mostAtOnce, open);
      try {
        await clock.sleep(times.rollout * Math.exp(normal(request.seed)), signal);
        const failure = simulation.fails?.(request.seed);
        if (failure) throw failure;
        return { tokens: answer, logProbs: answer.map(() => -0.5), stop: 'stop' };
      } finally {
        open--;
      }
    },
  });
  let updates = 0;
  const each = times.training / (1 + stage.updatesPerStep * stage.epochs);
  const trainer: Pick<Trainer, 'capabilities' | 'policyVersion' | 'forward' | 'forwardBackward' | 'optimStep' | 'publish'> = {
    capabilities: { server: 'simulated', models: [], losses: { ppo: ['dual_clip'] }, extensions: [], lossReduction: 'sum' },
    get policyVersion() {
      return updates;
    },
    async forward(data) {
      await clock.sleep(each);
      return data.map(({ targets }) => new Float64Array(targets.length).fill(-0.5));
    },
    async forwardBackward(data) {
      await clock.sleep(each);
      return { logProbs: data.map(({ targets }) => new Float64Array(targets.length).fill(-0.5)), metrics: {} };
    },
    async optimStep() {
      updates++;
      return { gradNorm: 1 };
    },
    publish: async () => samplerOf(updates),
  };
  const records: TrajectoryRecord[] = [];
  const notes: string[] = [];
  const sink: EventSink = (event) => {
    if (event.kind === 'trajectory') records.push(event.record);
    if (event.kind === 'note') notes.push(event.text);
  };
  const coin = ({ trajectoryId }: Trajectory): number => deriveSeed(seed, trajectoryId, 'coin') % 2;
  const problems: Problem[] = Array.from({ length: PROBLEMS }, (_, i) => ({ id: `${i}`, question: `Problem ${i}.` }));
  const context: RlContext<Problem> = {
    ...{ recipe, stage, problems, sink, trainer: trainer as Trainer },
    rollout: { format, tools: new Toolbox([]), limits: recipe.limits, system: '' },
    scoring: { reward: simulation.reward ?? coin },
    signal: simulation.signal ?? new AbortController().signal,
  };
  const steps: Metrics[] = [];
  const train = async (): Promise<void> => {
    const ahead = stage.async && new AsyncRollouts(context, from.start);
    try {
      for (let step = from.step; step < (simulation.until ?? stage.steps); step++)
        steps.push(ahead ? await asyncStep(context, ahead, step) : await rlStep(context, step));
    } finally {
      await ahead?.close();
    }
  };
  await clock.run(train());
  return { seconds: clock.now, steps, records, notes, mostAtOnce, leftOpen: open };
}

/** Standard normal, from a seed alone: the same rollout takes as long in every order. */
function normal(seed: number): number {
  const random = new Random(deriveSeed(seed, 'latency'));
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}
