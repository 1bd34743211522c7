/** Types of the public API: compiled with everything else, never run. A wrong argument must be a compile error. */
import { asSchema, dynamicTool, jsonSchema, tool as sdkTool, type ToolSet } from 'ai';
import {
  aiTools,
  cached,
  dryRun,
  environment,
  evaluate,
  jsonTool,
  mcpTools,
  type Problem,
  play,
  type Rollout,
  tool,
  train,
  type Verdict,
  z,
} from 'toolwise';

interface Ticket extends Problem {
  readonly customer: string;
}

const tickets: Ticket[] = [{ id: '1', question: 'Where is my order?', customer: 'Ada' }];

const lookUp = tool({
  name: 'look_up',
  description: 'Finds an order.',
  parameters: z.object({ order: z.number(), fields: z.array(z.string()).optional() }),
  setUp: () => ({ calls: 0 }),
  execute: ({ order, fields }, { state }) => {
    order.toFixed();
    fields?.join();
    state.calls += 1;
    // @ts-expect-error there is no such field
    state.missing;
    return 'found';
  },
});

tool({
  name: 'wrong',
  description: 'Uses an argument that its schema does not have.',
  parameters: z.object({ city: z.string() }),
  // @ts-expect-error no argument `town`
  execute: ({ town }) => town,
});

tool({
  name: 'wrong_result',
  description: 'Returns what a model cannot read.',
  parameters: z.object({}),
  // @ts-expect-error a number is no result
  execute: () => 42,
});

const weather = jsonTool<{ city: string; days?: number }>({
  name: 'weather',
  description: 'The weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] },
  execute: ({ city, days = 1 }) => {
    city.trim();
    // @ts-expect-error there is no such argument
    days.trim();
    return { kind: 'ok', text: city };
  },
});

jsonTool({
  name: 'any',
  description: '',
  // @ts-expect-error parameters are a schema, not a text
  parameters: 'object',
  execute: (args) => String(args.city),
});

// An answer gets the arguments of the tool that it stands for.
const dryWeather = dryRun(weather, ({ city }) => city.trim());
// @ts-expect-error there is no such argument
dryRun(lookUp, ({ city }) => city);
const rememberedLookUp = cached(lookUp, { scope: 'group', key: ({ order }) => order.toFixed() });
// @ts-expect-error there is no such scope
cached(lookUp, { scope: 'group of groups' });

// Tools of the real SDK fit, whatever their schema.
const sdkTools = {
  zod: sdkTool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => ({ city }) }),
  json: sdkTool({ inputSchema: jsonSchema<{ n: number }>({ type: 'object' }), execute: ({ n }) => n }),
  streaming: sdkTool({
    inputSchema: z.object({}),
    async *execute() {
      yield 'a';
    },
  }),
  worded: sdkTool({
    inputSchema: z.object({}),
    execute: () => 1,
    toModelOutput: ({ output }) => ({ type: 'text', value: output.toFixed() }),
  }),
  approved: sdkTool({ inputSchema: z.object({ n: z.number() }), needsApproval: ({ n }) => n > 1, execute: () => '' }),
  dynamic: dynamicTool({ inputSchema: z.object({}), execute: async () => 1 }),
} satisfies ToolSet;
void aiTools(sdkTools, { timeoutSeconds: 5, asSchema, approve: ({ name }) => name === 'approved' });
void aiTools({} as ToolSet);
// @ts-expect-error a tool is an object
void aiTools({ no: 'tool' });

void mcpTools({ command: 'npx', args: ['server'] }, { include: ['a'], perRollout: true }).then(async ({ tools, close }) => {
  await train({ recipe: 'nano', tools: [...tools, weather, dryWeather, rememberedLookUp, ...(await aiTools(sdkTools))] });
  await close();
});
// @ts-expect-error a server is a program or an address
void mcpTools({ args: ['server'] });

void train<Ticket>({
  recipe: 'nano',
  problems: { train: tickets },
  tools: [lookUp],
  reward: ({ problem, turns }) => ({ polite: problem.customer.length > 0 ? 1 : 0, short: -turns.length }),
});

void train<Ticket>({
  recipe: 'nano',
  problems: { train: tickets },
  // @ts-expect-error a problem has no such field
  reward: ({ problem }) => problem.priority,
});

// @ts-expect-error an unknown recipe key
void train({ recipe: { name: 'x', model: 'nano', stages: ['rl'], problems: { train: 'calc', evaluation: 'calc' }, rl: { stepps: 3 } } });

declare const verdict: Verdict;
// @ts-expect-error a verdict that infrastructure took carries no score
verdict.score;

declare const rollout: Rollout;
// @ts-expect-error nor a trajectory to reward
rollout.trajectory;

// @ts-expect-error samples is a number
void evaluate({ model: 'nano', samples: '8' });

const shop = environment({
  name: 'shop',
  reset: async (ticket: Ticket, { seed }) => ({ state: { money: seed, customer: ticket.customer }, observation: 'open' }),
  actions: {
    buy: {
      description: 'Buys.',
      parameters: z.object({ item: z.string(), pieces: z.number().optional() }),
      step: (state, { item, pieces = 1 }, { problem }) => {
        state.money -= pieces;
        problem.customer.trim();
        // @ts-expect-error the state has no such field
        state.debt;
        return { observation: item, reward: { thrift: -pieces }, done: state.money === 0 };
      },
    },
    look: {
      description: 'Looks.',
      parameters: z.object({ at: z.enum(['shelf', 'till']) }),
      // @ts-expect-error no argument `where`
      step: (_, { where }) => `${where}`,
    },
  },
  score: ({ money }, { problem }) => ({ success: money > 0, reward: problem.customer.length }),
});

void train({ recipe: 'nano', problems: { train: tickets }, environment: shop });
void evaluate({ model: 'nano', problems: tickets, environment: shop });
void play(shop, { problem: tickets[0]!, seed: 1, player: ({ observation }) => ({ action: observation }) });

// @ts-expect-error problems that the environment does not know
void train({ recipe: 'nano', problems: { train: [{ id: '1', question: '' }] }, environment: shop });

environment({
  name: 'wrong_step',
  reset: () => ({ state: {} }),
  // @ts-expect-error a number is no observation
  actions: { go: { description: 'Goes.', parameters: z.object({}), step: () => 42 } },
  score: () => true,
});
