import { describe, expect, it } from 'vitest';
import { resultLine, runVector } from './run.js';
import type { Vector } from './vector.js';

const overlong = (rest: Partial<Vector>): Vector => ({
  name: 'v',
  fn: 'overlong_reward',
  inputs: { maxResponseLength: 100, bufferLength: 20, penaltyFactor: 1, validResponseLength: 90, score: 1, enabled: true },
  expected: { penalty: -0.5, reward: 0.5, rewardIndex: 89 },
  ...rest,
});

const parse = (text: string, expected: unknown): Vector => ({ name: 'v', fn: 'hermes_parse', inputs: { text }, expected });

const passOf = async (vector: Vector): Promise<boolean | null> => (await runVector(vector)).pass;

describe('runVector', () => {
  it('asks for what is expected, within the tolerance', async () => {
    expect(await passOf(overlong({}))).toBe(true);
    expect(await passOf(overlong({ expected: { penalty: -0.5 - 1e-12 } }))).toBe(true);
    expect(await passOf(overlong({ expected: { penalty: -0.5001 } }))).toBe(false);
    expect(await passOf(overlong({ expected: { other: 1 } }))).toBe(false);
  });

  it('asks nothing for a quirk, unless the right value is given', async () => {
    expect(await passOf(overlong({ reference_quirk: 'q', expected: { penalty: 7 } }))).toBeNull();
    expect(await passOf(overlong({ reference_quirk: 'q', expected: { penalty: 7 }, correct: { reward: 0.5 } }))).toBe(true);
    expect(await passOf(overlong({ reference_quirk: 'q', expected: { penalty: -0.5 }, correct: { reward: 0.6 } }))).toBe(false);
  });

  it('asks nothing where the reference gave NaN, and for functions it does not know', async () => {
    expect(await passOf(overlong({ expected: { penalty: 'NaN' } }))).toBeNull();
    const unknown = await runVector(overlong({ fn: 'toString' }));
    expect(unknown).toMatchObject({ pass: null, actual: { reason: 'this runner knows no function "toString"' } });
  });

  it('takes an error for the value', async () => {
    const inputs = { ...overlong({}).inputs, bufferLength: 200 };
    expect(await runVector(overlong({ inputs }))).toMatchObject({ pass: false, actual: { throws: 'RangeError' } });
    expect(await passOf(overlong({ inputs, expected: { throws: 'AssertionError' } }))).toBe(true);
    expect(await passOf(overlong({ expected: { throws: 'AssertionError' } }))).toBe(false);
  });

  it('compares what a model wrote key by key', async () => {
    const text = '<tool_call>{"name": "f", "arguments": {"x": 1, "y": "NaN"}}</tool_call>';
    expect(await passOf(parse(text, { calls: [{ name: 'f', argumentsValue: { y: 'NaN', x: 1 } }] }))).toBe(true);
    expect(await passOf(parse(text, { calls: [{ name: 'f', argumentsValue: { x: 1 } }] }))).toBe(false);
    expect(await passOf(parse(text, { calls: [] }))).toBe(false);
  });

  it('prints one line, numbers that JSON lacks by name', () => {
    const line = resultLine({ name: 'a\nb', fn: 'f', pass: null, expected: undefined, actual: [Number.NaN, Number.NEGATIVE_INFINITY] });
    expect(line).toBe('{"name":"a\\nb","fn":"f","pass":null,"expected":null,"actual":["NaN","-Infinity"]}');
  });
});
