import { describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { readCapabilities } from './readCapabilities.js';
import { requireCapabilities } from './requireCapabilities.js';

const plain = readCapabilities({ supported_models: [{ model_name: 'm', max_context_length: 512 }, {}] }).capabilities;
const own = readCapabilities({
  supported_models: [{ model_name: 'm', weights_hash: 'abc' }],
  toolwise: {
    version: '0.1.0',
    extensions: ['full_fine_tune', 'something_newer'],
    losses: { ppo: ['clip_low_threshold', 'dual_clip'] },
    loss_reduction: 'sum',
    dtype: 'float32',
    threads: 2,
  },
}).capabilities;

describe('capabilities', () => {
  it('of a plain server are the official ones', () => {
    expect(plain.models).toEqual([{ name: 'm', maxContextLength: 512 }]);
    expect(plain.extensions).toEqual(['lora', 'train_unembed', 'grad_clip_norm', 'snapshots', 'second_model']);
    expect(plain.losses.ppo).toEqual(['clip_low_threshold', 'clip_high_threshold']);
  });

  it('of our own engine are what it says, without what we do not know', () => {
    expect(own).toMatchObject({
      server: 'toolwise 0.1.0',
      extensions: ['full_fine_tune'],
      dtype: 'float32',
      threads: 2,
      lossReduction: 'sum',
    });
    expect(own.models).toEqual([{ name: 'm', weightsHash: 'abc' }]);
  });

  it('that are all there are required in silence', () => {
    expect(requireCapabilities(['full_fine_tune', 'loss:ppo', 'loss:ppo.dual_clip', 'sum_reduction', 'model:m'], own)).toEqual([]);
  });

  it('that are missing are refused together, by name, with what is there and what would work', () => {
    const refuse = () => requireCapabilities(['full_fine_tune', 'loss:ppo.dual_clip', 'loss:ppo', 'model:other'], plain);
    expect(refuse).toThrow(UserError);
    expect(refuse).toThrow(/cannot do what this run needs: full_fine_tune, loss:ppo\.dual_clip, model:other; it offers: model:m, /);
  });

  it('may be gone without where the run says so, and are returned to be printed', () => {
    expect(requireCapabilities(['lockstep', 'loss:ppo', 'lockstep'], plain, ['lockstep'])).toEqual(['lockstep']);
    expect(() => requireCapabilities(['lockstep', 'entropy'], plain, ['lockstep'])).toThrow(/needs: entropy;/);
  });
});
