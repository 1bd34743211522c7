/**
 * What a run is, as a strict schema: an unknown key is an error. Every default is the paper's value for GRPO-TCR (or for its SFT stage).
 * Does not read files (`load.ts`) and does not compare with the paper (`deviations.ts`).
 */
import { z } from 'zod';
import { SERVERS } from '../engine/profiles.js';
import { mcpServerSchema } from './mcpSchema.js';

const positive = z.number().positive();
const count = z.int().positive();
const share = z.number().min(0).max(1);

/** Problems by generator or by file. A string is short for a generator's name or a file. */
export const problemSourceSchema = z.union([
  z.string().min(1),
  z.strictObject({
    kind: z.enum(['calc', 'calc-small', 'calc-tiny']),
    /** How many; a training source may be endless (left out). */
    count: count.optional(),
    seed: z.int().nonnegative().optional(),
    levels: z.array(z.int().min(1).max(3)).optional(),
    /** Half of the right answers are written in other forms, such as 1,240 or 12.0. For studies of graders; absent: all are plain. */
    answers: z.literal('varied').optional(),
  }),
  z.strictObject({
    /** Parquet, JSON Lines, JSON, CSV or TSV, here or on the hub (`hf:owner/name/path@revision`). */
    kind: z.literal('file'),
    file: z.string().min(1),
    /** How its rows are written, for example `open-agentrl-rl`; absent: found from the columns. */
    schema: z.string().optional(),
    count: count.optional(),
  }),
  z.strictObject({ kind: z.literal('jsonl'), file: z.string().min(1), count: count.optional() }),
]);

const engineSchema = z.strictObject({
  /** A Tinker server's address; absent: the embedded engine is started. */
  url: z.url().optional(),
  /** What kind of server `url` is: nothing on the wire says so. Our own engine tells by itself. */
  server: z.enum(SERVERS).optional(),
  /** Where the embedded engine computes; `auto`: on an NVIDIA GPU that its torch can use, else on the CPU. */
  device: z.enum(['auto', 'cpu', 'cuda']).default('auto'),
  dtype: z.enum(['auto', 'bfloat16', 'float32']).default('auto'),
  /** `auto`: as many as are free. */
  threads: z.union([z.literal('auto'), count]).default('auto'),
  /** Bit-equal repeats on one machine: lockstep turns, fixed slots and threads. Slower. */
  deterministic: z.boolean().default(false),
  /** Capabilities that the run may go without; each is printed. */
  allowMissing: z.array(z.string()).default([]),
});

const promptSchema = z.strictObject({
  /** System message; absent: the mode's own wording. An empty text sends none. */
  system: z.string().optional(),
  /** Deliberative: analysis before a call, one call a turn. Reactive: calls early and often (paper, section 5). */
  mode: z.enum(['deliberative', 'reactive', 'plain']).default('deliberative'),
  /** Where the tools are described: by the chat template, in the system message, or not at all; auto: the template where it can. */
  tools: z.enum(['auto', 'template', 'system', 'omit']).default('auto'),
});

const agentFields = {
  /** What becomes of a rollout whose agent fails: it is lost, or it counts as one without an answer. */
  failure: z.enum(['lost', 'wrong']).optional(),
  /** Failures in a row that stop the run; absent: 16. */
  failuresInARow: count.optional(),
  /** Rollouts that have the agent at work at once; absent: of a program 16, of a service as many as are in flight. */
  concurrency: count.optional(),
};

/** An agent of your own takes each rollout through, in place of the built-in loop and the tools of the recipe. */
const agentSchema = z.union([
  /** A program, started for each rollout with your rights, without the sandbox. */
  z.strictObject({ command: z.array(z.string().min(1)).min(1), cwd: z.string().optional(), ...agentFields }),
  /** A service on this machine, asked by POST for each rollout. */
  z.strictObject({ url: z.url(), ...agentFields }),
]);

const sandboxSchema = z.strictObject({
  kind: z.enum(['auto', 'zygote', 'oneshot', 'none']).default('auto'),
  workers: z.union([z.literal('auto'), count]).default('auto'),
  timeoutSeconds: positive.default(30),
  memoryMb: count.default(2048),
});

const limitsSchema = z.strictObject({
  /** Assistant turns. */
  turns: count.default(16),
  /** Calls answered in one turn; further ones are told so. */
  callsPerTurn: count.default(1),
  promptTokens: count.default(2560),
  /** Tokens of one assistant turn; absent: only the response's limit. */
  turnTokens: count.optional(),
  /** Model and tool tokens together. */
  responseTokens: count.default(16384),
  /** Tokens of one tool result; head and tail are kept. */
  toolTokens: count.default(512),
  /** Calls in a row that cannot be read; then the rollout ends. */
  malformedInARow: count.default(3),
  /** Wall-clock seconds of one rollout. */
  deadlineSeconds: positive.default(1800),
});

export const scheduleSchema = z.strictObject({
  kind: z.enum(['constant', 'linear', 'cosine']),
  /** Share of the updates over which the rate rises from 0. */
  warmup: share.default(0),
  /** Where the decay ends, as a share of the peak. */
  floor: share.default(0),
});

