/**
 * `npm run bench [engine|rollouts|sandbox|judge|grade|data|peers|async|scale|serve|ui]`: what this machine does, as ratios within one run. Prints a
 * table; changes nothing, but `peers`, which runs only where it is named, installs what it compares with. Run it alone: another heavy job
 * falsifies it.
 * `--python PATH` names a Python that has Math-Verify; `--list` prints, after `grade`, every pair on which graders differ, as JSON Lines;
 * `--part`, `--rounds` and `--workload NAME=NUMBER` (as `answer=8`, `spread=0`) are for `peers`.
 */
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../cli/tables.js';
import { engineFolder } from '../setup/paths.js';
import { ensurePythonEnv } from '../setup/pythonEnv.js';
import { resolveModel } from '../setup/weights.js';
import { benchmarkAsync } from './async.js';
import { benchmarkData, benchmarkFinding } from './data.js';
import { benchmarkGrade, mathVerifyPython } from './grade.js';
import { benchmarkJudge } from './judge.js';
import { benchmarkPeers, type Comparison, median, PEER_PARTS, type PeerPart } from './peers.js';
import { benchmarkRollouts } from './rollouts.js';
import { benchmarkSandbox } from './sandbox.js';
import { type MemoryFigures, measured, type QueueFigures, type WireFigures } from './scale.js';
import { benchmarkServe } from './serve.js';

const log = (line: string): void => console.error(line);
const rounded = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** Each row: what, ours, the other side, ratio. */
type Row = readonly [string, string, string, string];

interface Measured {
  readonly what: string;
  readonly system: 'engine' | 'transformers';
  readonly tokens_per_second: number;
}

