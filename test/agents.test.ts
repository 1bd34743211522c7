/**
 * Agents through train and evaluate on the real engine, with a tiny model that has learned nothing: what is kept, what is trained, what is
 * refused. And the tokens that an agent's calls come to, recorded and served.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateText, stepCountIs, tool } from 'ai';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agent, agentAt, agentCommand } from '../src/agents/agent.js';
import { branchesOf, type Trajectory } from '../src/domain/trajectory.js';
import { evaluate } from '../src/evaluation/evaluateModel.js';
import { openRun } from '../src/runs/reader.js';
import { toDatum } from '../src/training/datum.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';
import { makeTinyModel } from './tinyModel.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'agents-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROBLEMS = Array.from({ length: 8 }, (_, i) => ({ id: `${i}`, question: `What is ${i} + 1?`, answer: String(i + 1) }));
const recipe = (out: string, more: object = {}) => ({
  ...{ name: 'agents', extends: 'nano', stages: ['rl' as const], model: makeTinyModel(join(folder, `${out}-model`)) },
  engine: { threads: 1 },
  problems: { train: 'calc-small' as const, evaluation: 'calc-small' as const },
  rl: { steps: 2, groupsPerStep: 2, groupSize: 3, updatesPerStep: 1, reward: { overlong: null } },
  limits: { turns: 5, turnTokens: 12, responseTokens: 60 },
  evaluation: { extra: [], base: false },
  ...more,
});
const add = tool({ inputSchema: z.object({ a: z.number(), b: z.number() }), execute: async ({ a, b }) => String(a + b) });

/** Asks twice from scratch, and once more in the first conversation: two lines of tokens. */
const asking = agent(async ({ problem, model, signal }) => {
  const ask = (prompt: string) => generateText({ model, prompt, tools: { add }, stopWhen: stepCountIs(2), abortSignal: signal });
  const [first, second] = await Promise.all([ask(problem.question), ask(`Again: ${problem.question}`)]);
  return `${first.text} ${second.text}`;
});

