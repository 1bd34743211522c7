import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { missingForEndToEnd } from '../../../test/support.js';
import { ChatFormat } from '../../chat/chatFormat.js';
import { type Asked, completion, models, openAiTestServer, type ScriptedAnswer, type TestServer } from '../../engine/testSupport.js';
import { packagedRecipe } from '../../recipe/load.js';
import { findModel } from '../../setup/weights.js';
import { readTable } from '../../tables/openTable.js';
import { temporaryFolder } from '../../tables/testSupport.js';
import { tool } from '../../tools/tool.js';
import { readConversation } from '../conversations/conversation.js';
import { collectTrajectories, type TrajectoriesOptions } from './collect.js';
import { Journal, problemKey } from './journal.js';
import { trajectoriesText } from './reportText.js';
import type { TrajectoryScorer } from './scorer.js';

const folder = temporaryFolder();
const KEY = 'sk-proj-verysecret0123456789abcdefghij';
const servers: TestServer[] = [];
afterEach(async () => {
  delete process.env.TOOLWISE_TEST_KEY;
  for (const server of servers.splice(0)) await server.close();
});

const add = tool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b),
});
const RECIPE = { ...packagedRecipe('demo'), tools: ['add'] };
const ROWS = [1, 2, 3, 4, 5].map((n) => ({
  id: `p${n}`,
  question: `What is ${n} + 1?`,
  answer: String(n + 1),
  source: n < 4 ? 'low' : 'high',
}));
const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let outs = 0;
async function teaching(
  answer: (asked: Asked, count: number) => ScriptedAnswer | Promise<ScriptedAnswer>,
  more: Partial<TrajectoriesOptions> = {},
) {
  process.env.TOOLWISE_TEST_KEY = KEY;
  const server = await openAiTestServer((asked, count) => (asked.path.endsWith('/models') ? models('m') : answer(asked, count)));
  servers.push(server);
  const said: string[] = [];
  const options: TrajectoriesOptions = {
    problems: folder.write(`problems-${outs}.jsonl`, lines(ROWS)),
    teacher: `openai:${server.url}#m`,
    recipe: RECIPE,
    tools: [add],
    endpoint: { keyName: 'TOOLWISE_TEST_KEY', concurrency: 4 },
    out: join(folder.path, `set-${outs++}.jsonl`),
    log: (line) => said.push(line),
    ...more,
  };
  return { server, said, options, rollouts: () => server.asked.filter(({ body }) => isFirstTurn(body)).length };
}

/** The request that begins a rollout; the probe of what the endpoint can do asks for one token. */
// biome-ignore lint/suspicious/noExplicitAny: a request's JSON
const isFirstTurn = (body: any): boolean =>
  body?.max_tokens > 1 && body.messages.at(-1).role === 'user' && !/tool_response/.test(body.messages.at(-1).content);

/** Plans, calls, answers with what came back; wrong on even seeds where `luck` says so. */
function teacher({ body }: Asked, luck = false): ScriptedAnswer {
  const last = body.messages.at(-1);
  const n = Number(/What is (\d+)/.exec(last.content)?.[1]);
  if (last.role === 'tool')
    return completion({ content: `I check: that is one more. It is \\boxed{${luck && body.seed % 2 === 0 ? 0 : last.content}}.` });
  const plan = `The sum of ${n} and 1 is what is asked for, so I let the tool add seed ${body.seed} them.`;
  return completion({ content: plan, tool_calls: [{ id: 'x', function: { name: 'add', arguments: JSON.stringify({ a: n, b: 1 }) } }] });
}
const setOf = async (file: string) => (await readTable(file)).map(({ values }) => values);

