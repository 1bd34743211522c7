/**
 * A resolved recipe in lines of text, for `--dry-run` and the head of a log: stages, tokens, memory, what a rollout is paid, what a loss is.
 * Estimates are upper bounds and say so. Starts nothing and prints nothing.
 */
import { overlongPenalty } from '../algorithm/overlong.js';
import { toolBonus } from '../algorithm/toolBonus.js';
import { type ModelFacts, memoryNeed } from './memory.js';
import { show } from './merge.js';
import type { Algorithm, Async, Limits, ProblemSource, Recipe, Refresh, RewardRules, RlStage, SftStage } from './schema.js';

/** @param facts of the model, where they are known; without them no memory is estimated */
export function describeRecipe(recipe: Recipe, facts?: ModelFacts): string[] {
  const { sft, rl } = recipe;
  return [
    `Recipe ${recipe.name}${recipe.description ? `: ${recipe.description}` : ''}`,
    `Model: ${recipe.model}, ${trained(recipe)}`,
    `Problems: train ${source(recipe.problems.train)}; evaluation ${source(recipe.problems.evaluation)}`,
    ...(recipe.agent ? [describeAgent(recipe.agent)] : []),
    ...recipe.stages.flatMap((stage) =>
      stage === 'sft' && sft ? describeSft(sft) : stage === 'rl' && rl ? describeRl(rl, recipe.limits) : [],
    ),
    ...(rl && recipe.stages.includes('rl') ? [...describeLoss(rl.algorithm), ...rewardTable(rl.reward)] : []),
    ...describeEvaluation(recipe),
    ...(facts ? memoryNeed(recipe, facts) : ['Memory: not estimated, the size of the model is not known yet']),
  ];
}

function trained(recipe: Recipe): string {
  if (recipe.loraRank > 0) return `LoRA of rank ${recipe.loraRank}`;
  return recipe.trainUnembed ? 'all weights trained' : 'all weights trained but embeddings and head';
}

const describeAgent = (agent: NonNullable<Recipe['agent']>): string =>
  'command' in agent
    ? `Agent: ${agent.command.join(' ')}, started for each rollout with your rights, without the sandbox; in place of the built-in loop`
    : `Agent: ${agent.url}, asked for each rollout; in place of the built-in loop`;

function source(problems: ProblemSource): string {
  if (typeof problems === 'string') return problems;
  const name = 'file' in problems ? problems.file : problems.kind;
  return problems.count === undefined ? name : `${name} (${grouped(problems.count)})`;
}

function describeSft(sft: SftStage): string[] {
  const { demonstrations } = sft;
  const generated = 'count' in demonstrations ? demonstrations.count : undefined;
  const kinds = {
    scripted: 'of the scripted teacher',
    stitched: 'stitched solutions',
    written: 'written solutions',
    traces: 'traces of mixed quality',
  };
  const from = 'file' in demonstrations ? demonstrations.file : `${demonstrations.count} ${kinds[demonstrations.teacher]}`;
  const updates =
    generated === undefined ? 'as many updates as the file gives' : `${sft.epochs * Math.ceil(generated / sft.batchSize)} updates`;
  return [
    `Stage sft: demonstrations ${from}; ${sft.epochs} epochs in batches of ${sft.batchSize}, ${updates}`,
    `  ${optimizer(sft)}; at most ${grouped(sft.batchSize * sft.maxTokens)} tokens an update (${grouped(sft.maxTokens)} a demonstration)`,
  ];
}

function describeRl(rl: RlStage, limits: Limits): string[] {
  const rollouts = rl.groupsPerStep * rl.groupSize;
  const updates = rl.updatesPerStep * rl.epochs;
  const turn = limits.turnTokens === undefined ? '' : `${grouped(limits.turnTokens)} tokens a turn, `;
  return [
    `Stage rl: ${grouped(rl.steps)} steps of ${rl.groupsPerStep} problems x ${rl.groupSize} rollouts, ${updates} updates a step (${grouped(rl.steps * updates)} in all)`,
    `  ${optimizer(rl)}; rollouts sampled at temperature ${rl.temperature}, top-p 1`,
    `  limits of a rollout: ${limits.turns} turns, ${limits.callsPerTurn} call${limits.callsPerTurn === 1 ? '' : 's'} a turn, ${turn}${grouped(limits.responseTokens)} response tokens (a tool's at most ${grouped(limits.toolTokens)}), ${show(limits.deadlineSeconds)} s`,
    ...(rl.refresh ? [describeRefresh(rl.refresh)] : []),
    ...(rl.async ? [describeAsync(rl.async)] : []),
    ...(rl.dynamicSampling
      ? [`  groups without a gradient are replaced, until a step has sampled ${rl.dynamicSampling.maxBatches} batches`]
      : []),
    `  tokens a step: at most ${grouped(rollouts * limits.responseTokens)} of responses after ${grouped(rollouts * limits.promptTokens)} of prompts`,
  ];
}

function describeRefresh({ everySteps, samples, problems, target, size }: Refresh): string {
  const tried = problems === undefined ? 'all training problems' : `${grouped(problems)} training problems`;
  const kept = size === undefined ? 'as many as are trained on until then' : grouped(size);
  return `  problems: every ${everySteps} steps the policy tries ${tried} ${samples} times each; it goes on with ${kept}, difficulty ${target}`;
}

