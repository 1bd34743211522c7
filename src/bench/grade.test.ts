import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchmarkGrade, mathVerifyPython } from './grade.js';

describe('the benchmark of grading', () => {
  it('measures our side alone where there is no Python with Math-Verify', async () => {
    expect(mathVerifyPython(undefined, { TOOLWISE_HOME: join(tmpdir(), 'there-is-no-such-folder') })).toBeUndefined();
    const { pairs, ours, mathVerify, verdicts } = await benchmarkGrade(undefined, 0);
    expect(mathVerify).toBeUndefined();
    expect(verdicts).toHaveLength(pairs);
    expect(verdicts.filter((one) => one.mathVerify !== undefined)).toEqual([]);
    expect(ours.pairsPerSecond).toBeGreaterThan(0);
    expect(ours.p99).toBeGreaterThanOrEqual(ours.median);
  });
});

describe('the Python with Math-Verify', () => {
  it('is the one named, else that of the environment variable', () => {
    expect(mathVerifyPython('a', { TOOLWISE_MATH_VERIFY: 'b' })).toBe('a');
    expect(mathVerifyPython(undefined, { TOOLWISE_MATH_VERIFY: 'b' })).toBe('b');
  });

  it.skipIf(process.platform === 'win32')('is asked about every pair, and a failure of it is told', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwise-bench-grade-'));
    try {
      const python = join(folder, 'python');
      const program = `#!${process.execPath}
let text = '';
process.stdin.on('data', (part) => (text += part));
process.stdin.on('end', () => {
  console.log('{"version": "0"}');
  for (const line of text.trim().split('\\n')) console.log(JSON.stringify({ equal: JSON.parse(line).gold === '$204$', seconds: 0.5 }));
});
`;
      writeFileSync(python, program);
      chmodSync(python, 0o755);
      const { mathVerify, verdicts } = await benchmarkGrade(python, 0);
      expect(mathVerify).toEqual({ version: '0', pairsPerSecond: 2, median: 500, p99: 500 });
      expect(verdicts.filter((one) => one.mathVerify).every(({ gold }) => gold === '204')).toBe(true);
      writeFileSync(python, '#!/bin/sh\ncat >/dev/null\nexit 3\n');
      await expect(benchmarkGrade(python, 0)).rejects.toThrow('ended with 3');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