describe('trajectories of a teacher', () => {
  it('become a set of conversations with their calls, behaviours and a card', async () => {
    const { options, said } = await teaching((asked) => teacher(asked), { samples: 3 });
    const report = await collectTrajectories(options);
    expect(report).toMatchObject({
      problems: 5,
      rollouts: { wanted: 15, graded: 15, made: 15, lost: 0, tokens: 150 },
      removed: { wrong: 0, 'nearly the same': 10 },
      rows: 5,
      rowsBySource: { low: 3, high: 2 },
      behaviours: { analysis: 5, guarded: 0, recovery: 0, checking: 5 },
    });
    const rows = await setOf(options.out);
    expect(rows[1]).toMatchObject({
      id: 'p2/0',
      problem_id: 'p2',
      source: 'low',
      answer: '3',
      behaviours: ['analysis', 'checking'],
      calls: 1,
    });
    const { messages, tools } = readConversation(rows[1]!, 'here');
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
    expect(messages[2]).toMatchObject({ toolCalls: [{ name: 'add', arguments: { a: 2, b: 1 } }] });
    expect(messages[3]).toMatchObject({ content: '3', name: 'add' });
    expect(tools).toMatchObject([{ name: 'add' }]);
    expect(said.join('\n')).toMatch(/5 problems of .*, 3 rollouts each by openai:http.*#m: 15 to make; each of at most 200 tokens/);
    expect(said.join('\n')).toMatch(/estimate from 8 rollouts: about .* and 70 tokens of the model for the 7 to come/);
    const card = readFileSync(report.card, 'utf8');
    expect(card).toContain('behaviour: checking | 5');
    expect(card).not.toContain(KEY);
    expect(trajectoriesText(report)).toMatch(
      /nearly the same +10 +67%[\s\S]*kept +5 +33% {2}of 5 problems[\s\S]*analysis before the call +5 +100%/,
    );
  });

  it('are written as Parquet too', async () => {
    const { options } = await teaching((asked) => teacher(asked), { samples: 1 });
    const out = options.out.replace('.jsonl', '.parquet');
    await collectTrajectories({ ...options, out });
    const rows = await setOf(out);
    expect(rows).toHaveLength(5);
    expect(readConversation(rows[4]!, 'here').messages[3]).toMatchObject({ role: 'tool', content: '6' });
    expect(rows[4]).toMatchObject({ behaviours: ['analysis', 'checking'] });
  });

  it('are ranked by a scorer, the best of each source taken, and neither sampled nor scored twice', async () => {
    const { options, said, rollouts } = await teaching((asked) => teacher(asked), { samples: 2, topK: 2 });
    let scored = 0;
    const scorer: TrajectoryScorer = {
      name: 's',
      score: async (_, { id }) => {
        scored++;
        return Number(id.slice(1)) / 10;
      },
    };
    const first = await collectTrajectories({ ...options, scorer });
    expect(first).toMatchObject({
      rows: 4,
      rowsBySource: { low: 2, high: 2 },
      removed: { 'beyond the best of its source': 1 },
      scorer: 's',
    });
    expect((await setOf(options.out)).map(({ id, score }) => [id, score])).toEqual([
      ['p2/0', 0.2],
      ['p3/0', 0.3],
      ['p4/0', 0.4],
      ['p5/0', 0.5],
    ]);
    const before = readFileSync(options.out, 'utf8');
    expect([scored, rollouts()]).toEqual([5, 10]);
    const again = await collectTrajectories({ ...options, scorer, resume: true, force: true });
    expect([scored, rollouts(), again.rollouts.made]).toEqual([5, 10, 0]);
    expect(readFileSync(options.out, 'utf8')).toBe(before);
    expect(said.at(-1)).toBe('all 10 rollouts are there: nothing is sampled');
    const more = await collectTrajectories({ ...options, scorer, resume: true, force: true, topK: 1, samples: 3 });
    expect(more).toMatchObject({ rows: 2, rollouts: { wanted: 15, made: 5 } });
  });

  it('overwrite nothing and mix nothing', async () => {
    const { options, rollouts } = await teaching((asked) => teacher(asked), { samples: 1 });
    await expect(collectTrajectories({ ...options, resume: true })).rejects.toThrow(/there are no rollouts in .* to go on with/);
    await collectTrajectories(options);
    const made = rollouts();
    await expect(collectTrajectories(options)).rejects.toThrow(/is there already/);
    await expect(collectTrajectories({ ...options, force: true })).rejects.toThrow(/holds rollouts of an earlier call/);
    const resumed = { ...options, resume: true, force: true };
    await expect(collectTrajectories({ ...resumed, temperature: 0.5 })).rejects.toThrow(/were made otherwise:\n {2}temperature: 1 -> 0.5/);
    const limits = { set: ['limits.turns=2'], samples: 2 };
    await expect(collectTrajectories({ ...resumed, ...limits })).rejects.toThrow(/were made otherwise:\n {2}settings:/);
    expect(rollouts()).toBe(made);
  });

  it('leave out problems that are bad, repeated or cannot be graded by, or end there', async () => {
    const rows = [
      ...ROWS,
      { ...ROWS[0] },
      { id: 'b', question: 'No answer?' },
      { id: 'c', question: 'Q', answer: '\\frac{1}{' },
      'no object',
    ];
    const { options, said } = await teaching((asked) => teacher(asked), { samples: 1 });
    const problems = folder.write('bad.jsonl', lines(rows as object[]));
    const report = await collectTrajectories({ ...options, problems });
    expect(report).toMatchObject({ problems: 5, badProblems: 3, repeatedProblems: 1, rows: 5 });
    expect(said.filter((line) => /left out/.test(line)).join('\n')).toMatch(
      /bad\.jsonl:7: it has no answer; left out[\s\S]*bad\.jsonl:8: its answer .* cannot be used/,
    );
    const strict = { ...options, problems, out: join(folder.path, 'strict.jsonl'), strict: true };
    await expect(collectTrajectories(strict)).rejects.toThrow(/bad\.jsonl:\d+: /);
  });
});

describe('a teacher that fails', () => {
  it('is asked again where it is busy', async () => {
    let refused = 0;
    const { options } = await teaching(
      (asked) =>
        isFirstTurn(asked.body) && refused++ % 3 === 0 ? { status: 429, headers: { 'retry-after': '0.01' }, body: {} } : teacher(asked),
      { samples: 1 },
    );
    expect(await collectTrajectories(options)).toMatchObject({ rows: 5, rollouts: { lost: 0 } });
  });

  it('that refuses tools gets them in the system message, and its calls are read from the text', async () => {
    const { options, said } = await teaching(
      ({ body }) => {
        if (body.tools) return { status: 400, body: { error: { message: 'tools are not supported' } } };
        const last = body.messages.at(-1).content as string;
        const result = /<tool_response>\s*(\d+)/.exec(last)?.[1];
        const n = Number(/What is (\d+)/.exec(last)?.[1]);
        return completion({
          content: result ? `\\boxed{${result}}` : `<tool_call>{"name": "add", "arguments": {"a": ${n}, "b": 1}}</tool_call>`,
        });
      },
      { samples: 1 },
    );
    expect(await collectTrajectories(options)).toMatchObject({ rows: 5 });
    expect(said.join('\n')).toMatch(/takes no tools/);
    const row = (await setOf(options.out))[0]!;
    expect(readConversation(row, 'here').messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
  });

  it('with some rollouts gives the others, and what was lost is made anew on request', async () => {
    let broken = true;
    const { options, rollouts } = await teaching(
      (asked) => (broken && /What is 3/.test(asked.body.messages.at(-1).content) ? { body: 'no JSON' } : teacher(asked)),
      { samples: 1 },
    );
    const first = await collectTrajectories(options);
    expect(first).toMatchObject({
      rows: 4,
      rollouts: { wanted: 5, graded: 4, lost: 1, lastLoss: expect.stringMatching(/no chat completion/) },
    });
    expect(trajectoriesText(first)).toMatch(/lost to failures; --resume makes them anew +1 +last: .*no chat completion/);
    broken = false;
    const before = rollouts();
    expect(await collectTrajectories({ ...options, resume: true, force: true })).toMatchObject({ rows: 5, rollouts: { made: 1, lost: 0 } });
    expect(rollouts()).toBe(before + 1);
  });

  it('with all of them ends soon, says so and keeps what there was', { timeout: 20_000 }, async () => {
    let given = 0;
    const many = Array.from({ length: 60 }, (_, i) => ({ id: `p${i}`, question: `What is ${i} + 1?`, answer: String(i + 1) }));
    const { options, said } = await teaching(
      (asked) => (isFirstTurn(asked.body) && ++given > 10 ? { status: 200, body: 'gateway timeout' } : teacher(asked)),
      { samples: 1, problems: folder.write('many.jsonl', lines(many)) },
    );
    await expect(collectTrajectories(options)).rejects.toThrow(/32 rollouts in a row were lost.*no chat completion/);
    expect(said.at(-1)).toMatch(/^10 of 60 rollouts are kept in .*; go on with --resume$/);
    expect(existsSync(options.out)).toBe(false);
    given = -1e9;
    expect(await collectTrajectories({ ...options, resume: true })).toMatchObject({ rows: 60, rollouts: { made: 50 } });
  });

  it('with all of a few is no empty set, and the same call may be made again', async () => {
    let broken = true;
    const { options } = await teaching((asked) => (broken && isFirstTurn(asked.body) ? { body: 'no JSON' } : teacher(asked)), {
      samples: 1,
    });
    await expect(collectTrajectories(options)).rejects.toThrow(/all 5 rollouts were lost to failures. The last one: .*no chat completion/);
    expect(existsSync(options.out)).toBe(false);
    broken = false;
    expect(await collectTrajectories({ ...options, temperature: 0.5 })).toMatchObject({ rows: 5 });
  });

  it('that is not there leaves nothing in the way of a call with the right name', async () => {
    const { options } = await teaching((asked) => teacher(asked), { samples: 1 });
    await expect(collectTrajectories({ ...options, teacher: 'no-such-model' })).rejects.toThrow('there is no model "no-such-model"');
    expect(await collectTrajectories(options)).toMatchObject({ rows: 5 });
  });

  it('and answers in time or not: the rollout’s deadline ends it', async () => {
    const { options } = await teaching(
      async (asked) => {
        if (/What is 2/.test(asked.body.messages.at(-1).content)) await new Promise((resolve) => setTimeout(resolve, 1500));
        return teacher(asked);
      },
      { samples: 1, set: ['limits.deadlineSeconds=0.3'] },
    );
    expect(await collectTrajectories(options)).toMatchObject({
      rows: 4,
      rollouts: { lost: 1, lastLoss: expect.stringMatching(/no answer within 0.3 s/) },
    });
  });

  it('refusing in the middle ends it at once, with its reason and without the key', async () => {
    let asked = 0;
    const { options, said } = await teaching(
      (request) =>
        isFirstTurn(request.body) && ++asked > 2 ? { status: 402, body: { error: { message: `no credit for ${KEY}` } } } : teacher(request),
      { samples: 1, endpoint: { keyName: 'TOOLWISE_TEST_KEY', concurrency: 1 } },
    );
    await expect(collectTrajectories(options)).rejects.toThrow(/HTTP 402: no credit for \*\*\*/);
    expect(said.at(-1)).toMatch(/^2 of 5 rollouts are kept/);
    const files = readdirSync(`${options.out}.rollouts`).map((file) => readFileSync(join(`${options.out}.rollouts`, file), 'latin1'));
    expect(files.join('\n')).not.toContain(KEY);
  });

  it('and a stop by the user keep what there was', async () => {
    const stop = new AbortController();
    let asked = 0;
    const { options } = await teaching(
      (request) => {
        if (isFirstTurn(request.body) && ++asked === 3) stop.abort(new Error('stopped'));
        return teacher(request, true);
      },
      { samples: 2, endpoint: { concurrency: 1 } },
    );
    await expect(collectTrajectories({ ...options, signal: stop.signal })).rejects.toThrow('stopped');
    const report = await collectTrajectories({ ...options, resume: true });
    expect(report.rollouts).toMatchObject({ wanted: 10, graded: 10, made: 8 });
    expect(report.rows + Object.values(report.removed).reduce((a, b) => a + b)).toBe(10);
  });
});

const missing = await missingForEndToEnd('nano');
describe.skipIf(missing !== undefined)(`a teacher of our own${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('runs its programs in the sandbox and gives the same set again from its rollouts', { timeout: 120_000 }, async () => {
    const options = {
      problems: 'calc-small',
      count: 16,
      teacher: 'nano',
      set: ['engine.threads=1'],
      out: join(folder.path, 'nano.jsonl'),
      seed: 3,
    };
    const report = await collectTrajectories(options);
    expect(report).toMatchObject({ teacher: 'nano', problems: 16, rollouts: { wanted: 64, graded: 64, lost: 0 } });
    expect(report.rows).toBeGreaterThan(0);
    const rows = await setOf(options.out);
    for (const row of rows) {
      const { messages } = readConversation(row, 'here');
      const call = messages.find((message) => message.role === 'assistant' && message.toolCalls !== undefined);
      expect(call).toMatchObject({ toolCalls: [{ name: 'code_interpreter', arguments: { code: expect.any(String) } }] });
      expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: expect.stringContaining(`boxed{${row.answer as string}}`) });
    }
    // Laid out for training, a row is token for token what the teacher sampled.
    const format = await ChatFormat.load(findModel('nano')!.folder);
    const journal = Journal.open(`${options.out}.rollouts`, true);
    for (const row of rows) {
      const { messages, tools = [] } = readConversation(row, 'here');
      const key = problemKey({ id: '', question: messages[0]!.content, answer: row.answer as string });
      const { promptTokens, tokens, mask } = journal.one(key, Number((row.id as string).split('/').at(-1))).trajectory;
      expect(format.demonstration(messages, tools)).toEqual({ promptTokens, tokens, mask });
    }
    journal.close();
    const before = readFileSync(options.out, 'utf8');
    expect(await collectTrajectories({ ...options, resume: true, force: true })).toMatchObject({ rollouts: { made: 0 } });
    expect(readFileSync(options.out, 'utf8')).toBe(before);
  });
});
