/**
 * An agent written with the AI SDK, trained as it is: it tells what an order costs, with two tools, a price list and a calculator. nano is
 * shown some hundred conversations of such an agent, and then learns from its own attempts.
 *
 *     npx tsx examples/ai-sdk-agent.ts
 *
 * SEED, STEPS, DEMONSTRATIONS and HELD_OUT in the environment change the run, OUT its folder.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateText, stepCountIs, tool } from 'ai';
import { agent, type Problem, Random, train, z } from 'toolwise';

/** What some pieces of some articles cost. Each order has a price list of its own, so that no price can be learned by heart. */
interface Order extends Problem {
  readonly answer: string;
  readonly lines: readonly (readonly [pieces: number, article: string])[];
  readonly prices: Readonly<Record<string, number>>;
}

// The agent, as it would stand in an application; `agent` hands it the model that is trained.
const clerk = agent<Order, Shop>({
  setUp: ({ problem }) => openShop(problem.prices),
  run: async ({ problem, model, signal, state: shop }) => {
    const { text } = await generateText({
      model,
      prompt: problem.question,
      tools: {
        price: tool({
          description: 'The price of one piece of an article.',
          inputSchema: z.object({ item: z.string() }),
          execute: async ({ item }) => String(shop.price(item)),
        }),
        calculate: tool({
          description: 'The value of a sum of products, such as 3*7+2*12.',
          inputSchema: z.object({ sum: z.string() }),
          execute: async ({ sum }) => String(calculate(sum)),
        }),
      },
      stopWhen: stepCountIs(6),
      abortSignal: signal,
    });
    return text;
  },
  tearDown: (shop) => shop.close(),
});

interface Shop {
  price(article: string): number;
  close(): void;
}

/** What the tools work on, one for each rollout; in an application a connection to a database. */
function openShop(prices: Order['prices']): Shop {
  let open = true;
  return {
    price: (article) => {
      const price = open ? prices[article] : undefined;
      if (price === undefined) throw new Error(`no article ${article}`);
      return price;
    },
    close: () => {
      open = false;
    },
  };
}

function calculate(sum: string): number {
  if (!/^\d+(\*\d+)*(\+\d+(\*\d+)*)*$/.test(sum)) throw new Error('not a sum of products');
  const product = (factors: string): number => factors.split('*').reduce((value, factor) => value * Number(factor), 1);
  return sum.split('+').reduce((total, factors) => total + product(factors), 0);
}

function orders(count: number, random: Random): Order[] {
  return Array.from({ length: count }, (_, i) => {
    const lines = Array.from({ length: random.int(1, 2) }, () => [random.int(2, 30), String(random.int(10, 99))] as const);
    const prices = Object.fromEntries(Array.from({ length: 90 }, (_, article) => [String(10 + article), random.int(2, 60)]));
    return {
      ...{ id: `order-${i}`, lines, prices },
      question: `What is ${lines.map(([pieces, article]) => `${pieces} of ${article}`).join(' and ')}?`,
      answer: String(lines.reduce((sum, [pieces, article]) => sum + pieces * prices[article]!, 0)),
    };
  });
}

/** A conversation as the agent should have it: ask each price, calculate, say what came out. */
function demonstration({ question, lines, prices, answer }: Order): object {
  const call = (name: string, args: object, result: string) => [
    { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name, arguments: args } }] },
    { role: 'tool', content: result },
  ];
  const sum = lines.map(([pieces, article]) => `${pieces}*${prices[article]}`).join('+');
  return {
    messages: [
      { role: 'user', content: question },
      ...lines.flatMap(([, article]) => call('price', { item: article }, String(prices[article]))),
      ...call('calculate', { sum }, answer),
      { role: 'assistant', content: `The answer is \\boxed{${answer}}` },
    ],
  };
}

const setting = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const seed = setting('SEED', 1);
const folder = mkdtempSync(join(tmpdir(), 'ai-sdk-agent-'));
const shown = join(folder, 'demonstrations.jsonl');
const conversations = orders(setting('DEMONSTRATIONS', 320), new Random(seed)).map(demonstration);
writeFileSync(shown, conversations.map((conversation) => JSON.stringify(conversation)).join('\n'));

const { report, folder: run } = await train<Order>({
  agent: clerk,
  problems: { train: orders(480, new Random(1000 + seed)), evaluation: orders(setting('HELD_OUT', 256), new Random(2000)) },
  recipe: {
    name: 'ai-sdk-agent',
    extends: 'nano',
    model: 'nano',
    seed,
    stages: ['sft', 'rl'],
    limits: { turns: 6, turnTokens: 64, responseTokens: 320 },
    problems: { train: 'calc-small', evaluation: 'calc-small' }, // the orders above stand in their place
    sft: { demonstrations: { file: shown }, epochs: 4, batchSize: 16, learningRate: 1e-3 },
    rl: { steps: setting('STEPS', 30), reward: { overlong: null } },
    evaluation: { extra: [] },
  },
  ...(process.env.OUT !== undefined && { out: process.env.OUT }),
  log: console.log,
  onEvent: (event) => {
    if (event.kind !== 'stepEnded' || event.stage !== 'rl') return;
    const { 'rollout/accuracy': right = 0, 'rollout/calls': calls = 0 } = event.metrics;
    console.log(`step ${event.step + 1}: right ${Math.round(right * 100)} %, ${calls.toFixed(1)} calls`);
  },
});
rmSync(folder, { recursive: true });

const percent = (stage: 'base' | 'sft' | 'rl'): string => `${(100 * (report.stages[stage]?.accuracy ?? 0)).toFixed(1)} %`;
console.log(`right: ${percent('base')} at first, ${percent('sft')} after the demonstrations, ${percent('rl')} after training`);
console.log(`the run is in ${run}`);
