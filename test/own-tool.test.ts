/** `examples/own-tool.ts` as a reader runs it, to its end, with fewer steps. Says nothing about how much is learnt. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openRun } from '../src/runs/reader.js';
import { run } from '../src/setup/command.js';
import { packageRoot } from '../src/setup/paths.js';
import { missingForEndToEnd } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'own-tool-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const missing = await missingForEndToEnd('nano');
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

describe.skipIf(missing !== undefined)(`examples/own-tool.ts${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('trains with its own tool and reward, and says what came of it', { timeout: 300_000 }, async () => {
    const example = join(packageRoot(), 'examples', 'own-tool.ts');
    const { status, stdout, output } = await run(process.execPath, ['--import', tsx, example], { cwd: folder, env: { STEPS: '2' } });
    expect(status, output).toBe(0);
    expect(stdout.match(/^step \d+: reward -?\d\.\d\d$/gm)).toHaveLength(2);
    const [, out] = /^before: 0\.\d+, after: 0\.\d+; the run is in (.+)$/m.exec(stdout)!;

    const kept = openRun(out!);
    try {
      const records = [...kept.records()].filter(({ split }) => split === 'train');
      expect(records).toHaveLength(2 * 16 * 8);
      for (const { trajectory, reward } of records) {
        expect(Object.keys(reward!.parts).sort()).toEqual(['right', 'thrift']);
        expect(reward!.parts.thrift).toBeCloseTo(-0.1 * Math.max(0, trajectory.turns.length - 2));
      }
      const replies = records.flatMap(({ trajectory }) => trajectory.turns.flatMap((turn) => turn.replies));
      const texts = replies.flatMap((reply) => (reply.kind === 'executed' ? [reply.text] : []));
      expect(texts.some((text) => /^-?\d+$/.test(text))).toBe(true);
    } finally {
      kept.close();
    }
  });
});
