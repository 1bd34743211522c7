/**
 * Which numbers an arm gives, by its recipe: the curves of a stage's steps, the metrics of an evaluation. Does not read results: a number that
 * only some runs have (the share of calls that succeed, where there was one) counts as given.
 */
import type { SamplingSetting } from '../evaluation/evaluate.js';
import { powersUpTo } from '../evaluation/metrics.js';
import { nearest } from '../recipe/nearest.js';
import type { Recipe, RlStage } from '../recipe/schema.js';

/** What is known of an arm's numbers. */
export interface Names {
  /** All there are; with what a recipe would have to say where this one does not give it. */
  readonly names: ReadonlyMap<string, string | undefined>;
  /** What stands where a name of this form is not given; undefined where it is; other names are none. */
  readonly formed?: (name: string) => { readonly problem: string | undefined } | undefined;
}

/** Of every SFT update. */
const SFT_CURVES = [
  'train/loss',
  'train/gradNorm',
  'train/learningRate',
  'train/tokens',
  'train/epoch',
  'seconds/training',
  'seconds/checkpoint',
];

/** Of every RL step. */
const RL_CURVES = [
  ...['reward/total', 'reward/outcome', 'reward/tool', 'reward/overlong'],
  ...['accuracy', 'calls', 'toolSuccess', 'withoutCall', 'malformed', 'truncated', 'answered', 'overlongShare'].map(
    (name) => `rollout/${name}`,
  ),
  ...['turns', 'tokensPerTurn', 'modelTokens', 'responseTokens', 'entropy', 'lost', 'temperature'].map((name) => `rollout/${name}`),
  ...['groups/zeroVariance', 'groups/allWrong', 'groups/advantageMax'],
  ...['updates', 'tokens', 'loss', 'kl', 'gradNorm', 'learningRate', 'deterministic', 'policyMoved'].map((name) => `train/${name}`),
  ...['train/clipHigh', 'train/clipLow', 'train/clipDual'],
  ...['publish', 'generation', 'training', 'tools', 'step', 'checkpoint'].map((name) => `seconds/${name}`),
];

/** Of RL steps whose recipe asks for it: a list of names, whether it does, and what it would have to say. */
const RL_CURVES_ASKED_FOR: readonly {
  readonly names: readonly string[];
  readonly needs: string;
  readonly given: (rl: RlStage) => boolean;
}[] = [
  {
    names: ['train/samplerGap'],
    needs: 'rl.algorithm.oldLogProbs trainer',
    given: ({ algorithm: { oldLogProbs, ratio, truncatedImportanceSampling } }) =>
      oldLogProbs === 'trainer' || ratio === 'sequence' || truncatedImportanceSampling !== undefined,
  },
  {
    names: ['train/importanceCapped'],
    needs: 'rl.algorithm.truncatedImportanceSampling',
    given: ({ algorithm }) => algorithm.truncatedImportanceSampling !== undefined,
  },
  {
    names: [
      ...['problems', 'selected', 'solved', 'unsolved', 'lost', 'easy', 'medium', 'hard'].map((name) => `refresh/${name}`),
      'seconds/refresh',
    ],
    needs: 'rl.refresh',
    given: ({ refresh }) => refresh !== undefined,
  },
  {
    names: ['lag', 'lagMax', 'dropped', 'requeued', 'carriedOver', 'cut', 'inFlight', 'begun'].map((name) => `async/${name}`),
    needs: 'rl.async',
    given: (rl) => rl.async !== undefined,
  },
];

/** Of every evaluation. */
const EVALUATION = [
  ...['accuracy', 'accuracyOverAll', 'intervalLow', 'intervalHigh', 'majority', 'deliberative', 'reactive'],
  ...['callsPerRollout', 'toolSuccess', 'malformed', 'truncated', 'withoutCall'],
  ...['turnsPerRollout', 'tokensPerTurn', 'modelTokens', 'responseTokens'],
  ...['problems', 'samples', 'lost', 'temperature', 'topP', 'seconds'],
];

