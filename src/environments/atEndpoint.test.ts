/** Environments where the policy is a model behind an endpoint. */
import { afterEach, expect, it } from 'vitest';
import { OpenAiClient } from '../engine/openaiClient.js';
import type { EndpointAbilities } from '../engine/openaiEndpoint.js';
import { completion, openAiTestServer, type ScriptedAnswer } from '../engine/testSupport.js';
import { recipeSchema } from '../recipe/schema.js';
import { endpointAgent } from '../rollout/endpointAgent.js';
import { planGroups, runRollouts } from '../rollout/scheduler.js';
import { Toolbox } from '../tools/callTool.js';
import type { Environment } from './environment.js';
import { type Counting, counting, GOAL, type Happening } from './testSupport.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const abilities: EndpointAbilities = { toolCalls: true, logProbs: false, tokenIds: false, usage: true, completionLimit: false };
const limits = recipeSchema.shape.limits.parse({});

async function roll(environment: Environment<Counting>, answer: (count: number) => ScriptedAnswer, warnings: string[] = []) {
  const server = await openAiTestServer((_, count) => answer(count));
  open.push(server);
  const client = new OpenAiClient({ url: server.url, firstPause: 0.001 });
  open.push(client);
  const agent = endpointAgent({
    endpoint: { client, model: 'm', abilities },
    tools: new Toolbox(environment.tools),
    limits,
    system: '',
    environment: environment as Environment,
    onWarning: (text) => void warnings.push(text),
  });
  const [rollout] = await runRollouts(planGroups([GOAL], 1, 'test'), agent, { runSeed: 1, step: 0, concurrency: 4 });
  return { rollout: rollout!, asked: server.asked };
}

const add = (n: number): ScriptedAnswer =>
  completion(
    { content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: JSON.stringify({ n }) } }] },
    { finish: 'tool_calls' },
  );

it('is acted in by an endpoint too: from its first observation to the action that ends it', async () => {
  const happened: Happening[] = [];
  const { rollout, asked } = await roll(counting(happened), (count) => add(count === 1 ? 2 : 3));
  expect(asked[0]!.body.messages).toEqual([
    { role: 'user', content: expect.stringMatching(/^Count to 5\.\n\nThe counter is at 0\. Seed \d+\.$/) },
  ]);
  expect(asked[0]!.body.tools.map(({ function: { name } }: { function: { name: string } }) => name)).toEqual(['add', 'give_up']);
  expect(rollout).toMatchObject({
    kind: 'finished',
    trajectory: {
      stopReason: { kind: 'stopTool', tool: 'add' },
      environment: { steps: 2, success: true, rewards: { 'env/step': 0.625, 'env/final': 1 } },
    },
  });
  expect(happened.map(([what]) => what)).toEqual(['reset', 'step', 'step', 'score', 'tearDown']);
});

it('loses a rollout of an environment that fails, and tells of a tear-down that does', async () => {
  const unset = counting([], { reset: () => Promise.reject(new Error('no database')) });
  expect((await roll(unset, () => add(1))).rollout).toMatchObject({ kind: 'infra', error: expect.stringContaining('no database') });
  const warnings: string[] = [];
  const failing = counting([], {
    score: () => Promise.reject(new Error('no ruler')),
    tearDown: () => Promise.reject(new Error('stuck')),
  });
  const { rollout } = await roll(failing, () => add(5), warnings);
  expect(rollout).toMatchObject({ kind: 'infra', error: expect.stringContaining('no ruler') });
  expect(new Set(warnings)).toEqual(new Set(['test/0/0: environment "counting" could not be torn down: stuck']));
});