async function engine(): Promise<Row[]> {
  const python = await ensurePythonEnv({ log });
  const settings = [
    ['nano', 'float32', '128'],
    ['smollm2-135m', 'bfloat16', '64'],
  ] as const;
  const rows: Row[] = [];
  for (const [name, dtype, samples] of settings) {
    const model = await resolveModel(name, { log });
    const done = spawnSync(python, [join(engineFolder(), 'bench.py'), model.folder, '--dtype', dtype, '--rows', samples], {
      env: { ...process.env, PYTHONPATH: engineFolder(), HF_HUB_OFFLINE: '1' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (done.status !== 0) throw new Error(`the engine's benchmark ended with ${done.status}`);
    const measured = done.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Measured);
    for (const what of ['generation', 'training']) {
      const of = (system: Measured['system']): number =>
        measured.find((row) => row.what === what && row.system === system)!.tokens_per_second;
      const [ours, plain] = [of('engine'), of('transformers')];
      rows.push([
        `${name} ${dtype}: ${what}, tokens a second`,
        rounded(ours),
        `transformers ${rounded(plain)}`,
        `${(ours / plain).toFixed(2)}x`,
      ]);
    }
  }
  return rows;
}

async function rollouts(): Promise<Row[]> {
  const model = await resolveModel('smollm2-135m', { log });
  const { rolloutsPerSecond } = await benchmarkRollouts(model.folder);
  return [
    [
      'rollouts a second, engine of zero latency, 49k tokenizer',
      rounded(rolloutsPerSecond),
      'target 500',
      `${(rolloutsPerSecond / 500).toFixed(2)}x`,
    ],
  ];
}

async function sandbox(): Promise<Row[]> {
  const found = await benchmarkSandbox();
  const what = `programs a second, ${found.workers} at once (${found.runner})`;
  const row = (name: string, ours: number, fresh: number): Row => [
    name,
    rounded(ours),
    `fresh python ${rounded(fresh)}`,
    `${(ours / fresh).toFixed(1)}x`,
  ];
  return [
    row(what, found.sandbox, found.freshProcess),
    row(`${what}, importing numpy and sympy`, found.sandboxWithLibraries, found.freshProcessWithLibraries),
  ];
}

async function judge(): Promise<Row[]> {
  const found = await benchmarkJudge();
  const rate = (tests: string, value: number): Row => [
    `programs judged a second by ${tests}, ${found.workers} at once (${found.runner})`,
    rounded(value),
    'target 150',
    `${(value / 150).toFixed(2)}x`,
  ];
  return [
    rate('standard output', found.perSecond.stdio),
    rate('a function call', found.perSecond.calls),
    rate('an assertion', found.perSecond.assertions),
    [`  of ${found.programs} judged twice: verdicts that differ`, `${found.disagreements}`, '', ''],
    ['  verdicts that are wrong', `${found.misjudged}`, '', ''],
    ['  processes left behind', `${found.left}`, '', ''],
  ];
}

async function grade(): Promise<Row[]> {
  const python = mathVerifyPython(options.python);
  if (python === undefined) log('grade: no Python with Math-Verify (docs/grading.md says how to make one); our side alone');
  const { pairs, ours, slowestHostile, mathVerify, verdicts } = await benchmarkGrade(python);
  if (options.list) {
    const differ = verdicts.filter((one) => one.reference !== one.ours || (one.mathVerify ?? one.ours) !== one.ours);
    for (const one of differ) console.log(JSON.stringify(one));
  }
  const wrong = (side: 'ours' | 'mathVerify' | 'reference', said: boolean): number =>
    verdicts.filter((one) => one[side] === said && one.truth !== said).length;
  const row = (what: string, mine: string, theirs: string, ratio = ''): Row => [
    what,
    mine,
    mathVerify ? `Math-Verify ${mathVerify.version} ${theirs}` : '–',
    mathVerify ? ratio : '',
  ];
  const ratio = mathVerify ? `${rounded(ours.pairsPerSecond / mathVerify.pairsPerSecond)}x` : '';
  const milliseconds = (value: number | undefined): string => (value === undefined ? '–' : `${rounded(value)} ms`);
  return [
    row(`${pairs} pairs of mathematics: pairs a second`, rounded(ours.pairsPerSecond), rounded(mathVerify?.pairsPerSecond ?? 0), ratio),
    row('  median of a pair', milliseconds(ours.median), milliseconds(mathVerify?.median)),
    row('  99th percentile of a pair', milliseconds(ours.p99), milliseconds(mathVerify?.p99)),
    row('  wrong answers seen as right', `${wrong('ours', true)}`, `${wrong('mathVerify', true)}`),
    row('  right answers not seen', `${wrong('ours', false)}`, `${wrong('mathVerify', false)}`),
    ['  the same of the reference', '', `${wrong('reference', true)} and ${wrong('reference', false)}`, ''],
    ['  slowest hostile pair', milliseconds(slowestHostile), '–', ''],
  ];
}

async function data(): Promise<Row[]> {
  const found = benchmarkFinding();
  const figures = await benchmarkData({ rows: 30_000, bytes: 175e6, manyRows: 1_000_000 }, log);
  const memory = (bytes: number | undefined): string => (bytes === undefined ? '–' : `${rounded(bytes / 1e6)} MB`);
  const row = (what: string, { seconds, peakBytes }: typeof figures.mix, target = ''): Row => [
    `data ${what}: seconds, peak memory`,
    `${rounded(seconds)} s, ${memory(peakBytes)}`,
    target,
    '',
  ];
  const both = figures.inspect.seconds + figures.mix.seconds;
  return [
    row(`inspect, 30,000 rows, ${memory(figures.fileBytes)}`, figures.inspect),
    row('mix of the same', figures.mix, 'both: 120 s, 1.5 GB'),
    ['  both together', `${rounded(both)} s`, '120 s', `${(both / 120).toFixed(2)}x`],
    row('mix, 100,000 short rows', figures.few),
    row('mix, 1,000,000 short rows', figures.many),
    ['  bytes that a further row costs', figures.bytesPerRow === undefined ? '–' : rounded(figures.bytesPerRow), 'target 600', ''],
    ['near copies of 2,000 pairs: recall, precision', `${found.recall.toFixed(3)}, ${found.precision.toFixed(3)}`, 'target 0.95', ''],
    [`  taken for copies, of ${found.numberPairs} with other numbers`, `${found.numberPairsFound}`, '', ''],
    ['clean rows taken for evaluation problems, of 10,000', `${found.cleanRemoved}`, 'target 100', ''],
    ['  with the wording of one, of 10,000', `${found.templatesRemoved} (${found.templatesTold} told)`, '', ''],
  ];
}

async function peers(): Promise<Row[]> {
  const python = await ensurePythonEnv({ log });
  const model = (await resolveModel('smollm2-135m', { log })).folder;
  const parts = PEER_PARTS.filter((part) => options.part === undefined || options.part.includes(part));
  const workload = Object.fromEntries(
    (options.workload ?? []).map((pair) => pair.split('=')).map(([name, value]) => [name!, Number(value)]),
  );
  const found = await benchmarkPeers({ python, model, parts, rounds: Number(options.rounds), workload, log });
  const what: Record<PeerPart, string> = {
    generation: 'two-turn conversations: useful tokens a second',
    step: 'whole RL step: sampled tokens a second',
    training: 'training: tokens a second',
  };
  const speed = ({ tokens, seconds }: Comparison['ours']): string => rounded(median(tokens.map((count, i) => count / seconds[i]!)));
  return found.map(({ part, peer, target, ours, theirs, ratio }) => [
    what[part],
    speed(ours),
    'missing' in theirs ? `${peer}: not verified: ${theirs.missing}` : `${peer} ${speed(theirs)}`,
    ratio === undefined ? '' : `${ratio.toFixed(2)}x, target ${target}x`,
  ]);
}

async function asyncTraining(): Promise<Row[]> {
  const { groups, groupSize, steps, synchronous, asynchronous } = await benchmarkAsync();
  const what = `rollouts in the time of a median one, ${groups} x ${groupSize}, ${steps} steps:`;
  return asynchronous.map(({ name, rolloutsPerUnit, lag, lost }, i) => [
    `${i === 0 ? `${what} ` : '  '}${name}`,
    rounded(rolloutsPerUnit),
    `synchronous ${rounded(synchronous)}`,
    `${(rolloutsPerUnit / synchronous).toFixed(2)}x (mean lag ${lag.toFixed(2)}, left out ${lost})`,
  ]);
}

async function scale(): Promise<Row[]> {
  const heads = [
    'rollouts in flight',
    'rollouts a second',
    'engine busy',
    'wait for the engine p50, p99',
    'for the sandbox',
    'real time',
    'memory',
  ];
  const lines: string[][] = [];
  for (const concurrency of [64, 256, 1024, 4096, 16_384, 100_000]) {
    log(`scale: ${concurrency} rollouts in flight`);
    const found = await measured<QueueFigures>({ kind: 'queue', concurrency, rollouts: Math.max(8192, concurrency), ...SCALE });
    const waits = ({ p50, p99 }: QueueFigures['engine']): string => `${rounded(p50)} s, ${rounded(p99)} s`;
    lines.push([
      concurrency.toLocaleString('en'),
      rounded(found.rolloutsPerSecond),
      `${(found.busy * 100).toFixed(0)}%`,
      waits(found.engine),
      waits(found.sandbox),
      `${rounded(found.realSeconds)} s`,
      `${rounded(found.peakBytes / 1e9)} GB`,
    ]);
    log(`  ${lines.at(-1)!.join('  ')}`);
  }
  console.log(table([heads, ...lines]));
  log('scale: 10,000 rollouts of 2,000 tokens in flight');
  const memory = await measured<MemoryFigures>({ kind: 'memory', rollouts: 10_000, turns: 4, turnTokens: 470 });
  log('scale: 1,024 rollouts of 8,000 tokens over the wire');
  const wire = await measured<WireFigures>({ kind: 'wire', rollouts: 1024, turns: 8, turnTokens: 960 });
  const seconds = (value: number): string => `${rounded(value)} s`;
  return [
    [
      `${memory.rollouts} rollouts of ${memory.tokensPerRollout} tokens in flight: memory`,
      `${rounded(memory.peakBytes / 1e9)} GB`,
      'target 1.5 GB',
      '',
    ],
    [`${wire.rollouts} rollouts of ${wire.tokensPerRollout} tokens, null engine`, seconds(wire.seconds), 'target 60 s', ''],
    ['  longest stall of the event loop', seconds(wire.stallSeconds), 'target 1 s', ''],
    ['one training request of them, and its answer', seconds(wire.training.seconds), '', ''],
    ['  longest stall of the event loop', seconds(wire.training.stallSeconds), '', ''],
  ];
}

async function serve(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, dtype, requests, maxTokens, rounds] of SERVED) {
    const { folder } = await resolveModel(name, { log });
    log(`serve: ${name}, 32 at once`);
    const found = await benchmarkServe({ model: name, folder, dtype, streams: 32, requests, maxTokens, rounds });
    const row = (what: string, ours: number): Row => [
      `${name} ${dtype}, 32 at once: ${what}, tokens a second`,
      rounded(ours),
      `the engine's own ${rounded(found.engine)}`,
      `${(ours / found.engine).toFixed(2)}x, target 0.9x`,
    ];
    rows.push(row('streamed by serve', found.streamed), row('whole by serve', found.whole));
    rows.push(["  a stream's first text", `${rounded(found.firstText)} s`, '', '']);
  }
  return rows;
}