/** @param stage one that the recipe runs */
export function curveNames(recipe: Recipe, stage: 'sft' | 'rl'): Names {
  const { rl, agent } = recipe;
  if (stage === 'sft' || rl === undefined) return { names: new Map(SFT_CURVES.map((name) => [name, undefined])) };
  const asked = RL_CURVES_ASKED_FOR.flatMap(({ names, needs, given }) =>
    names.map((name) => [name, given(rl) ? undefined : needs] as const),
  );
  return {
    names: new Map<string, string | undefined>([...RL_CURVES.map((name) => [name, undefined] as const), ...asked]),
    // an agent may give rewards of its own, each part under its name
    ...(agent && { formed: (name) => (/^reward\/./.test(name) ? { problem: undefined } : undefined) }),
  };
}

/** @param setting how the evaluation samples */
export function evaluationNames(recipe: Recipe, setting: SamplingSetting): Names {
  const { samples, temperature, topP, topK } = setting;
  const unbiased = temperature === 1 && topP === 1 && topK === undefined;
  return {
    names: new Map<string, string | undefined>([
      ...EVALUATION.map((name) => [name, undefined] as const),
      ['entropy', unbiased ? undefined : 'temperature 1, topP 1 and no topK: sampled otherwise it would be of something else'],
      ['topK', topK === undefined ? 'evaluation.topK' : undefined],
    ]),
    formed: (name) => {
      const [, of, k] = /^(pass|maj|avg|reference best|reference maj)@(\d+)$/.exec(name) ?? [];
      if (of !== undefined) return { problem: atK(of, Number(k), setting.name, samples) };
      const level = /^accuracy\/level=(.+)$/.exec(name)?.[1];
      return level === undefined ? undefined : { problem: atLevel(level, recipe) };
    },
  };
}

function atK(of: string, k: number, evaluation: string, samples: number): string | undefined {
  if (of === 'avg') return 'which is called accuracy here: write that';
  const all = powersUpTo(samples).filter((one) => one > 1 || !of.startsWith('reference'));
  if (all.includes(k)) return undefined;
  if (k <= samples) return `which is not counted: take ${all.map((one) => `${of}@${one}`).join(', ') || 'accuracy'}`;
  const raise = evaluation === 'main' ? `: raise evaluation.samples to ${k}, or take a smaller k` : '; main has evaluation.samples';
  return `and ${evaluation} has ${samples} ${samples === 1 ? 'sample' : 'samples'} a problem${raise}`;
}

/** Of problems from a file nothing is known before they are read. */
function atLevel(level: string, { problems: { evaluation } }: Recipe): string | undefined {
  const source = typeof evaluation === 'string' ? { kind: evaluation } : evaluation;
  if (!/^calc(-small|-tiny)?$/.test(source.kind) || 'file' in source) return undefined;
  const levels = [...new Set(('levels' in source ? source.levels : undefined) ?? [1, 2, 3])];
  if (levels.length < 2)
    return `which is counted where there are several levels; problems.evaluation has ${levels[0]} alone: take accuracy`;
  return levels.some((one) => String(one) === level) ? undefined : `and problems.evaluation has the levels ${levels.join(', ')}`;
}

/** What is to be said after a name that is not given; undefined where it is. @param where for example `no step of rl gives` */
export function whyNot({ names, formed }: Names, name: string, where: string): string | undefined {
  const form = formed?.(name);
  if (form !== undefined) return form.problem;
  if (names.has(name)) {
    const needs = names.get(name);
    return needs === undefined ? undefined : `which needs ${needs}`;
  }
  const known = [...names.keys()];
  const near = nearest(name, known) ?? known.find((one) => one.endsWith(`/${name}`) || name.endsWith(`/${one}`));
  const group = known.filter((one) => one.startsWith(name.slice(0, name.indexOf('/') + 1)));
  return `which ${where}. ${near === undefined ? `Known: ${(group.length > 0 ? group : known).join(', ')}` : `Did you mean ${near}?`}`;
}
