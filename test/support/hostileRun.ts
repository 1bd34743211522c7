/** A run in which everything that a model, a tool, a problem or a grader can write is hostile: one rollout a text, and a long one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOSTILE_TEXTS, TRIPWIRE } from '../../src/dashboard/web/trajectories/hostileTexts.js';
import type { TrajectoryRecord } from '../../src/domain/event.js';
import type { CallSegment } from '../../src/domain/segment.js';
import type { Turn } from '../../src/domain/turn.js';
import { RunWriter } from '../../src/runs/writer.js';
import { someInfo } from './someRun.js';

/** Tokens of the long rollout's response. */
export const LONG = 8_000;

/** @returns ids of the rollouts by the name of their text; `long` is the long one's. */
export function writeHostileRun(folder: string): ReadonlyMap<string, number> {
  const writer = RunWriter.create(folder, someInfo());
  const ids = new Map<string, number>();
  writer.sink({ kind: 'stageStarted', stage: 'rl', steps: 2 });
  for (const [i, { name, text }] of HOSTILE_TEXTS.entries()) {
    writer.sink({ kind: 'trajectory', record: hostileRecord(i, name, text) });
    ids.set(name, i + 1);
  }
  writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: { 'reward/total': 1 } });
  writer.sink({ kind: 'trajectory', record: longRecord() });
  ids.set('long', HOSTILE_TEXTS.length + 1);
  writer.sink({ kind: 'stepEnded', stage: 'rl', step: 1, metrics: { 'reward/total': 1 } });
  writer.sink({ kind: 'stageEnded', stage: 'rl', seconds: 1 });
  writer.close();
  const script = `<script>parent.${TRIPWIRE}=1;top.${TRIPWIRE}=1;document.title='${TRIPWIRE}'</script>`;
  writeFileSync(join(folder, 'report.html'), `<!doctype html><title>a &lt;b&gt;report</title>${script}<p>It says something.</p>`);
  writeFileSync(join(folder, 'notes.md'), `# Notes ${HOSTILE_TEXTS[0]!.text}\n\n<img src=x onerror="window.${TRIPWIRE}=1">\n`);
  return ids;
}

function hostileRecord(i: number, name: string, text: string): TrajectoryRecord {
  const call: CallSegment = {
    kind: 'call',
    name: text.slice(0, 300) || 'nameless',
    arguments: { code: text, other: text.slice(0, 2_000), [text.slice(0, 200) || 'key']: 1 },
    repairs: [text.slice(0, 500)],
  };
  const turns: Turn[] = [
    {
      text,
      segments: [
        { kind: 'thinking', text },
        { kind: 'text', text },
        call,
        { kind: 'malformedCall', raw: text, problem: text.slice(0, 3_000) },
        { kind: 'cutOffCall', raw: text },
      ],
      stop: 'length',
      tokens: 2,
      policyVersion: 1,
      replies: [
        { kind: 'executed', call, success: i % 2 === 0, text, seconds: 0.2 },
        { kind: 'refused', problem: 'malformed', text },
      ],
    },
    {
      text: `${text} \\boxed{${text}}`,
      segments: [{ kind: 'text', text: `${text} \\boxed{${text}}` }],
      stop: 'stop',
      tokens: 2,
      policyVersion: 2,
      replies: [],
    },
  ];
  const groups = Math.floor(i / 4);
  return {
    stage: 'rl',
    step: 0,
    split: 'train',
    trajectory: {
      trajectoryId: `hostile/${i}`,
      groupId: `group/${groups}`,
      problem: {
        id: `${name} ${text.slice(0, 100)}`,
        question: text,
        answer: text.slice(0, 5_000),
        tags: { [text.slice(0, 50) || 'tag']: text },
      },
      promptTokens: [1, 2, 3],
      tokens: [5, 6, 7, 8, 9],
      mask: [1, 1, 0, 1, 1],
      samplerLogProbs: [-0.1, -3, 0, -12.3, Number.NEGATIVE_INFINITY],
      turns,
      finalText: text,
      stopReason: { kind: 'answered' },
      seconds: 1,
    },
    verdict:
      i % 7 === 3
        ? { kind: 'infra', error: text }
        : { kind: 'graded', correct: i % 2 === 0, score: 0.5, reason: 'mismatch', extracted: text, note: text },
    // the rewards of the first group are equal
    reward:
      groups === 0
        ? { total: 0.5, parts: { outcome: 0.5 } }
        : { total: (i % 4) - 1, parts: { outcome: 1, [text.slice(0, 30) || 'part']: (i % 4) - 2 } },
    advantage: groups === 0 ? 0 : i - 10,
  };
}

function longRecord(): TrajectoryRecord {
  const mask = Array.from({ length: LONG }, (_, i) => (i % 900 < 780 ? 1 : 0));
  const turn: Turn = {
    text: 'long',
    segments: [
      { kind: 'thinking', text: 'I think.\n'.repeat(300) },
      { kind: 'text', text: 'So \\boxed{1}' },
    ],
    stop: 'stop',
    tokens: LONG,
    policyVersion: 1,
    replies: [],
  };
  return {
    stage: 'rl',
    step: 1,
    split: 'train',
    trajectory: {
      trajectoryId: 'long',
      groupId: 'group/long',
      problem: { id: 'long', question: 'How long?', answer: '1' },
      promptTokens: [1, 2, 3],
      tokens: mask.map((_, i) => i % 300),
      mask,
      samplerLogProbs: mask.map((bit, i) => (bit === 1 ? (i === 7_000 ? -20 : -(i % 7) / 10) : 0)),
      turns: [turn],
      finalText: 'So \\boxed{1}',
      stopReason: { kind: 'answered' },
      seconds: 99,
    },
    verdict: { kind: 'graded', correct: true, score: 1, reason: 'match', extracted: '1' },
    reward: { total: 1, parts: { outcome: 1 } },
    advantage: 0.7,
  };
}
