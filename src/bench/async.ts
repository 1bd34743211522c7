/**
 * Asynchronous against synchronous training where a step's training takes half as long as its generation: rollouts a second in simulated
 * time (`simulatedTraining.ts`). Both sides may have the same number of rollouts in flight: those of one step. Prints nothing by itself.
 */
import type { RecipeInput } from '../recipe/schema.js';
import { type Simulated, simulateTraining } from './simulatedTraining.js';

export interface AsyncBenchmark {
  readonly groups: number;
  readonly groupSize: number;
  readonly steps: number;
  /** Rollouts trained on in the time that a median rollout takes. */
  readonly synchronous: number;
  readonly asynchronous: readonly {
    readonly name: string;
    readonly rolloutsPerUnit: number;
    /** Steps between sampling and training, a mean. */
    readonly lag: number;
    /** Rollouts that were cut or dropped. */
    readonly lost: number;
  }[];
}

type AsyncInput = NonNullable<NonNullable<RecipeInput['rl']>['async']>;

const WAYS: readonly (readonly [string, AsyncInput])[] = [
  ['staleness 1', { staleness: 1 }],
  ['staleness 2', { staleness: 2 }],
  ['staleness 1, late groups dropped', { staleness: 1, stale: 'drop' }],
  ['staleness 1, late groups sampled anew', { staleness: 1, stale: 'requeue' }],
  ['staleness 1, cut once 95 % are in', { staleness: 1, deadline: { share: 0.95, rest: 'cut' } }],
  ['staleness 2, carried over once 90 % are in', { staleness: 2, deadline: { share: 0.9, rest: 'carryOver' } }],
];

export async function benchmarkAsync({ groups = 32, groupSize = 8, steps = 24 } = {}): Promise<AsyncBenchmark> {
  const rl = { steps, groupsPerStep: groups, groupSize, updatesPerStep: 4, algorithm: { truncatedImportanceSampling: 2 } };
  const run = (training: number, async?: AsyncInput): Promise<Simulated> =>
    simulateTraining({ rl: { ...rl, ...(async && { async }) }, times: { rollout: 1, training } });
  const rate = ({ records, seconds }: Simulated): number => records.length / seconds;
  const generation = (await run(0)).seconds / steps;
  const training = generation / 2;
  const synchronous = rate(await run(training));
  const asynchronous = [];
  for (const [name, async] of WAYS) {
    const done = await run(training, async);
    const total = (metric: string): number => done.steps.reduce((sum, metrics) => sum + (metrics[metric] ?? 0), 0);
    const lost = total('async/cut') + groupSize * total('async/dropped');
    asynchronous.push({ name, rolloutsPerUnit: rate(done), lag: total('async/lag') / steps, lost });
  }
  return { groups, groupSize, steps, synchronous, asynchronous };
}
