/**
 * A task of several steps that is no calculation: nano learns to fetch a key and open a door on a floor of four by four tiles.
 *
 *     npx tsx examples/environment.ts
 *
 * First it imitates a clumsy teacher, then reinforcement learning makes it better than that. The variables SEED, STEPS (of RL),
 * DEMONSTRATIONS and EVALUATION (how many held-out floors) change the run.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  conversationRow,
  deriveSeed,
  environment,
  type Moment,
  openRun,
  type Problem,
  play,
  Random,
  type ScriptedCall,
  train,
  z,
} from 'toolwise';

type Place = readonly [column: number, row: number];

interface Floor extends Problem {
  readonly key: Place;
  readonly door: Place;
}

const SIZE = 4;
const TURNS = 15; // the call of the last turn is not run
/** Floors that are never trained on: of 240 (a place for the key, another for the door). */
const HELD_OUT = 128;
const DIRECTIONS = { n: [0, -1], s: [0, 1], w: [-1, 0], e: [1, 0] } as const;
const DIRECTION_NAMES = ['n', 's', 'w', 'e'] as const;

const same = (a: Place, b: Place): boolean => a[0] === b[0] && a[1] === b[1];
const anywhere = (random: Random): Place => [random.int(1, SIZE), random.int(1, SIZE)];

interface Walk {
  readonly floor: Floor;
  at: Place;
  hasKey: boolean;
  open: boolean;
}

/** What the policy is told: where it has to go next, as seen from here, for example `key 2e,1n`. */
function look({ at, hasKey, floor }: Walk): string {
  const [x, y] = hasKey ? floor.door : floor.key;
  const [east, south] = [x - at[0], y - at[1]];
  const ways = [
    ...(east === 0 ? [] : [`${Math.abs(east)}${east > 0 ? 'e' : 'w'}`]),
    ...(south === 0 ? [] : [`${Math.abs(south)}${south > 0 ? 's' : 'n'}`]),
  ];
  return `${hasKey ? 'door' : 'key'} ${ways.join(',') || 'here'}`;
}

const keyAndDoor = environment({
  name: 'key-and-door',
  reset: (floor: Floor, { seed }) => {
    const random = new Random(seed);
    let at = anywhere(random);
    while (same(at, floor.key) || same(at, floor.door)) at = anywhere(random);
    const state: Walk = { floor, at, hasKey: false, open: false };
    return { state, observation: look(state) };
  },
  actions: {
    go: {
      description: 'Walk one tile.',
      parameters: z.object({ to: z.enum(DIRECTION_NAMES) }),
      step: (walk, { to }) => {
        const [x, y] = DIRECTIONS[to];
        const next: Place = [walk.at[0] + x, walk.at[1] + y];
        if (next.some((part) => part < 1 || part > SIZE)) return { observation: `wall. ${look(walk)}`, reward: -0.03 };
        walk.at = next;
        return { observation: look(walk), reward: -0.03 };
      },
    },
    take: {
      description: 'Take the key that lies here.',
      parameters: z.object({}),
      step: (walk) => {
        if (walk.hasKey || !same(walk.at, walk.floor.key)) return { observation: `nothing. ${look(walk)}`, reward: -0.03 };
        walk.hasKey = true;
        return { observation: look(walk), reward: { 'env/step': -0.03, 'env/key': 0.3 } };
      },
    },
    open: {
      description: 'Open the door that is here, with the key.',
      parameters: z.object({}),
      step: (walk) => {
        if (!walk.hasKey || !same(walk.at, walk.floor.door)) return { observation: `nothing. ${look(walk)}`, reward: -0.03 };
        walk.open = true;
        return { observation: 'open', done: true };
      },
    },
  },
  score: (walk) => walk.open,
});

/** All floors, in an order of their own. */
function floors(): Floor[] {
  const tiles: Place[] = Array.from({ length: SIZE * SIZE }, (_, i) => [1 + (i % SIZE), 1 + Math.floor(i / SIZE)]);
  const all = tiles.flatMap((key) => tiles.filter((door) => !same(key, door)).map((door) => ({ key, door })));
  return new Random(0).shuffle(all).map((floor) => ({ ...floor, id: `${floor.key}/${floor.door}`, question: 'Find the way.' }));
}

