/**
 * The demo: two training runs, told in plain words. Act 1: `nano` learns by RL alone. Act 2: SmolLM2-135M learns by SFT, then RL. Each act
 * is `train` with a packaged recipe; nothing here computes anything of its own.
 */
import { join, resolve } from 'node:path';
import type { EventSink } from '../domain/event.js';
import type { Report } from '../evaluation/report.js';
import { train } from '../training/train.js';
import { makeFolder } from '../userPath.js';
import { Showcase } from './showcase.js';

export interface DemoOptions {
  /** Act 1 alone. */
  readonly quick: boolean;
  readonly seed: number;
  readonly set: readonly string[];
  readonly out?: string;
  readonly say: (line: string) => void;
  /** The report as lines of a table. */
  readonly table: (report: Report) => string[];
  readonly log: (line: string, level?: 'info' | 'warning') => void;
  readonly onEvent: EventSink;
  readonly onProgress: (what: string, done: number, all: number) => void;
  readonly signal: AbortSignal;
}

export interface ActResult {
  readonly name: string;
  readonly folder: string;
  readonly report: Report;
  readonly seconds: number;
}

interface Act {
  readonly name: string;
  readonly recipe: string;
  readonly opening: readonly string[];
  readonly beforeSft?: readonly string[];
  readonly beforeRl: readonly string[];
  readonly closing: readonly string[];
}

const ACTS: readonly Act[] = [
  {
    name: 'act-1',
    recipe: 'nano',
    opening: [
      'Act 1. A model of about one million parameters, and no teacher.',
      'nano can write tool calls, but badly: it often guesses instead, asks for the wrong calculation, or breaks the JSON.',
      'First it answers 512 problems it has never seen.',
    ],
    beforeRl: [
      'Now it practises. A step is 16 new problems, 8 attempts each. Right answers are rewarded, and the attempts of one problem are',
      'compared with each other: what went better than average becomes more likely (GRPO-TCR). Nobody shows it a solution.',
    ],
    closing: [
      'What is small here: nano was pretrained on problems of this very kind, and greedy it solved most of them before. RL sharpens what it',
      'half knew: which attempt to make, and to trust the tool. Act 2 takes a model that was not made for this.',
    ],
  },
  {
    name: 'act-2',
    recipe: 'demo',
    opening: [
      'Act 2. A real pretrained model: SmolLM2-135M-Instruct. It has never called a tool.',
      'First it answers 128 problems it has never seen, with the tool described in its prompt.',
    ],
    beforeSft: [
      'Cold start (SFT): it reads a few dozen conversations in which the tool is used for real: analysis, a call, the result, at times an',
      'error that is mended, an answer. It learns to write what the assistant wrote.',
    ],
    beforeRl: [
      'Practice (RL): a step is 8 new problems, 8 attempts each; code runs in the sandbox; the reward is for right answers, with a small',
      'bonus for calls and a penalty for endless ones.',
    ],
    closing: [
      'What is small here: a few dozen demonstrations, a handful of RL steps, one kind of problem. The recipe is the one that trains models',
      'thirty times this size; only its numbers are scaled down (they were printed above, beside those of the paper).',
    ],
  },
];

export async function runDemo(options: DemoOptions): Promise<ActResult[]> {
  const folder = resolve(options.out ?? join('runs', `demo-${new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19)}`));
  makeFolder(folder, 'Choose another folder with --out.');
  const results: ActResult[] = [];
  for (const act of options.quick ? ACTS.slice(0, 1) : ACTS) results.push(await play(act, join(folder, act.name), options));
  return results;
}

async function play(act: Act, folder: string, options: DemoOptions): Promise<ActResult> {
  const { say } = options;
  const started = performance.now();
  const showcase = new Showcase();
  const paragraph = (lines: readonly string[]): void => {
    say('');
    for (const line of lines) say(line);
  };
  paragraph(act.opening);
  say('');
  const onEvent: EventSink = (event) => {
    showcase.sink(event);
    options.onEvent(event);
    if (event.kind === 'stageEnded' && event.stage === 'base') paragraph(['One that it fails:', ...showcase.failure()]);
    if (event.kind === 'stageEnded' && event.stage !== 'base') paragraph(showcase.outcome(event.stage));
    if (event.kind === 'stageStarted' && event.stage === 'sft') {
      paragraph(act.beforeSft ?? []);
      say('');
    }
    if (event.kind === 'stageStarted' && event.stage === 'rl') {
      paragraph(act.beforeRl);
      say('');
    }
  };
  const { report } = await train({
    recipe: act.recipe,
    set: [`seed=${options.seed}`, ...options.set],
    out: folder,
    onEvent,
    log: options.log,
    onProgress: options.onProgress,
    signal: options.signal,
  });
  const seconds = (performance.now() - started) / 1000;
  paragraph(options.table(report));
  paragraph(act.closing);
  paragraph([`Took ${Math.round(seconds)} s. The run is kept in ${folder}`]);
  return { name: act.name, folder, report, seconds };
}
