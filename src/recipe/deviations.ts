/**
 * Where a recipe differs from the paper's, for printing at start. The paper's values are those of the packaged recipe that `follows` names;
 * a supervised stage is compared with `ra-sft` where that recipe has none. Does not judge: a demo must differ.
 */
import { packagedRecipe } from './load.js';
import { isPlain, type Plain, show } from './merge.js';
import type { Recipe } from './schema.js';

export interface Deviation {
  /** Dotted path of the recipe. */
  readonly path: string;
  /** As text; `absent` where nothing is set. */
  readonly paper: string;
  readonly here: string;
  readonly note?: string;
}

const OPTIMIZER = ['learningRate', 'schedule', 'betas', 'epsilon', 'weightDecay', 'gradClip'];

const COMPARED = {
  sft: ['demonstrations', 'epochs', 'batchSize', 'maxTokens', 'mask', ...OPTIMIZER],
  rl: [
    ...['steps', 'groupsPerStep', 'groupSize', 'updatesPerStep', 'epochs', 'temperature', 'allWrongGroups', 'refresh', 'async'],
    ...['dynamicSampling', ...OPTIMIZER],
    ...['advantage', 'ratio', 'aggregation', 'clipLow', 'clipHigh', 'dualClip', 'klCoefficient', 'klEstimator', 'entropyCoefficient'].map(
      (key) => `algorithm.${key}`,
    ),
    ...['truncatedImportanceSampling', 'oldLogProbs'].map((key) => `algorithm.${key}`),
    ...['toolBonus', 'overlong', 'reference', 'grader'].map((key) => `reward.${key}`),
  ],
  limits: ['turns', 'callsPerTurn', 'promptTokens', 'turnTokens', 'responseTokens', 'toolTokens'],
  evaluation: ['samples', 'temperature', 'topP', 'topK'],
  prompt: ['mode'],
} as const;

const NOTES: Readonly<Record<string, string>> = {
  'sft.mask': 'the released mask: the first token of each turn is not trained, the one after the turn is',
  'rl.algorithm.oldLogProbs': 'saves a forward pass; the gap between sampler and trainer is a metric',
  'rl.reward.reference': 'the released reward: bonus for wrong answers only, tool tokens count as length',
  'rl.reward.grader': 'the released grading of training rollouts: answers are compared as texts',
  'rl.allWrongGroups': 'the paper trains groups without a right answer like all others',
  'rl.refresh': 'the paper selects problems once, before RL',
  'rl.async': 'the paper trains on rollouts of the policy that the step starts from',
  loraRank: 'the paper trains all weights',
};

/** In the order of the recipe; empty where it follows no recipe of the paper, or differs in nothing. */
export function deviations(recipe: Recipe): Deviation[] {
  if (recipe.follows === undefined) return [];
  const paper = packagedRecipe(recipe.follows);
  const found: Deviation[] = [];
  const compare = (path: string, theirs: unknown, ours: unknown): void => {
    if (show(theirs) === show(ours)) return;
    found.push({ path, paper: show(theirs), here: show(ours), ...(NOTES[path] === undefined ? {} : { note: NOTES[path] }) });
  };
  compare('trainUnembed', paper.trainUnembed, recipe.trainUnembed);
  compare('loraRank', paper.loraRank, recipe.loraRank);
  for (const section of ['prompt', 'limits', 'sft', 'rl', 'evaluation'] as const) {
    if ((section === 'sft' || section === 'rl') && !recipe.stages.includes(section)) continue;
    const theirs =
      section === 'sft'
        ? (paper.sft ?? packagedRecipe('ra-sft').sft)
        : section === 'rl'
          ? (paper.rl ?? packagedRecipe('grpo-tcr').rl)
          : paper[section];
    for (const key of COMPARED[section]) {
      if (key === 'algorithm.klEstimator' && recipe.rl?.algorithm.klCoefficient === 0) continue;
      compare(`${section}.${key}`, at(theirs, key), at(recipe[section], key));
    }
  }
  return found;
}

/** Every path that is compared. */
export const comparedPaths = (): string[] => [
  'trainUnembed',
  'loraRank',
  ...Object.entries(COMPARED).flatMap(([section, keys]) => keys.map((key) => `${section}.${key}`)),
];

function at(section: unknown, dotted: string): unknown {
  let value = section;
  for (const key of dotted.split('.')) value = isPlain(value) ? (value as Plain)[key] : undefined;
  return value;
}