const optimizerFields = {
  learningRate: positive,
  schedule: scheduleSchema,
  betas: z.tuple([share, share]),
  epsilon: positive.default(1e-8),
  weightDecay: z.number().nonnegative().default(0.01),
  /** 0: no clipping. */
  gradClip: z.number().nonnegative().default(1),
};

const sftSchema = z.strictObject({
  /**
   * Demonstrations: the scripted teacher on generated problems, their written solutions as they are (no call at all) or with calls stitched in,
   * traces of mixed quality such as `nano` was made of, or a file of conversations.
   */
  demonstrations: z.union([
    z.strictObject({ teacher: z.literal('traces'), mix: z.enum(['easy', 'hard', 'thinking']), count: count }),
    z.strictObject({
      teacher: z.literal('scripted'),
      problems: problemSourceSchema,
      count: count,
      faults: share.default(0.3),
      /** Share of conversations with an analysis before the call; absent: 0.85. */
      analysis: share.optional(),
    }),
    z.strictObject({ teacher: z.enum(['stitched', 'written']), problems: problemSourceSchema, count: count }),
    z.strictObject({ file: z.string().min(1) }),
  ]),
  epochs: count.default(5),
  batchSize: count.default(32),
  /** Prompt and response together; longer demonstrations are left out, and said so. */
  maxTokens: count.default(32768),
  /** The released code's mask: one token late, so that the first token of each turn is not trained. For studies; absent: the right one. */
  mask: z.literal('reference').optional(),
  ...optimizerFields,
  learningRate: positive.default(5e-5),
  schedule: scheduleSchema.default({ kind: 'cosine', warmup: 0.1, floor: 0 }),
  betas: z.tuple([share, share]).default([0.9, 0.95]),
});

const algorithmSchema = z.strictObject({
  advantage: z.enum(['grpo', 'grpoWithoutStd', 'leaveOneOut']).default('grpo'),
  /** Probability ratio of each token (Eq. 6) or of the whole sequence (Eq. 7). */
  ratio: z.enum(['token', 'sequence']).default('token'),
  /** Eq. 4 (token) or Eq. 5 (sequence). */
  aggregation: z.enum(['token', 'sequence']).default('token'),
  clipLow: positive.default(0.2),
  clipHigh: positive.default(0.28),
  /** Bound of the loss of negative advantages; absent: none. */
  dualClip: z.number().min(1).optional(),
  klCoefficient: z.number().nonnegative().default(0),
  klEstimator: z.enum(['k1', 'k2', 'k3']).default('k3'),
  entropyCoefficient: z.number().nonnegative().default(0),
  /** Cap of truncated importance sampling between sampler's and trainer's log-probs; absent: off. */
  truncatedImportanceSampling: positive.optional(),
  /** Whose log-probs are the old ones: recomputed by the trainer, or the sampler's (saves a forward). */
  oldLogProbs: z.enum(['trainer', 'sampler']).default('trainer'),
});

const rewardSchema = z.strictObject({
  /** Eq. 8: a bonus for each executed call, up to a maximum. */
  toolBonus: z.strictObject({ perCall: z.number().nonnegative(), max: z.number().nonnegative() }).default({ perCall: 0.1, max: 0.4 }),
  /** Eq. 9; absent or null: no length shaping. */
  overlong: z.strictObject({ maxTokens: count, cacheTokens: count }).nullable().default({ maxTokens: 16384, cacheTokens: 4096 }),
  /** The released code's reward: bonus for wrong answers only, and tool tokens count as length. */
  reference: z.boolean().default(false),
  /** Who grades training rollouts: the released code's grading, which compares answers as texts. For studies; absent: ours, as in evaluations. */
  grader: z.literal('reference').optional(),
});

const refreshSchema = z.strictObject({
  /** Before the first step and after every so many, the policy of the moment tries the training problems, and RL goes on with some. */
  everySteps: count,
  /** Rollouts of each problem. */
  samples: z.int().min(2).default(8),
  /** How many of the training problems are tried, drawn anew each time; absent: all. */
  problems: count.optional(),
  /** Distribution of their difficulty: `uniform`, shares such as `easy=0.2,medium=0.5,hard=0.3`, or a profile's or histogram's file. */
  target: z.string().min(1).default('uniform'),
  /** How many RL goes on with; absent: as many as it takes until the next time. */
  size: count.optional(),
});

const asyncSchema = z.strictObject({
  /** Steps that may lie between the policy that samples a group and the step that trains on it. */
  staleness: z.int().nonnegative().max(16).default(1),
  /** A group that is still sampled at its last step: the step waits for it, it is dropped, or its problem is sampled anew. */
  stale: z.enum(['wait', 'drop', 'requeue']).default('wait'),
  /** Once this share of a step's rollouts are in, the rest is cut, or its groups are carried over to a later step; absent: all are awaited. */
  deadline: z.strictObject({ share: positive.max(1), rest: z.enum(['cut', 'carryOver']).default('cut') }).optional(),
});