/** Goes the right way four times in six, does anything at all otherwise, and now and then gives up. */
function teacher(random: Random): (moment: Moment<Floor>) => ScriptedCall | string {
  return ({ observation }) => {
    if (random.chance(0.03)) return 'I am lost.';
    const anything: ScriptedCall[] = [
      ...DIRECTION_NAMES.map((to) => ({ action: 'go', arguments: { to } })),
      { action: 'take' },
      { action: 'open' },
    ];
    if (random.chance(1 / 3)) return random.pick(anything);
    if (observation.endsWith('here')) return { action: observation.includes('key') ? 'take' : 'open' };
    const ways = [...observation.matchAll(/\d([nswe])/g)].map((way) => way[1]!);
    return { action: 'go', arguments: { to: random.pick(ways) } };
  };
}

const seed = Number(process.env.SEED ?? 1);
const evaluation = floors().slice(0, Number(process.env.EVALUATION ?? HELD_OUT));
const training = floors().slice(HELD_OUT);

const folder = mkdtempSync(join(tmpdir(), 'key-and-door-'));
const file = join(folder, 'demonstrations.jsonl');
const count = Number(process.env.DEMONSTRATIONS ?? 1280);
const rows: string[] = [];
let solved = 0;
for (let i = 0; i < count; i++) {
  const random = new Random(deriveSeed(seed, 'teacher', i));
  const { messages, outcome } = await play(keyAndDoor, { problem: random.pick(training), seed: i, player: teacher(random), turns: TURNS });
  if (outcome.success) solved++;
  rows.push(JSON.stringify(conversationRow(messages)));
}
writeFileSync(file, `${rows.join('\n')}\n`);
console.log(`the teacher opened the door in ${solved} of ${count} demonstrations`);

try {
  const { report, folder: run } = await train<Floor>({
    recipe: {
      name: 'key-and-door',
      extends: 'nano',
      model: 'nano',
      seed,
      stages: ['sft', 'rl'],
      tools: [],
      limits: { turns: TURNS, turnTokens: 24, toolTokens: 24, responseTokens: 470 },
      problems: { train: 'calc-small', evaluation: 'calc-small' }, // replaced by the floors
      sft: {
        demonstrations: { file },
        epochs: 1,
        batchSize: 16,
        learningRate: 2e-3,
        schedule: { kind: 'linear', warmup: 0.1, floor: 0.1 },
        weightDecay: 0,
      },
      rl: { steps: Number(process.env.STEPS ?? 16) },
    },
    problems: { train: training, evaluation },
    environment: keyAndDoor,
    log: console.log,
    onEvent: (event) => {
      if (event.kind === 'stepEnded') console.log(lineOf(event.stage, event.step, event.metrics));
    },
  });
  const kept = openRun(run);
  for (const stage of ['sft', 'rl'] as const) {
    const solvedIn = [...kept.records({ stage, split: 'main' })].flatMap(({ trajectory }) => {
      const { environment: outcome, problem } = trajectory;
      return outcome?.success ? [{ steps: outcome.steps, shortest: shortestWay(problem as Floor) }] : [];
    });
    const { accuracy, interval } = report.stages[stage]!;
    const share = `${percent(accuracy)} [${interval?.map(percent).join(', ')}]`;
    const steps = `in ${mean(solvedIn.map((one) => one.steps))} steps, where ${mean(solvedIn.map((one) => one.shortest))} would do`;
    console.log(`after ${stage}: the door opened ${share} of ${evaluation.length} times${solvedIn.length > 1 ? `, ${steps}` : ''}`);
  }
  kept.close();
  console.log(`the run is in ${run}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Steps of the shortest way: to the key, as the question says, on to the door, and two for the hands. */
function shortestWay({ question, key, door }: Floor): number {
  const toKey = (question.match(/\d/g) ?? []).reduce((sum, digit) => sum + Number(digit), 0);
  return toKey + Math.abs(key[0] - door[0]) + Math.abs(key[1] - door[1]) + 2;
}

/** With the half width of its 95 % interval. */
function mean(values: readonly number[]): string {
  const average = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1);
  return `${average.toFixed(1)} ± ${(1.96 * Math.sqrt(variance / values.length)).toFixed(1)}`;
}

function percent(value: number | null | undefined): string {
  return value == null ? 'n/a' : `${(100 * value).toFixed(0)} %`;
}

function lineOf(stage: string, step: number, metrics: Readonly<Record<string, number>>): string {
  const figure = (name: string): string => metrics[name]?.toFixed(2) ?? 'n/a';
  if (stage === 'sft') return `sft ${step + 1}: loss ${figure('train/loss')}`;
  return `rl ${step + 1}: success ${figure('rollout/accuracy')}, reward ${figure('reward/total')}, steps ${figure('rollout/calls')}`;
}