async function ui(): Promise<Row[]> {
  const { benchmarkUi } = await import('./ui.js');
  const { writer, answers } = await benchmarkUi({ rollouts: 100_000, metricPoints: 200_000, perStep: 20 }, log);
  return [
    [
      '100,000 rollouts written: rollouts a second',
      rounded(writer.rolloutsPerSecond),
      'target 2000',
      `${(writer.rolloutsPerSecond / 2000).toFixed(2)}x`,
    ],
    ['  bytes a rollout', rounded(writer.bytesPerRollout), '', ''],
    ...answers.map(
      ({ what, milliseconds, target }): Row => [
        `  ${what}`,
        `${rounded(milliseconds)} ms`,
        target === undefined ? '' : `target ${target} ms`,
        target === undefined ? '' : `${(milliseconds / target).toFixed(2)}x`,
      ],
    ),
  ];
}

/** As eight GPUs with 128 sequences each may be: a median turn of 10 s, and programs of 0.2 s in 64 workers. */
const SCALE = { turns: 3, turnTokens: 150, engine: { places: 1024, seconds: 10 }, sandbox: { places: 64, seconds: 0.2 } } as const;

/** Model, precision, requests and tokens of each, rounds. */
const SERVED = [
  ['smollm2-135m', 'bfloat16', 32, 96, 1],
  ['nano', 'float32', 256, 96, 2],
] as const;

