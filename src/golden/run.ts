/** Runs golden vectors: finds the function, calls it, compares by the rule of `compare.ts`. Prints nothing. */
import * as algorithms from './algorithms.js';
import { agrees, asked, toleranceOf } from './compare.js';
import * as metrics from './metrics.js';
import { rewardManager } from './rewardManager.js';
import * as rewards from './rewards.js';
import * as toolCalls from './toolCalls.js';
import { type Inputs, type Vector, VectorError } from './vector.js';

export interface VectorResult {
  readonly name: string;
  readonly fn: string;
  /** Null where nothing is asked of us. */
  readonly pass: boolean | null;
  /** What is asked; where nothing is, what the reference gave. */
  readonly expected: unknown;
  readonly actual: unknown;
  /** What the reference grader gives, where `actual` is ours and both are asked for. */
  readonly reference?: unknown;
}

const FUNCTIONS: Readonly<Record<string, (inputs: Inputs, vector: Vector) => unknown>> = {
  grpo_advantage: algorithms.grpoAdvantage,
  grpo_advantage_float32: algorithms.grpoAdvantage,
  rloo_advantage: algorithms.rlooAdvantage,
  policy_loss_vanilla: algorithms.policyLossVanilla,
  policy_loss_gspo: algorithms.policyLossGspo,
  mini_batch_loss: algorithms.policyLossVanilla,
  kl_penalty: algorithms.klPenalty,
  kl_loss: algorithms.klLossOf,
  kl_shaped_rewards: algorithms.klShaped,
  overlong_reward: algorithms.overlongReward,
  reward_manager_dapo: (inputs) => rewardManager(inputs, true),
  reward_manager_naive: (inputs) => rewardManager(inputs, false),
  hermes_parse: toolCalls.hermesParse,
  call_tool: toolCalls.callTool,
  tool_agent_loop: toolCalls.toolAgentLoop,
  last_boxed: rewards.lastBoxedVector,
  normalize_final_answer: rewards.normalise,
  answer_line_score: rewards.answerLine,
  process_validation_metrics: metrics.validationMetrics,
  bootstrap: metrics.bootstrap,
  majority_value: metrics.majority,
  pass_at_k: metrics.passAt,
};

/** Those that the reference grader has to answer beside ours. */
const TWO_ANSWERS: ReadonlySet<string> = new Set(['compute_score', 'compute_score_code']);

/** Never throws for what a function does: that is its actual value. */
export async function runVector(vector: Vector): Promise<VectorResult> {
  const { name, fn } = vector;
  if (TWO_ANSWERS.has(fn)) return twoAnswers(vector);
  const run = Object.hasOwn(FUNCTIONS, fn) ? FUNCTIONS[fn] : undefined;
  if (run === undefined) {
    return { name, fn, pass: null, expected: vector.expected, actual: { reason: `this runner knows no function ${JSON.stringify(fn)}` } };
  }
  const wanted = asked(vector);
  let actual: unknown;
  try {
    actual = await run(vector.inputs, vector);
  } catch (error) {
    if (error instanceof VectorError) return { name, fn, pass: null, expected: vector.expected, actual: { reason: error.message } };
    actual = error instanceof Error ? { throws: error.name, message: error.message } : { throws: 'unknown', message: String(error) };
  }
  const pass = wanted === undefined ? null : agrees(actual, wanted.value, toleranceOf(fn));
  return { name, fn, pass, expected: wanted === undefined ? vector.expected : wanted.value, actual };
}

async function twoAnswers(vector: Vector): Promise<VectorResult> {
  const { name, fn } = vector;
  try {
    return { name, fn, ...(await rewards.computeScoreVector(vector)) };
  } catch (error) {
    if (!(error instanceof VectorError)) throw error;
    return { name, fn, pass: null, expected: vector.expected, actual: { reason: error.message } };
  }
}

/** One line of JSON; numbers that JSON cannot hold by name. */
export function resultLine(result: VectorResult): string {
  const { name, fn, pass, expected, actual, reference } = result;
  return JSON.stringify({ name, fn, pass, expected: expected ?? null, actual: actual ?? null, reference }, (_, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  );
}
