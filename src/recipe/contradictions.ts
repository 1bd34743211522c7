/** Values that are right one by one and wrong together. Does not judge whether a recipe is good. */
import { mcpContradictions } from './mcpSchema.js';
import type { Async, Recipe, RlStage } from './schema.js';

/** One sentence a contradiction. */
export function contradictions(recipe: Recipe): string[] {
  const found: string[] = [];
  const { stages, limits, rl, sft } = recipe;
  if (stages.includes('sft') && !sft) found.push('stages has sft, but there is no sft section.');
  if (stages.includes('rl') && !rl) found.push('stages has rl, but there is no rl section.');
  if (new Set(stages).size < stages.length) found.push(`stages names a stage twice: ${stages.join(', ')}.`);
  if (stages.indexOf('rl') === 0 && stages.includes('sft')) found.push('stages must have sft before rl.');
  if (limits.turnTokens !== undefined && limits.turnTokens > limits.responseTokens) {
    found.push(`limits.turnTokens (${limits.turnTokens}) is above limits.responseTokens (${limits.responseTokens}).`);
  }
  if (limits.toolTokens >= limits.responseTokens) {
    found.push(
      `limits.toolTokens (${limits.toolTokens}) leaves nothing of limits.responseTokens (${limits.responseTokens}) for the model.`,
    );
  }
  const taught = sft && 'problems' in sft.demonstrations ? sft.demonstrations.problems : undefined;
  if (typeof taught === 'object' && 'answers' in taught && taught.answers !== undefined) {
    found.push('sft.demonstrations.problems.answers varied is for RL and evaluation: demonstrations are made from plain answers.');
  }
  if (recipe.evaluation.topP === 0) found.push('evaluation.topP must be above 0.');
  if (recipe.engine.deterministic && recipe.engine.device === 'cuda') {
    found.push('engine.deterministic needs engine.device cpu: on a GPU sums are not repeated bit for bit.');
  }
  if (recipe.agent && recipe.engine.deterministic) {
    found.push('engine.deterministic and agent exclude each other: an agent asks its model when it likes, not in lockstep.');
  }
  if (recipe.mcp) found.push(...mcpContradictions(recipe.mcp));
  if (recipe.agent && recipe.mcp?.length) found.push('mcp gives tools to the built-in loop: an agent brings its own.');
  if (!rl) return found;
  const { algorithm, reward } = rl;
  if (rl.updatesPerStep > rl.groupsPerStep) {
    found.push(
      `rl.updatesPerStep (${rl.updatesPerStep}) is above rl.groupsPerStep (${rl.groupsPerStep}): each update needs a whole group.`,
    );
  }
  if (reward.overlong && reward.overlong.cacheTokens > reward.overlong.maxTokens) {
    found.push(`rl.reward.overlong.cacheTokens (${reward.overlong.cacheTokens}) is above its maxTokens (${reward.overlong.maxTokens}).`);
  }
  if (algorithm.clipLow >= 1)
    found.push(`rl.algorithm.clipLow (${algorithm.clipLow}) must be below 1: the ratio's lower bound is 1 - clipLow.`);
  if (algorithm.oldLogProbs === 'sampler' && algorithm.ratio === 'sequence') {
    found.push('rl.algorithm.ratio sequence needs oldLogProbs trainer: its bounds are narrower than the gap between sampler and trainer.');
  }
  if (algorithm.oldLogProbs === 'sampler' && algorithm.truncatedImportanceSampling !== undefined) {
    found.push('rl.algorithm.truncatedImportanceSampling needs oldLogProbs trainer: it weighs the one against the other.');
  }
  if (rl.async) found.push(...asyncContradictions(recipe, rl, rl.async));
  return found;
}

/** Snapshots of a policy that the embedded engine keeps: the one being sampled from, and those that groups are still sampled from. */
const EMBEDDED_SNAPSHOTS = 4;

function asyncContradictions({ engine }: Recipe, { algorithm }: RlStage, { staleness, deadline }: Async): string[] {
  const found: string[] = [];
  if (staleness > 0 && algorithm.truncatedImportanceSampling === undefined) {
    found.push(
      `rl.async.staleness (${staleness}) needs rl.algorithm.truncatedImportanceSampling, for example 2: rollouts of an older policy are weighed by it.`,
    );
  }
  if (engine.deterministic) {
    found.push('engine.deterministic and rl.async exclude each other: which rollouts a step gets depends on how long they take.');
  }
  if (engine.url === undefined && staleness >= EMBEDDED_SNAPSHOTS) {
    found.push(
      `rl.async.staleness (${staleness}) is above ${EMBEDDED_SNAPSHOTS - 1}: the embedded engine keeps the newest ${EMBEDDED_SNAPSHOTS} snapshots of a policy.`,
    );
  }
  if (staleness === 0 && deadline?.rest === 'carryOver') {
    found.push('rl.async.deadline.rest carryOver needs a staleness of at least 1: with 0 no later step may train on them.');
  }
  return found;
}
