import { describe, expect, it } from 'vitest';
import { resolveRecipe } from '../recipe/load.js';
import { merge, type Plain } from '../recipe/merge.js';
import type { RecipeInput } from '../recipe/schema.js';
import { UserError } from '../userError.js';
import { endpointSchema } from './endpoint.js';
import { mistakesForArm, mistakesInValues } from './endpointMistakes.js';
import { planOf } from './plan.js';
import { PLAN } from './testSupport.js';

const BASE = { extends: 'nano', name: 'arm', rl: { steps: 4 }, evaluation: { base: false, extra: [], samples: 8 } };
const SFT = {
  stages: ['sft'],
  sft: { demonstrations: { teacher: 'traces', mix: 'hard', count: 100 }, batchSize: 32, epochs: 2, learningRate: 1e-3 },
};

/** What is wrong with an endpoint for a recipe over `BASE`. */
function wrong(endpoint: object, over: object = {}): string[] {
  const parsed = endpointSchema.parse(endpoint);
  const recipe = resolveRecipe(merge(BASE, over as Plain) as unknown as RecipeInput);
  return [...mistakesInValues(parsed, ''), ...mistakesForArm(parsed, recipe, '')];
}

describe('the stage of an endpoint', () => {
  it('is one that the arm runs', () => {
    expect(wrong({ final: 'accuracy', stage: 'rl' })).toEqual([]);
    expect(wrong({ final: 'accuracy', stage: 'sft' })).toEqual(['stage is sft, which is not among its stages (rl): write stage: rl']);
    expect(wrong({ final: 'accuracy' }, SFT)).toEqual(['stage is rl, which is not among its stages (sft): write stage: sft']);
    expect(wrong({ final: 'accuracy', stage: 'sft' }, SFT)).toEqual([]);
  });

  it('is base only where that is measured, and for evaluations alone', () => {
    expect(wrong({ final: 'accuracy', stage: 'base' })).toEqual([expect.stringMatching(/evaluation.base is false.*Set it to true/)]);
    expect(wrong({ final: 'accuracy', stage: 'base' }, { evaluation: { base: true } })).toEqual([]);
    expect(wrong({ mean: 'rollout/accuracy', stage: 'base' }, { evaluation: { base: true } })).toEqual([
      expect.stringContaining('base, which has no steps'),
    ]);
  });
});

describe('the evaluation of an endpoint', () => {
  it('is main or one that the recipe makes besides', () => {
    expect(wrong({ final: 'accuracy', evaluation: 'main' })).toEqual([]);
    expect(wrong({ final: 'accuracy', evaluation: 'greedy' })).toEqual([
      'evaluation is greedy, which its recipe does not make (main). Add it to evaluation.extra, or take main',
    ]);
    const over = { evaluation: { extra: ['greedy'] } };
    expect(wrong({ final: 'accuracy', evaluation: 'greedy' }, over)).toEqual([]);
    expect(wrong({ final: 'accuracy', evaluation: 'gredy' }, over)).toEqual([expect.stringContaining('Did you mean greedy?')]);
  });
});

