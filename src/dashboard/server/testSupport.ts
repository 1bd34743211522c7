/** For the dashboard's tests: folders with real runs in them, and requests to the server as a browser on this machine makes them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { someInfo, someRecord } from '../../../test/support/someRun.js';
import type { TrajectoryRecord } from '../../domain/event.js';
import type { Segment } from '../../domain/segment.js';
import type { Reply, Turn } from '../../domain/turn.js';
import { RunWriter } from '../../runs/writer.js';
import { type Dashboard, type DashboardOptions, dashboard } from './app.js';

export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  readonly #open: (() => void)[] = [];

  /** Closed before the folder is removed. */
  keep<T extends { close(): unknown }>(it: T): T {
    this.#open.push(() => it.close());
    return it;
  }

  writer(name: string): RunWriter {
    return this.keep(RunWriter.create(join(this.folder, name), someInfo()));
  }

  /** An ended run of two steps with four rollouts each, and an evaluation. */
  run(name: string): string {
    const writer = this.writer(name);
    play(writer, 2);
    writer.sink({ kind: 'stageEnded', stage: 'rl', seconds: 3 });
    writer.close();
    return join(this.folder, name);
  }

  serve(options: Partial<DashboardOptions> = {}): Asked {
    const made = this.keep(dashboard({ folder: this.folder, assets: join(this.folder, 'no-assets'), ...options }));
    return new Asked(made);
  }

  clean(): void {
    for (const close of this.#open.reverse()) close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class Asked {
  constructor(readonly made: Dashboard) {}

  async response(path: string, init: RequestInit = {}): Promise<Response> {
    return this.made.app.request(`http://127.0.0.1:7860${path}`, { ...init, headers: { host: '127.0.0.1:7860', ...init.headers } });
  }

  async json<T>(path: string): Promise<T> {
    const response = await this.response(path);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Of a refusal. */
  async error(path: string): Promise<{ readonly status: number; readonly error: string }> {
    const response = await this.response(path);
    return { status: response.status, error: ((await response.json()) as { error: string }).error };
  }
}

export function play(writer: RunWriter, steps: number, from = 0): void {
  if (from === 0) writer.sink({ kind: 'stageStarted', stage: 'rl', steps });
  for (let step = from; step < from + steps; step++) {
    for (let i = 0; i < 4; i++) writer.sink({ kind: 'trajectory', record: someRecord(step, i, 'train', i % 2 === 0) });
    writer.sink({ kind: 'stepEnded', stage: 'rl', step, metrics: { 'reward/total': step / 10, 'loss/kl': Number.NaN } });
  }
  writer.sink({ kind: 'trajectory', record: someRecord(from + steps, 0, 'greedy') });
  writer.sink({ kind: 'evaluation', record: { name: 'greedy', stage: 'rl', step: from + steps, metrics: { accuracy: 1 } } });
}

/** A rollout of these turns; what is not said is as in `someRecord`. */
export function recordOfTurns(
  step: number,
  sample: number,
  turns: readonly { readonly text?: string; readonly segments?: readonly Segment[]; readonly replies?: readonly Reply[] }[],
  change: { readonly record?: Partial<TrajectoryRecord>; readonly question?: string; readonly problemId?: string } = {},
): TrajectoryRecord {
  const base = someRecord(step, sample);
  const made = turns.map(
    ({ text = '', segments = [{ kind: 'text', text }], replies = [] }): Turn => ({
      text,
      segments,
      stop: 'stop',
      tokens: 2,
      policyVersion: 1,
      replies,
    }),
  );
  return {
    ...base,
    ...change.record,
    trajectory: {
      ...base.trajectory,
      problem: { id: change.problemId ?? 'p', question: change.question ?? 'Which?', answer: '42' },
      turns: made,
      finalText: made.at(-1)?.text ?? '',
      ...change.record?.trajectory,
    },
  };
}

/** Texts that a page must show and never run, and that must come through whole. */
export const HOSTILE: Readonly<Record<string, string>> = {
  markup: '<script>alert(1)</script><img src=x onerror=alert(2)>"\'&amp;',
  controls: 'a\u0000b\u0007c\u001b[31mred\u001b[0m\r\u0085d',
  direction: 'abc\u202edcba\u202c \u2066x\u2069 \u200f',
  lines: 'x'.repeat(1_500_000),
  formula: '=HYPERLINK("http://example.test","x")',
  separators: 'a\u2028b\u2029c',
};