const PARTS = { engine, rollouts, sandbox, judge, grade, data, peers, async: asyncTraining, scale, serve, ui };
/** Too long, and too large a download, for a run that names no part. */
const ONLY_BY_NAME = new Set(['peers']);

const { values: options, positionals: asked } = readArguments();
console.log(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`);
const rows: Row[] = [];
for (const [name, part] of Object.entries(PARTS))
  if (asked.length === 0 ? !ONLY_BY_NAME.has(name) : asked.includes(name)) rows.push(...(await part()));
console.log(table([['', 'toolwise', 'beside', 'ratio'], ...rows]));

function readArguments() {
  try {
    const read = parseArgs({
      allowPositionals: true,
      options: {
        python: { type: 'string' },
        list: { type: 'boolean', default: false },
        part: { type: 'string', multiple: true },
        rounds: { type: 'string', default: '1' },
        workload: { type: 'string', multiple: true },
      },
    });
    const unknown = read.positionals.filter((name) => !(name in PARTS));
    const parts = (read.values.part ?? []).filter((part) => !(PEER_PARTS as readonly string[]).includes(part));
    const settings = (read.values.workload ?? []).filter((pair) => !/^[a-z]+=\d+(\.\d+)?$/.test(pair));
    if (unknown.length > 0) console.error(`error: no benchmark ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
    else if (parts.length > 0) console.error(`error: --part ${parts.join(', ')}: peers has ${PEER_PARTS.join(', ')}`);
    else if (!/^[1-9]\d?$/.test(read.values.rounds))
      console.error(`error: --rounds ${read.values.rounds}: a number from 1 to 99 is needed`);
    else if (settings.length > 0) console.error(`error: --workload ${settings.join(', ')}: NAME=NUMBER is needed, as answer=8`);
    else return read;
  } catch (error) {
    console.error(`error: ${(error as Error).message}`);
  }
  process.exit(2);
}