describe('the metric of an endpoint', () => {
  it('is one that there is, else the nearest is told, or what there is', () => {
    expect(wrong({ final: 'callsPerRolout' })).toEqual([
      'final is callsPerRolout, which no evaluation gives. Did you mean callsPerRollout?',
    ]);
    expect(wrong({ final: 'rollout/accuracy' })).toEqual([expect.stringContaining('Did you mean accuracy?')]);
    expect(wrong({ mean: 'accuracy' })).toEqual(['mean is accuracy, which no step of rl gives. Did you mean rollout/accuracy?']);
    expect(wrong({ stepsTo: 'rollout/acuracy', reach: 0.5 })).toEqual([expect.stringContaining('Did you mean rollout/accuracy?')]);
    expect(wrong({ mean: 'groups/size' })).toEqual([
      'mean is groups/size, which no step of rl gives. Known: groups/zeroVariance, groups/allWrong, groups/advantageMax',
    ]);
    expect(wrong({ mean: 'rollout/accuracy', stage: 'sft' }, SFT)).toEqual([expect.stringContaining('which no step of sft gives')]);
  });

  it('is counted at the number of samples that the evaluation has', () => {
    for (const final of ['pass@8', 'maj@4', 'reference best@2']) expect(wrong({ final })).toEqual([]);
    expect(wrong({ final: 'pass@16' })).toEqual([
      'final is pass@16, and main has 8 samples a problem: raise evaluation.samples to 16, or take a smaller k',
    ]);
    expect(wrong({ final: 'maj@3' })).toEqual(['final is maj@3, which is not counted: take maj@1, maj@2, maj@4, maj@8']);
    expect(wrong({ final: 'pass@2', evaluation: 'greedy' }, { evaluation: { extra: ['greedy'] } })).toEqual([
      expect.stringContaining('greedy has 1 sample a problem'),
    ]);
    expect(wrong({ final: 'avg@8' })).toEqual([expect.stringContaining('accuracy')]);
  });

  it('is of a level that the held-out problems have; of a file nothing is known', () => {
    expect(wrong({ final: 'accuracy/level=3' })).toEqual([]);
    expect(wrong({ final: 'accuracy/level=4' })).toEqual([expect.stringContaining('has the levels 1, 2, 3')]);
    const levels = (...found: number[]) => ({ problems: { evaluation: { kind: 'calc-small', levels: found, count: 8 } } });
    expect(wrong({ final: 'accuracy/level=3' }, levels(1, 2))).toEqual([expect.stringContaining('has the levels 1, 2')]);
    expect(wrong({ final: 'accuracy/level=1' }, levels(1))).toEqual([expect.stringContaining('take accuracy')]);
    expect(wrong({ final: 'accuracy/level=hard' }, { problems: { evaluation: { kind: 'jsonl', file: 'mine.jsonl' } } })).toEqual([]);
  });

  it('is given only where the recipe asks for it', () => {
    expect(wrong({ final: 'entropy' })).toEqual([]);
    expect(wrong({ final: 'entropy' }, { evaluation: { topP: 0.6 } })).toEqual([expect.stringContaining('needs temperature 1, topP 1')]);
    expect(wrong({ mean: 'train/samplerGap' })).toEqual(['mean is train/samplerGap, which needs rl.algorithm.oldLogProbs trainer']);
    expect(wrong({ mean: 'train/samplerGap' }, { rl: { algorithm: { oldLogProbs: 'trainer' } } })).toEqual([]);
    expect(wrong({ mean: 'refresh/selected' })).toEqual(['mean is refresh/selected, which needs rl.refresh']);
    expect(wrong({ mean: 'refresh/selected' }, { rl: { refresh: { everySteps: 2 } } })).toEqual([]);
  });

  it('may be a part of a reward that an agent of your own gives', () => {
    expect(wrong({ mean: 'reward/politeness' })).toEqual([expect.stringContaining('which no step of rl gives')]);
    expect(wrong({ mean: 'reward/politeness' }, { agent: { command: ['node', 'mine.js'] } })).toEqual([]);
  });
});

