import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHATML, type ModelFolder, modelFolder } from '../../test/support/modelFolder.js';
import { ChatFormat } from '../chat/chatFormat.js';
import type { Datum } from '../domain/datum.js';
import type { Demonstration } from '../domain/demonstration.js';
import type { Trainer } from '../engine/trainer.js';
import type { SftStage } from '../recipe/schema.js';
import { sftStep } from './sft.js';

const stage = {
  ...{ epochs: 1, batchSize: 4, learningRate: 1e-3, betas: [0.9, 0.95], epsilon: 1e-8, weightDecay: 0, gradClip: 1 },
  schedule: { kind: 'constant', warmup: 0, floor: 0 },
} as unknown as SftStage;

describe('one update of SFT trains', () => {
  let model: ModelFolder;
  let format: ChatFormat;
  let demonstration: Demonstration;
  beforeAll(async () => {
    model = await modelFolder(CHATML);
    format = await ChatFormat.load(model.path);
    const messages = [
      { role: 'user', content: 'What is 6 * 7?' },
      { role: 'assistant', content: 'I run it.', toolCalls: [{ name: 'code_interpreter', arguments: { code: '6*7' } }] },
      { role: 'tool', name: 'code_interpreter', content: '42' },
      { role: 'assistant', content: 'It is \\boxed{42}.' },
    ] as const;
    demonstration = { id: 'd', ...format.demonstration([...messages], []) };
  });
  afterAll(() => model.remove());

  /** What one update of the stage was given, and its metrics. */
  async function step(over: Partial<SftStage>, all: readonly Demonstration[] = [demonstration]) {
    const given: Datum[] = [];
    const trainer = {
      forwardBackward: async (data: readonly Datum[]) => {
        given.push(...data);
        return { logProbs: data.map(({ targets }) => new Float64Array(targets.length).fill(-1)), metrics: {} };
      },
      optimStep: async () => ({ gradNorm: 1 }),
    } as unknown as Trainer;
    return { given, metrics: await sftStep(trainer, all, { ...stage, ...over }, 1, 0) };
  }

  const trainedText = ({ targets, weights }: Datum): string[] => {
    const runs: number[][] = [];
    for (const [i, id] of targets.entries()) {
      if (weights[i] === 0) continue;
      if (i > 0 && weights[i - 1] !== 0) runs.at(-1)!.push(id);
      else runs.push([id]);
    }
    return runs.map((ids) => format.decode(ids));
  };
  const spread = (text: string): string[] => format.encode(text).map((id) => format.decode([id]));

  it("the assistant's turns from their first token to their end, and nothing else", async () => {
    const { given, metrics } = await step({});
    const [call, answer] = trainedText(given[0]!);
    expect(call).toMatch(/^I run it\.[\s\S]*<\/tool_call><\|im_end\|>$/);
    expect(answer).toBe('It is \\boxed{42}.<|im_end|>');
    expect(metrics['train/loss']).toBeCloseTo(1, 12);
    expect(metrics['train/tokens']).toBe(demonstration.mask.filter((bit) => bit === 1).length);
  });

  it("with the released code's mask, not their first token, and the one after all turns but the last", async () => {
    const [right, { given, metrics }] = [await step({}), await step({ mask: 'reference' })];
    const [call, answer] = trainedText(given[0]!);
    const [wholeCall, wholeAnswer] = trainedText(right.given[0]!);
    expect(call).toBe(`${spread(wholeCall!).slice(1).join('')}\n`);
    expect(answer).toBe(spread(wholeAnswer!).slice(1).join(''));
    expect(answer).toMatch(/42\}\.<\|im_end\|>$/);
    expect(metrics['train/loss']).toBeCloseTo(1, 12);
    expect(metrics['train/tokens']).toBe(right.metrics['train/tokens']! - 1);
  });
});
