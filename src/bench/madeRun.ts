/**
 * A large run for measuring what shows runs: rollouts with texts of many words, calls that fail now and then, tokens and log-probs, and
 * numbers over many steps, written as a real run is. Nothing in it was sampled by a model.
 */
import type { TrajectoryRecord } from '../domain/event.js';
import type { CallSegment, Segment } from '../domain/segment.js';
import type { Turn } from '../domain/turn.js';
import { Random } from '../random.js';
import { packagedRecipe } from '../recipe/load.js';
import { RunWriter } from '../runs/writer.js';

export interface MadeRun {
  readonly rollouts: number;
  /** Numbers in all, spread evenly over the steps. */
  readonly metricPoints: number;
  readonly perStep: number;
}

const GROUP = 8;
const WORDS = 6_000;
const FAILURE = 'Traceback (most recent call last):\n  File "<string>", line 2, in <module>\nNameError: name \'x\' is not defined';

/** @returns seconds that the writer took for the rollouts, without making them */
export function makeRun(folder: string, { rollouts, metricPoints, perStep }: MadeRun): { readonly writerSeconds: number } {
  const random = new Random(11);
  const words = Array.from({ length: WORDS }, () => word(random));
  const recipe = packagedRecipe('nano');
  const writer = RunWriter.create(folder, { recipe, model: { name: 'made' }, versions: { toolwise: '0.1.0' }, seed: 11 });
  const steps = Math.ceil(rollouts / perStep);
  const names = Array.from({ length: Math.round(metricPoints / steps) }, (_, i) => `part${i % 6}/number${i}`);
  writer.sink({ kind: 'stageStarted', stage: 'rl', steps });
  let seconds = 0;
  for (let step = 0; step < steps; step++) {
    const count = Math.min(perStep, rollouts - step * perStep);
    const records = Array.from({ length: count }, (_, i) => record(random, words, step, i));
    const metrics = Object.fromEntries(names.map((name, i) => [name, Math.sin(step / 50 + i) + random.next() / 4]));
    const start = performance.now();
    for (const one of records) writer.sink({ kind: 'trajectory', record: one });
    writer.sink({ kind: 'stepEnded', stage: 'rl', step, metrics });
    seconds += (performance.now() - start) / 1000;
  }
  writer.sink({ kind: 'stageEnded', stage: 'rl', seconds: 1 });
  writer.close();
  return { writerSeconds: seconds };
}

function word(random: Random): string {
  return Array.from({ length: 2 + random.int(0, 7) }, () => 'etaoinshrdlucmfwypvbgkjqxz'[Math.floor(random.next() ** 1.5 * 26)]!).join('');
}

function text(random: Random, words: readonly string[], length: number): string {
  const parts = Array.from({ length }, () =>
    random.next() < 0.1 ? String(random.int(0, 10_000)) : words[Math.floor(random.next() ** 3 * words.length)]!,
  );
  return `${parts.join(' ')}.`;
}

function record(random: Random, words: readonly string[], step: number, sample: number): TrajectoryRecord {
  const group = Math.floor(sample / GROUP);
  const problem = new Random(step * 7_919 + group).int(0, 20_000);
  const fails = random.next() < 0.15;
  const code = `x = ${random.int(0, 999)}\ntotal = sum(i * x for i in range(${random.int(2, 99)}))\nprint(total)`;
  const call: CallSegment = { kind: 'call', name: 'code_interpreter', arguments: { code }, repairs: [] };
  const thinking: Segment = { kind: 'text', text: text(random, words, 60) };
  const turns: Turn[] = [
    {
      text: `${thinking.text}\n<tool_call>\n${JSON.stringify({ name: call.name, arguments: call.arguments })}\n</tool_call>`,
      segments: [thinking, call],
      stop: 'stop',
      tokens: 150,
      policyVersion: step,
      replies: [{ kind: 'executed', call, success: !fails, text: fails ? FAILURE : `${random.int(0, 99_999)}`, seconds: 0.02 }],
    },
  ];
  if (random.next() < 0.04) {
    const raw = '<tool_call>\n{"name": "code_interpreter", "arguments": {';
    turns.push({
      text: raw,
      segments: [{ kind: 'malformedCall', raw, problem: 'no closing brace' }],
      stop: 'stop',
      tokens: 20,
      policyVersion: step,
      replies: [],
    });
  }
  const correct = random.next() < Math.min(0.9, 0.2 + step / 8_000);
  const answer = `${text(random, words, 30)} \\boxed{${random.int(0, 999)}}`;
  turns.push({ text: answer, segments: [{ kind: 'text', text: answer }], stop: 'stop', tokens: 80, policyVersion: step, replies: [] });
  const tokens = Array.from({ length: 260 }, () => random.int(0, 49_000));
  const mask = tokens.map((_, i) => (i >= 150 && i < 180 ? 0 : 1));
  return {
    stage: 'rl',
    step,
    split: 'train',
    trajectory: {
      trajectoryId: `rl/${step}/train/${sample}`,
      groupId: `rl/${step}/train/${group}`,
      problem: { id: `made:${problem}`, question: text(new Random(problem), words, 40), answer: String(problem) },
      promptTokens: Array.from({ length: 120 }, () => random.int(0, 49_000)),
      tokens,
      mask,
      samplerLogProbs: mask.map((bit) => (bit === 0 ? 0 : -Math.fround(random.next() ** 3 * 4))),
      turns,
      finalText: answer,
      stopReason: random.next() < 0.03 ? { kind: 'tokenLimit', limit: 'response' } : { kind: 'answered' },
      seconds: random.next() * 10,
    },
    verdict: { kind: 'graded', correct, score: correct ? 1 : 0, reason: correct ? 'match' : 'mismatch' },
    reward: { total: correct ? 1.1 : -0.9, parts: { outcome: correct ? 1 : -1, tool: 0.1 } },
    advantage: (random.next() - 0.5) * 5,
  };
}
