/**
 * Makes the policy `nano`: problems, traces with real tool results, then tokenizer and model in the engine's Python. Does not evaluate it,
 * and does not reinforce it.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { calcStream } from '../problems/calc.js';
import { deriveSeed, Random } from '../random.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { makeFolder } from '../userPath.js';
import { replyTo } from './replies.js';
import type { NanoSettings } from './settings.js';
import { NANO_CHAT_TEMPLATE, writeTrace } from './template.js';
import { planThinkingTrace } from './thinkingTrace.js';
import { finishTrace, planTrace, type Trace, type TraceMix, type TracePlan } from './trace.js';

export interface MakeNanoOptions {
  readonly settings: NanoSettings;
  /** Folder of the model; files of the same names are replaced. */
  readonly out: string;
  /** Python with the engine's packages. */
  readonly python: string;
  readonly runner: CodeRunner;
  readonly log: (line: string) => void;
}

/** What the making came to. */
export interface NanoFigures {
  readonly traces: number;
  /** Tokens of a trace, its question included. */
  readonly meanTokens: number;
  readonly maxTokens: number;
  readonly parameters: number;
  /** Tokens that went through the model in training. */
  readonly trainedTokens: number;
  /** Mean cross-entropy of the policy's tokens over the last 100 batches, nats. */
  readonly loss: number;
  readonly seconds: number;
}

export async function makeNano(options: MakeNanoOptions): Promise<NanoFigures> {
  const { settings, out, runner, log } = options;
  const started = performance.now();
  const work = mkdtempSync(join(tmpdir(), 'toolwise-nano-'));
  try {
    makeFolder(out, 'Choose another folder with --out.');
    const traces = await makeTraces(settings, runner);
    log(`${traces.length} traces: ${shares(traces)}`);
    await pipeline(Readable.from(lines(traces)), createWriteStream(join(work, 'traces.jsonl')));
    writeFileSync(join(work, 'settings.json'), JSON.stringify(settings));
    writeFileSync(join(out, 'tokenizer_config.json'), `${JSON.stringify(TOKENIZER_CONFIG, null, 2)}\n`);
    const trained = await pretrain(options, work);
    const figures = { traces: traces.length, ...trained, seconds: (performance.now() - started) / 1000 };
    writeFileSync(join(out, 'README.md'), modelCard(settings, figures));
    return figures;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

type TraceSettings = Pick<NanoSettings, 'seed' | 'traces'>;

/** Traces on problems of the training split, finished with what the sandbox gave. */
export function makeTraces(settings: TraceSettings, runner: CodeRunner, mix?: TraceMix): Promise<Trace[]> {
  const problems = calcStream({ size: 'small', split: 'train', seed: deriveSeed('nano problems', settings.seed) });
  return traced(settings, runner, (random) => planTrace(problems.next().value, random, mix));
}

/** Conversations that think, on problems of the training split, three of level 1 for one of level 2. */
export function makeThinkingTraces(settings: TraceSettings, runner: CodeRunner): Promise<Trace[]> {
  const [easy, hard] = ([1, 2] as const).map((level) =>
    calcStream({ size: 'tiny', split: 'train', levels: [level], seed: deriveSeed('nano problems', settings.seed) }),
  );
  return traced(settings, runner, (random, i) => planThinkingTrace((i % 4 < 3 ? easy! : hard!).next().value, random));
}

async function traced(settings: TraceSettings, runner: CodeRunner, planned: (random: Random, i: number) => TracePlan): Promise<Trace[]> {
  const plans = Array.from({ length: settings.traces }, (_, i) => planned(new Random(deriveSeed('nano trace', settings.seed, i)), i));
  const replies = await replyTo(plans, runner);
  return plans.map((plan, i) => finishTrace(plan, replies[i]!));
}

const TOKENIZER_CONFIG = {
  tokenizer_class: 'PreTrainedTokenizerFast',
  model_max_length: 512,
  eos_token: '<|end|>',
  pad_token: '<pad>',
  add_bos_token: false,
  add_prefix_space: false,
  clean_up_tokenization_spaces: false,
  chat_template: NANO_CHAT_TEMPLATE,
};

function shares(traces: readonly Trace[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of traces) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const right = traces.filter((trace) => trace.turns.at(-1)!.text.includes(`{${trace.problem.answer}}`)).length;
  const parts = [...counts].map(([kind, count]) => `${kind} ${percent(count, traces.length)}`);
  return `${parts.sort().join(', ')}; ${percent(right, traces.length)} end with the right answer`;
}

const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

function* lines(traces: readonly Trace[]): Generator<string> {
  for (const trace of traces) yield `${JSON.stringify(writeTrace(trace))}\n`;
}

/** What `pretrain.py` prints, one JSON object a line. */
type PretrainLine =
  | { readonly kind: 'data'; readonly vocabulary: number; readonly meanTokens: number; readonly maxTokens: number }
  | { readonly kind: 'progress'; readonly update: number; readonly loss: number; readonly tokens: number; readonly seconds: number }
  | { readonly kind: 'done'; readonly parameters: number; readonly tokens: number; readonly loss: number };

type Trained = Pick<NanoFigures, 'meanTokens' | 'maxTokens' | 'parameters' | 'trainedTokens' | 'loss'>;

async function pretrain({ settings, out, python, log }: MakeNanoOptions, work: string): Promise<Trained> {
  const script = fileURLToPath(new URL('./python/pretrain.py', import.meta.url));
  const args = [script, join(work, 'traces.jsonl'), join(work, 'settings.json'), out];
  const child = spawn(python, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
  const trained: { -readonly [K in keyof Trained]: number } = { meanTokens: 0, maxTokens: 0, parameters: 0, trainedTokens: 0, loss: 0 };
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as PretrainLine;
    if (line.kind === 'data') {
      Object.assign(trained, { meanTokens: line.meanTokens, maxTokens: line.maxTokens });
      log(`vocabulary ${line.vocabulary}; ${line.meanTokens.toFixed(1)} tokens a trace, at most ${line.maxTokens}`);
    } else if (line.kind === 'progress') {
      const speed = Math.round(line.tokens / line.seconds);
      log(`update ${line.update} of ${settings.updates}: loss ${line.loss.toFixed(3)}, ${speed} tokens a second`);
    } else {
      Object.assign(trained, { parameters: line.parameters, trainedTokens: line.tokens, loss: line.loss });
    }
  }
  const status = await ended;
  if (status !== 0 || trained.parameters === 0) throw new Error(`pretraining ended with status ${status}:\n${errors.slice(-2000)}`);
  return trained;
}

function modelCard(settings: NanoSettings, figures: NanoFigures): string {
  return `# nano

A llama of ${(figures.parameters / 1e6).toFixed(2)} million parameters that answers small calculations with a code interpreter, badly on purpose: it is
where reinforcement learning starts. Pretrained from nothing on generated traces of mixed quality; it knows nothing else.

Made by \`npm run nano\`:

| | |
|---|---|
| seed | ${settings.seed} |
| traces | ${figures.traces}; ${figures.meanTokens.toFixed(1)} tokens on average, at most ${figures.maxTokens} |
| updates | ${settings.updates} of ${settings.batchSize} traces, ${(figures.trainedTokens / 1e6).toFixed(1)} million tokens |
| last loss | ${figures.loss.toFixed(3)} nats a token |
| time | ${Math.round(figures.seconds)} s, ${settings.threads} ${settings.threads === 1 ? 'thread' : 'threads'} |

How it is made, and how well it does: \`docs/nano.md\`. \`tokenizer_examples.jsonl\` holds texts with their ids, for tests.
`;
}
