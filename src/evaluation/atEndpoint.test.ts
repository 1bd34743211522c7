import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Asked, completion, models, openAiTestServer, type ScriptedAnswer } from '../engine/testSupport.js';
import { openRun } from '../runs/reader.js';
import { descendantsOf } from '../sandbox/testSupport.js';
import { temporaryFolder } from '../tables/testSupport.js';
import { metricsOf } from './evaluate.js';
import { type EvaluateOptions, evaluate } from './evaluateModel.js';

const folder = temporaryFolder();
const KEY = 'sk-very-secret';
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  delete process.env.TOOLWISE_TEST_KEY;
  for (const one of open.splice(0)) await one.close();
});

let runs = 0;
async function evaluateAt(answer: (asked: Asked) => ScriptedAnswer, options: Partial<EvaluateOptions> = {}) {
  process.env.TOOLWISE_TEST_KEY = KEY;
  const server = await openAiTestServer((asked) => (asked.path.endsWith('/models') ? models('m') : answer(asked)));
  open.push(server);
  const lines: string[] = [];
  const out = join(folder.path, `run-${runs++}`);
  const file = folder.write('aime.jsonl', '{"problem": "P", "answer": "3"}\n{"problem": "Q", "answer": "4"}\n');
  const evaluated = await evaluate({
    model: `openai:${server.url}#m`,
    benchmark: { name: 'aime24', file, mode: 'plain' },
    samples: 2,
    out,
    endpoint: { keyName: 'TOOLWISE_TEST_KEY' },
    log: (line) => lines.push(line),
    ...options,
  });
  return { ...evaluated, server, lines, out };
}

describe('an evaluation at an endpoint', () => {
  it('samples among the k most likely tokens where it is asked to, and says so', async () => {
    const { result, server } = await evaluateAt(() => completion({ content: '\\boxed{3}' }), { topK: 7 });
    const asked = server.asked.filter(({ body }) => (body as { max_tokens?: number; messages?: unknown[] } | undefined)?.messages);
    expect(asked.filter(({ body }) => (body as { top_k?: number }).top_k === 7).length).toBeGreaterThanOrEqual(4);
    expect(result.setting.topK).toBe(7);
    expect(metricsOf(result).topK).toBe(7);
  });

  it('measures a benchmark with the settings of the paper, without tools in plain mode', async () => {
    const { result, server, out, lines, benchmark } = await evaluateAt(({ body }) =>
      completion({ content: body.messages.at(-1).content.startsWith('P') ? '\\boxed{3}' : '\\boxed{3}' }),
    );
    expect(result.accuracy.valid!.average.value).toBe(0.5);
    expect(result.setting).toMatchObject({ samples: 2, temperature: 1, topP: 0.6 });
    const asked = server.asked.filter(({ body }) => body?.max_tokens > 1);
    expect(asked).toHaveLength(4);
    expect(asked[0]!.body).toMatchObject({ model: 'm', temperature: 1, top_p: 0.6, max_tokens: 16384 });
    expect(asked.every(({ body }) => body.tools === undefined)).toBe(true);
    expect(asked[0]!.body.messages[0]).toEqual({ role: 'system', content: benchmark!.system });
    expect(new Set(asked.map(({ body }) => body.seed)).size).toBe(4);
    expect(lines.join('\n')).toMatch(
      /AIME 2024: 2 problems of .*aime\.jsonl[\s\S]*m at http.*: no tool calls, no log-probs, no token ids, token counts/,
    );
    const run = openRun(out);
    expect(run.info.extra).toMatchObject({ benchmark: { id: 'aime24', mode: 'plain', problems: 2, warnings: [] } });
    run.close();
  });

  it('opens a sandbox for an answer that only SymPy can decide, and leaves nothing of it', { timeout: 60_000 }, async () => {
    const { result } = await evaluateAt(
      ({ body }) =>
        completion({ content: body.messages.at(-1).content.startsWith('P') ? '\\boxed{\\int_0^1 9x^2 dx}' : '\\boxed{\\int_0^1 x dx}' }),
      { set: ['sandbox.kind=none'] },
    );
    expect(result.accuracy.infra).toBe(0);
    expect(result.accuracy.valid!.average.value).toBe(0.5);
    expect(descendantsOf(process.pid).filter(({ state }) => state !== 'Z')).toEqual([]);
  });

  it('keeps the key out of the run and of what is told', async () => {
    const { server, out, lines } = await evaluateAt(() => completion({ content: '\\boxed{3}' }));
    expect(server.asked.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
    const kept = ['run.sqlite', 'recipe.yaml', 'report.json'].map((file) => readFileSync(join(out, file)).toString('latin1'));
    expect([...kept, ...lines].join('\n')).not.toContain(KEY);
  });

  it('is ended by a refusal, with the reason', async () => {
    let asked = 0;
    await expect(
      evaluateAt(() => (asked++ === 0 ? completion({ content: 'x' }) : { status: 403, body: { error: { message: 'quota used up' } } })),
    ).rejects.toThrow(/answers HTTP 403: quota used up/);
  });
});