function describeAsync({ staleness, stale, deadline }: Async): string {
  const late = { wait: 'awaited', drop: 'dropped', requeue: 'sampled anew' }[stale];
  const rest = deadline?.rest === 'cut' ? 'cut' : 'carried over';
  const end = deadline ? `; once ${percent(deadline.share)} of a step's rollouts are in, the rest is ${rest}` : '';
  return `  asynchronous: rollouts are at most ${staleness} step${staleness === 1 ? '' : 's'} old when they are trained on, later ones are ${late}${end}`;
}

const optimizer = (stage: SftStage | RlStage): string =>
  `AdamW, peak rate ${show(stage.learningRate)} (${stage.schedule.kind}${stage.schedule.warmup > 0 ? `, warm-up ${percent(stage.schedule.warmup)}` : ''}${
    stage.schedule.kind === 'constant' ? '' : `, down to ${percent(stage.schedule.floor)}`
  }), betas ${stage.betas.join(' and ')}, weight decay ${stage.weightDecay}, gradient clip ${stage.gradClip === 0 ? 'off' : stage.gradClip}`;

function describeLoss(algorithm: Algorithm): string[] {
  const { ratio, aggregation, clipLow, clipHigh, dualClip, klCoefficient, klEstimator, entropyCoefficient, truncatedImportanceSampling } =
    algorithm;
  const advantage = {
    grpo: '(r - mean) / std of the group',
    grpoWithoutStd: 'r - mean of the group',
    leaveOneOut: 'r - mean of the others',
  };
  return [
    `Advantage: ${advantage[algorithm.advantage]}`,
    `Loss: probability ratio of each ${ratio} in [${tidy(1 - clipLow)}, ${tidy(1 + clipHigh)}]${dualClip === undefined ? '' : `, negative advantages at most ${dualClip} times`}, mean over ${
      aggregation === 'token' ? 'all tokens of a mini-batch' : 'the tokens of a sequence, then over sequences'
    }`,
    `  old log-probs: ${algorithm.oldLogProbs === 'sampler' ? 'as the sampler returned them' : 'recomputed by the trainer'}`,
    `  KL term: ${klCoefficient === 0 ? 'none' : `${klCoefficient} x ${klEstimator} against the start of the stage`}; entropy bonus: ${
      entropyCoefficient === 0 ? 'none' : entropyCoefficient
    }; truncated importance sampling: ${truncatedImportanceSampling === undefined ? 'off' : `weights up to ${truncatedImportanceSampling}`}`,
  ];
}

/** What rollouts are paid, by answer and executed calls, as text. */
export function rewardTable(rules: RewardRules): string[] {
  const calls = [0, 1, 2, 3, 4];
  const bonus = { perCall: rules.toolBonus.perCall, cap: rules.toolBonus.max, wrongOnly: rules.reference };
  const row = (name: string, outcome: number): string =>
    `  ${name.padEnd(8)}${calls.map((n) => signed(outcome + toolBonus(n, outcome > 0, bonus)).padStart(9)).join('')}`;
  return [
    `Reward    ${calls.map((n) => `${n} call${n === 1 ? '' : 's'}`.padStart(9)).join('')}`,
    row('right', 1),
    row('wrong', -1),
    ...overlongLines(rules),
  ];
}

function overlongLines({ overlong, reference }: RewardRules): string[] {
  if (!overlong) return ['  no penalty for length'];
  const { maxTokens, cacheTokens } = overlong;
  const start = maxTokens - cacheTokens;
  const middle = start + Math.floor(cacheTokens / 2);
  const limits = { maxTokens, bufferTokens: cacheTokens };
  const at = (tokens: number) => `${signed(overlongPenalty(tokens, limits))} at ${grouped(tokens)}`;
  return [
    `  length (${reference ? "model's and tools' tokens" : "model's tokens"}): ${[start, middle, maxTokens].map(at).join(', ')}; ${signed(overlongPenalty(0, limits, true))} where a token limit cut it`,
  ];
}

function describeEvaluation({ evaluation, stages }: Recipe): string[] {
  const when = [
    ...(evaluation.base ? ['before training'] : []),
    ...(evaluation.everySteps > 0 && stages.includes('rl') ? [`every ${evaluation.everySteps} RL steps`] : []),
    'after each stage',
  ];
  const extra = evaluation.extra.map((name) => (name === 'greedy' ? 'greedy' : 'T=1 top-p 0.6'));
  return [
    `Evaluation: ${evaluation.samples} a problem at T=${evaluation.temperature} top-p ${evaluation.topP}${evaluation.topK === undefined ? '' : `, top-k ${evaluation.topK}`}${extra.length > 0 ? `, also one each: ${extra.join(', ')}` : ''}; ${when.join(', ')}`,
  ];
}

const tidy = (value: number): string => String(Number(value.toPrecision(8)));
const signed = (value: number): string => {
  const text = String(Number(value.toFixed(3)));
  return value > 0 ? `+${text}` : text === '-0' ? '0' : text;
};
const percent = (share: number): string => `${tidy(100 * share)} %`;
const grouped = (value: number): string => value.toLocaleString('en-US');