describe.skipIf(missing !== undefined)(`an agent${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('is trained: all of its lines of tokens, with one reward and one advantage a rollout', { timeout: 120_000 }, async () => {
    const out = join(folder, 'trained');
    const lengths = ({ finalText }: Trajectory): number => finalText.length % 7;
    const { report } = await train({
      recipe: recipe('trained'),
      agent: asking,
      problems: { train: PROBLEMS, evaluation: PROBLEMS.slice(0, 2) },
      reward: lengths,
      out,
    });
    expect(report.stages.rl).toBeDefined();
    const run = openRun(out);
    try {
      const records = [...run.records({ stage: 'rl', split: 'train' })];
      expect(records).toHaveLength(2 * 2 * 3);
      for (const { trajectory, reward, advantage, ratios, branchRatios } of records) {
        expect(branchesOf(trajectory).length).toBe(2);
        for (const branch of branchesOf(trajectory)) expect(() => toDatum(branch)).not.toThrow();
        expect(reward!.total).toBe(lengths(trajectory));
        if (advantage === 0) continue;
        expect(ratios).toHaveLength(trajectory.tokens.length);
        expect(branchRatios!.map(({ length }) => length)).toEqual(trajectory.branches!.map(({ tokens }) => tokens.length));
        // One update a step: the policy had not moved when it saw them.
        for (const ratio of [...ratios!, ...branchRatios!.flat()]) expect(Math.abs(ratio - 1)).toBeLessThan(0.02);
      }
      expect(records.some(({ advantage }) => advantage !== 0)).toBe(true);
      const tokens = run.steps('rl').map(({ metrics }) => metrics['train/tokens']!);
      expect(tokens.every((count) => count > 0)).toBe(true);
      const rows = run.trajectories({ stage: 'rl', split: 'train' });
      expect(rows.every(({ turns }) => turns >= 2)).toBe(true);
      expect(run.info.recipe).toMatchObject({ tools: [], prompt: { system: '' } });
      expect(run.info.extra!.agent).toBe('a function of the program that trained');
    } finally {
      run.close();
    }

    const evaluated = await evaluate({
      model: out,
      agent: asking,
      problems: PROBLEMS.slice(0, 3),
      samples: 2,
      out: join(folder, 'evaluated'),
    });
    expect(evaluated.result.rollouts).toHaveLength(6);
    expect(evaluated.result.statistics.turnsPerRollout).toBeGreaterThanOrEqual(2);
  });

  it('is trained asynchronously, and by a program that the recipe names', { timeout: 120_000 }, async () => {
    const out = join(folder, 'program');
    const program = `
      let task = '';
      for await (const part of process.stdin) task += part;
      const { problem, model, rolloutUrl } = JSON.parse(task);
      const post = (url, body) => fetch(url, { method: 'POST', body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY } });
      const answered = await post(process.env.OPENAI_BASE_URL + '/chat/completions', { model, messages: [{ role: 'user', content: problem.question }] });
      const text = (await answered.json()).choices[0].message.content;
      await post(rolloutUrl + '/end', { answer: text, reward: text.length % 5 });
    `;
    const rl = {
      ...recipe('program').rl,
      async: { staleness: 1 },
      algorithm: { truncatedImportanceSampling: 2, oldLogProbs: 'trainer' as const },
    };
    const command = [process.execPath, '--input-type=module', '-e', program];
    const said: string[] = [];
    await train({
      recipe: recipe('program', { rl, agent: { command, concurrency: 2 } }),
      problems: { train: PROBLEMS, evaluation: PROBLEMS.slice(0, 1) },
      out,
      log: (line) => said.push(line),
    });
    expect(said.some((line) => line.includes('with your rights, without the sandbox'))).toBe(true);
    const run = openRun(out);
    const records = [...run.records({ stage: 'rl', split: 'train' })];
    run.close();
    expect(records).toHaveLength(2 * 2 * 3);
    for (const { trajectory, reward, verdict } of records) {
      expect(reward).toEqual(trajectory.givenReward);
      expect(reward!.total).toBe(trajectory.finalText.length % 5);
      expect(verdict).toBeUndefined();
    }
  });

  it('stops the run where it always fails, and says why', { timeout: 60_000 }, async () => {
    const failing = agent({ run: () => Promise.reject(new Error('no network')), failuresInARow: 4 });
    const training = train({ recipe: recipe('failing'), agent: failing, problems: { train: PROBLEMS }, out: join(folder, 'failing') });
    await expect(training).rejects.toThrow(/the agent failed in 4 rollouts in a row, at last in rl\/0\/\d\/\d: no network/);
    const run = openRun(join(folder, 'failing'));
    const notes = run.notes().map(({ text }) => text);
    run.close();
    expect(notes.at(-1)).toMatch(/^the run failed: the agent failed in 4 rollouts in a row/);
  });
});

describe('what does not go with an agent', () => {
  const made = agent(() => 'x');
  const problems = { train: PROBLEMS };
  const refused = (more: object, options: object = {}) =>
    expect(train({ recipe: { ...recipe('refused'), ...more }, agent: made, problems, out: join(folder, 'refused'), ...options })).rejects;

  it('is refused by name, before anything is started', async () => {
    await refused({ engine: { deterministic: true } }).toThrow('engine.deterministic does not go with an agent');
    await refused({ agent: { url: 'http://localhost:1/' }, engine: { deterministic: true } }).toThrow(
      'engine.deterministic and agent exclude each other',
    );
    await refused({}, { tools: [] }).toThrow('an agent brings tools of its own');
    await refused({ mcp: [{ url: 'http://127.0.0.1:1/mcp', name: 'x' }] }).toThrow('mcp: an agent brings tools of its own');
    await refused({ model: 'openai:http://127.0.0.1:1/v1' }).toThrow('can be evaluated, not trained');
    await expect(evaluate({ model: 'openai:http://127.0.0.1:1/v1#m', agent: made, problems: PROBLEMS })).rejects.toThrow(
      'not at an OpenAI endpoint',
    );
    for (const bad of [{ command: [] }, { url: 'nowhere' }, { command: ['x'], url: 'http://localhost' }, { command: 'python agent.py' }])
      await refused({ agent: bad }).toThrow();
    await expect(
      train({ recipe: { ...recipe('refused'), agent: { url: 'http://192.0.2.1/' } }, problems, out: join(folder, 'refused') }),
    ).rejects.toThrow('on another machine');
    expect([agentCommand(['python', 'agent.py']).kind, agentAt('http://127.0.0.1:8000').kind]).toEqual(['program', 'service']);
  });
});
