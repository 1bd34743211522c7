/** The command itself: killed without warning it goes on where it was; its exit codes and what a program may read. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { completion, models, openAiTestServer, type TestServer } from '../../engine/testSupport.js';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'trajectories-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const COUNT = 24;
const problems = join(folder, 'problems.jsonl');
const rows = Array.from({ length: COUNT }, (_, n) => ({ id: `p${n}`, question: `What is ${n} + 1?`, answer: String(n + 1) }));
writeFileSync(problems, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

/** Answers at once; `onRollout` is told how many rollouts were begun. */
async function serve(onRollout: (begun: number) => void): Promise<TestServer> {
  let begun = 0;
  const server = await openAiTestServer(async ({ path, body }) => {
    if (path.endsWith('/models')) return models('m');
    const n = Number(/What is (\d+)/.exec(body.messages.at(-1).content)?.[1]);
    if (body.max_tokens > 1) onRollout(++begun);
    return completion({ content: `It is \\boxed{${n + 1}}.` });
  });
  servers.push(server);
  return server;
}

function start(args: readonly string[]): ChildProcess & { text: { out: string; err: string } } {
  const child = spawn(process.execPath, ['--import', 'tsx', main, 'data', 'trajectories', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    text.out += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    text.err += String(chunk);
  });
  return Object.assign(child, { text });
}

const ended = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => child.once('close', (code) => resolve(code)));

describe('toolwise data trajectories', () => {
  it('goes on after it was killed, and makes no rollout that is there', { timeout: 120_000 }, async () => {
    let kill: () => void = () => undefined;
    const server = await serve((begun) => {
      if (begun === 17) kill();
    });
    const out = join(folder, 'set.jsonl');
    const args = [
      '--problems',
      problems,
      '--teacher',
      `openai:${server.url}#m`,
      '-n',
      '2',
      '--concurrency',
      '1',
      '--set',
      'tools=[]',
      '--out',
      out,
    ];
    const killed = start(args);
    kill = () => void killed.kill('SIGKILL');
    expect(await ended(killed)).toBe(null);
    expect(() => readFileSync(out)).toThrow();
    const asked = (): string[] =>
      server.asked.filter(({ body }) => body?.max_tokens > 1).map(({ body }) => `${body.messages.at(-1).content} ${body.seed}`);
    const before = asked();
    expect(before).toHaveLength(17);

    const resumed = start([...args, '--resume', '--json']);
    expect(await ended(resumed), resumed.text.err).toBe(0);
    const report = JSON.parse(resumed.text.out);
    expect(report.rollouts).toMatchObject({ wanted: 2 * COUNT, graded: 2 * COUNT, made: 2 * COUNT - 16, lost: 0 });
    // Without tools nothing can be kept, and the report says why.
    expect(report).toMatchObject({ rows: 0, removed: { 'no tool used with success': 2 * COUNT } });
    const all = asked();
    expect(all).toHaveLength(2 * COUNT + 1);
    // The one that was under way is asked under the same seed; no other is asked twice.
    expect(new Set(all).size).toBe(2 * COUNT);
    expect(all[17]).toBe(before[16]);
  });

  it.each([
    [['--problems', 'nowhere.jsonl', '--teacher', 'openai:http://127.0.0.1:1/v1#m', '--out', join(folder, 'x.jsonl')], /nowhere\.jsonl/],
    [['--problems', 'calc', '--teacher', 'openai:nothing', '--out', join(folder, 'y.jsonl')], /names no endpoint/],
    [['--problems', 'calc', '--teacher', `${folder}@rl`, '--out', join(folder, 'z.jsonl')], /there is no run in/],
    [['--problems', 'calc', '--teacher', 'nano', '-n', '0', '--out', join(folder, 'w.jsonl')], /--samples "0"/],
    [['--problems', problems, '--teacher', 'nano', '--out', problems], /is there already/],
  ])('tells a mistake in %j and ends with code 2', async (args, message) => {
    const child = start(args);
    expect(await ended(child)).toBe(2);
    expect(child.text.err).toMatch(message);
    expect(child.text.err).not.toMatch(/\n {4}at /);
  });
});
