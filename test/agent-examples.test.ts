/** The agents in `examples/`, each for a few steps: that they run to their end. Says nothing about how much is learnt. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openRun } from '../src/runs/reader.js';
import { run } from '../src/setup/command.js';
import { packageRoot } from '../src/setup/paths.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'agent-examples-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const missing = await missingForEndToEnd('nano');
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const example = (name: string): string => join(packageRoot(), 'examples', name);

describe.skipIf(missing !== undefined)(`examples of agents${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('ai-sdk-agent.ts trains an agent of the AI SDK with two tools, and says what came of it', { timeout: 300_000 }, async () => {
    const out = join(folder, 'ai-sdk');
    const env = { STEPS: '2', DEMONSTRATIONS: '160', HELD_OUT: '8', OUT: out };
    const { status, stdout, output } = await run(process.execPath, ['--import', tsx, example('ai-sdk-agent.ts')], { cwd: folder, env });
    expect(status, output).toBe(0);
    expect(stdout.match(/^step \d+: right \d+ %, \d\.\d calls$/gm)).toHaveLength(2);
    expect(stdout).toMatch(/^right: \d+\.\d % at first, \d+\.\d % after the demonstrations, \d+\.\d % after training$/m);
    const kept = openRun(out);
    try {
      const records = [...kept.records({ stage: 'rl', split: 'train' })];
      expect(records).toHaveLength(2 * 16 * 8);
      const replies = records.flatMap(({ trajectory }) => trajectory.turns.flatMap((turn) => turn.replies));
      const called = replies.flatMap((reply) => (reply.kind === 'executed' && reply.success ? [reply.call.name] : []));
      expect(new Set(called)).toEqual(new Set(['price', 'calculate']));
      expect(records.every(({ trajectory }) => trajectory.branches === undefined)).toBe(true);
    } finally {
      kept.close();
    }
  });

  it('openai-agent.mjs is trained by its command', { timeout: 300_000 }, async () => {
    const out = join(folder, 'openai');
    await train({
      recipe: {
        ...{ name: 'openai-agent', extends: 'nano', model: 'nano', stages: ['rl' as const] },
        agent: { command: [process.execPath, example('openai-agent.mjs')], concurrency: 4 },
        problems: { train: { kind: 'calc-small' as const, levels: [1] }, evaluation: { kind: 'calc-small' as const, count: 1 } },
        rl: { steps: 1, groupsPerStep: 2, groupSize: 8, updatesPerStep: 1 },
        evaluation: { extra: [], base: false },
      },
      out,
    });
    const kept = openRun(out);
    try {
      const records = [...kept.records({ stage: 'rl', split: 'train' })];
      expect(records).toHaveLength(16);
      expect(records.every(({ verdict }) => verdict?.kind === 'graded')).toBe(true);
      const replies = records.flatMap(({ trajectory }) => trajectory.turns.flatMap((turn) => turn.replies));
      expect(replies.some((reply) => reply.kind === 'executed')).toBe(true);
    } finally {
      kept.close();
    }
  });
});