const dynamicSamplingSchema = z.strictObject({
  /** Groups without a gradient are replaced by others, as long as a step samples no more than so many batches; then it trains on what there is. */
  maxBatches: z.int().min(2).default(4),
});

const rlSchema = z.strictObject({
  /** Batches of rollouts, each trained on in `updatesPerStep` updates. */
  steps: count,
  /** Problems of a step. */
  groupsPerStep: count.default(64),
  /** Rollouts of each problem. */
  groupSize: count.min(2).default(16),
  /** Optimizer updates of a step: mini-batches of whole groups. */
  updatesPerStep: count.default(4),
  /** Passes over a step's rollouts. */
  epochs: count.default(1),
  temperature: positive.default(1),
  /** Rollouts in flight at once; auto: as many as a step has. */
  concurrency: z.union([z.literal('auto'), count]).default('auto'),
  /** Groups without a right answer: trained like all others (the paper's formula), or left out. */
  allWrongGroups: z.enum(['train', 'leaveOut']).default('train'),
  /** Choose the training problems by the policy's own success, again and again; absent: all, as they come. */
  refresh: refreshSchema.optional(),
  /** Rollouts of the next steps are sampled while the engine trains; absent: each step samples, then trains. */
  async: asyncSchema.optional(),
  /** Replace groups in which all rewards are equal; absent: they stay, and carry no gradient. */
  dynamicSampling: dynamicSamplingSchema.optional(),
  ...optimizerFields,
  learningRate: positive.default(1e-6),
  schedule: scheduleSchema.default({ kind: 'constant', warmup: 0, floor: 0 }),
  betas: z.tuple([share, share]).default([0.9, 0.999]),
  algorithm: algorithmSchema.prefault({}),
  reward: rewardSchema.prefault({}),
});

export const samplingSchema = z.strictObject({ temperature: z.number().nonnegative(), topP: share.default(1) });

const evaluationSchema = z.strictObject({
  /** Rollouts a problem under the main sampling. */
  samples: count.default(32),
  temperature: z.number().nonnegative().default(1),
  topP: share.default(0.6),
  /** Of at most so many most likely tokens; absent: all. Training rollouts know no such limit: their log-probs are of the whole distribution. */
  topK: count.optional(),
  /** Further settings in the report's tables, each with one rollout a problem: T=1 at top-p 0.6, greedy. */
  extra: z.array(z.enum(['topP06', 'greedy'])).default([]),
  /** Evaluate every so many RL steps; 0: only between stages. */
  everySteps: z.int().nonnegative().default(10),
  /** Also the model as it comes, before any training. */
  base: z.boolean().default(true),
});

const checkpointsSchema = z.strictObject({
  /** Save every so many RL steps; resume starts from there. */
  everySteps: count.default(1),
  /** The same for the updates of SFT, which are shorter. */
  sftEverySteps: count.default(16),
  /** The newest ones that are kept; the best and the end of every stage are kept besides. */
  keep: count.default(2),
});

export const recipeSchema = z.strictObject({
  name: z.string().min(1),
  description: z.string().default(''),
  /** A recipe whose values this one starts from. */
  extends: z.string().optional(),
  /** The recipe of the paper that it is compared with at start. */
  follows: z.enum(['ra-sft', 'grpo-t', 'grpo-tcr', 'grpo-scr', 'demyagent-4b']).optional(),
  /** A known name, a local folder in Hugging Face form, or a hub id. */
  model: z.string().min(1),
  seed: z.int().nonnegative().default(1),
  /** Also train embeddings and head. */
  trainUnembed: z.boolean().default(true),
  /** 0 trains all weights. */
  loraRank: z.int().nonnegative().default(0),
  stages: z.array(z.enum(['sft', 'rl'])).min(1),
  engine: engineSchema.prefault({}),
  prompt: promptSchema.prefault({}),
  tools: z.array(z.string()).default(['code_interpreter']),
  /** MCP servers whose tools are offered beside `tools`. */
  mcp: z.array(mcpServerSchema).optional(),
  /** An agent of your own, in place of the built-in loop; absent: the built-in loop with `tools`. */
  agent: agentSchema.optional(),
  sandbox: sandboxSchema.prefault({}),
  limits: limitsSchema.prefault({}),
  problems: z.strictObject({ train: problemSourceSchema, evaluation: problemSourceSchema }),
  sft: sftSchema.optional(),
  rl: rlSchema.optional(),
  evaluation: evaluationSchema.prefault({}),
  checkpoints: checkpointsSchema.prefault({}),
});

export type Recipe = z.output<typeof recipeSchema>;
export type RecipeInput = z.input<typeof recipeSchema>;
export type ProblemSource = z.output<typeof problemSourceSchema>;
export type Schedule = z.output<typeof scheduleSchema>;
export type SftStage = NonNullable<Recipe['sft']>;
export type RlStage = NonNullable<Recipe['rl']>;
export type Refresh = NonNullable<RlStage['refresh']>;
export type Async = NonNullable<RlStage['async']>;
export type DynamicSampling = NonNullable<RlStage['dynamicSampling']>;
export type Algorithm = RlStage['algorithm'];
export type RewardRules = RlStage['reward'];
export type Limits = Recipe['limits'];