describe('the steps and levels of an endpoint', () => {
  it('lie inside the stage, and the first before the last', () => {
    expect(wrong({ mean: 'rollout/accuracy', from: 4, to: 4 })).toEqual([]);
    expect(wrong({ mean: 'rollout/accuracy', from: 3, to: 2 })).toEqual(['from (3) is above to (2): no step lies between']);
    expect(wrong({ mean: 'rollout/accuracy', from: 5 })).toEqual(['from is 5, and rl has 4 steps (rl.steps)']);
    expect(wrong({ mean: 'rollout/accuracy', to: 9 })).toEqual(['to is 9, and rl has 4 steps (rl.steps)']);
    expect(wrong({ stepsTo: 'rollout/accuracy', reach: 0.5, window: 5 })).toEqual(['window is 5, and rl has 4 steps (rl.steps)']);
  });

  it('of SFT are known where the number of conversations is', () => {
    // 100 conversations by 32 are 4 updates, twice
    expect(wrong({ mean: 'train/loss', stage: 'sft', to: 8 }, SFT)).toEqual([]);
    expect(wrong({ mean: 'train/loss', stage: 'sft', to: 9 }, SFT)).toEqual([
      'to is 9, and sft has at most 8 updates (100 conversations by 32, epochs 2)',
    ]);
    const fromFile = { stages: ['sft'], sft: { demonstrations: { file: 'mine.jsonl' } } };
    expect(wrong({ mean: 'train/loss', stage: 'sft', to: 900 }, fromFile)).toEqual([]);
  });

  it('are a share from 0 to 1 where the metric is one', () => {
    expect(wrong({ stepsTo: 'rollout/accuracy', reach: 65 })).toEqual([
      'reach is 65, and rollout/accuracy is a share, from 0 to 1: for 65 % write 0.65',
    ]);
    expect(wrong({ stepsTo: 'rollout/accuracy', reach: -0.1 })).toEqual(['reach is -0.1, and rollout/accuracy is a share, from 0 to 1']);
    expect(wrong({ stepsTo: 'reward/total', reach: -1 })).toEqual([]);
    expect(wrong({ stepsTo: 'rollout/tokensPerTurn', reach: 40 })).toEqual([]);
  });
});

describe('a plan', () => {
  const claim = PLAN.claims[0]!;
  const mistakes = (change: object, arms: object = PLAN.arms): string[] => {
    try {
      planOf({ ...PLAN, arms, claims: [{ ...claim, ...change }] }, 'plan.yaml');
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      return (error as Error).message.split('\n').slice(1);
    }
    return [];
  };

  it('tells what is wrong with its endpoints and checks at once, with claim, part and arms', () => {
    const part = claim.parts[0]!;
    const found = mistakes(
      {
        parts: [
          part,
          { ...part, endpoint: { mean: 'rollout/entropy', to: 3 } },
          { ...part, endpoint: { stepsTo: 'rollout/accuracy', reach: 5 } },
        ],
        differs: ['rl.algorithm.clipHigh', 'rl.steps'],
        checks: [
          { arm: 'narrow', mean: 'train/clipHi', atLeast: 0.1 },
          { arm: 'narrow', mean: 'train/clipHigh', from: 2, to: 1, atLeast: 10 },
          { arm: 'narrow', mean: 'train/loss', stage: 'sft', atLeast: 1 },
          { arms: ['narrow', 'wide'], endpoint: { final: 'pass@8' }, differBy: 1 },
        ],
      },
      { ...PLAN.arms, narrow: { rl: { steps: 2, algorithm: { clipHigh: 0.2 } } } },
    );
    expect(found).toEqual([
      '  - claim accuracy, part 2, of narrow: endpoint.to is 3, and rl has 2 steps (rl.steps)',
      '  - claim accuracy, part 3: endpoint.reach is 5, and rollout/accuracy is a share, from 0 to 1: for 5 % write 0.05',
      '  - claim accuracy, part 3, of narrow: endpoint.window is 3, and rl has 2 steps (rl.steps)',
      '  - claim accuracy, check 1, of narrow: mean is train/clipHi, which no step of rl gives. Did you mean train/clipHigh?',
      '  - claim accuracy, check 2: atLeast is 10, and train/clipHigh is a share, from 0 to 1: for 10 % write 0.1',
      '  - claim accuracy, check 2: from (2) is above to (1): no step lies between',
      '  - claim accuracy, check 3, of narrow: stage is sft, which is not among its stages (rl): write stage: rl',
      expect.stringMatching(
        /^ {2}- claim accuracy, check 4, of narrow and wide: endpoint.final is pass@8, and main has 1 sample a problem/,
      ),
    ]);
  });
});
