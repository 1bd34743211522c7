import { describe, expect, it } from 'vitest';
import { crc32c, scalarRecord, textRecord, versionRecord } from './tfevents.js';

describe("TensorBoard's records", () => {
  it('use CRC-32C', () => {
    expect(crc32c(Buffer.from('123456789')).toString(16)).toBe('e3069283');
  });

  it('are, byte for byte, what the tensorboard package reads', () => {
    // read back by tensorboard 2.21.0 as file version 2, and as `rl/reward` 0.5 at step 7
    expect(versionRecord(1_700_000_000_000).toString('hex')).toBe(VERSION);
    expect(scalarRecord(1_700_000_000_500, 7, { 'rl/reward': 0.5 }).toString('hex')).toBe(SCALAR);
  });

  it('hold their length, and a step as wide as it needs', () => {
    for (const bytes of [scalarRecord(0, 3_000_000_000, { a: 1, b: -2 }), textRecord(0, 'recipe', 'ü'.repeat(1000))])
      expect(Number(bytes.readBigUInt64LE(0)) + 16).toBe(bytes.length);
  });
});

const VERSION = '1a00000000000000129bd82d0900000040fc54d94110001a0d627261696e2e4576656e743a32e6773e1a';
const SCALAR = '1f00000000000000514b44180900002040fc54d94110072a120a100a09726c2f726577617264150000003fdb2c2dd6';
