import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { resultLine, runVector } from '../src/golden/run.js';
import { readVectors } from '../src/golden/vector.js';

const folder = fileURLToPath(new URL('golden/', import.meta.url));
const ASKED = ['advantages.json', 'kl.json', 'metrics.json', 'overlong.json', 'policy_losses.json', 'reward.json', 'tool_calls.json'];
/** The reference grader answers these, quirks and all. */
const AS_RELEASED = ['compute_score', 'compute_score_code'];

describe.each(readdirSync(folder).filter((file) => file.endsWith('.json')))('%s', (file) => {
  const vectors = readVectors(folder + file);

  it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', async (_, vector) => {
    const result = await runVector(vector);
    expect(result.pass, resultLine(result)).not.toBe(false);
  });

  it.runIf(ASKED.includes(file))('is asked of us, but for quirks', async () => {
    const unasked = (await Promise.all(vectors.map(runVector))).filter((result) => result.pass === null);
    expect(unasked.map(({ name }) => name)).toEqual(
      vectors
        .filter(({ fn, reference_quirk, correct }) => reference_quirk !== undefined && correct === undefined && !AS_RELEASED.includes(fn))
        .map(({ name }) => name),
    );
  });
});
