/** What a study will do, said before it begins: arms, runs, steps and rollouts, what is there already, and how long the rest may take. */
import { blocksOf } from './jobs.js';
import type { StudyPlan } from './plan.js';
import { readResults } from './studyFolder.js';

export function describeStudy(plans: readonly StudyPlan[], out: string): string[] {
  const jobs = blocksOf(plans).flatMap((block) => block.jobs);
  const results = readResults(out);
  const left = jobs.filter(({ key }) => !results.has(key));
  const asked = plans.reduce((sum, { arms, blocks }) => sum + arms.length * blocks, 0);
  const stages = left.flatMap(({ recipe: { rl, limits, stages } }) => (rl && stages.includes('rl') ? [{ rl, limits }] : []));
  const steps = stages.reduce((sum, { rl }) => sum + rl.steps, 0);
  const rollouts = stages.reduce((sum, { rl }) => sum + rl.steps * rl.groupsPerStep * rl.groupSize, 0);
  const tokens = stages.reduce((sum, { rl, limits }) => sum + rl.steps * rl.groupsPerStep * rl.groupSize * limits.responseTokens, 0);
  const seconds = [...results.values()].map((result) => result.seconds).filter((value) => value > 0);
  const mean = seconds.reduce((sum, value) => sum + value, 0) / seconds.length;
  return [
    ...plans.map(
      ({ name, title, blocks, arms, claims }) => `${name}: ${title} (${arms.length} arms, ${blocks} blocks, ${claims.length} claims)`,
    ),
    `${jobs.length} arm-runs${asked > jobs.length ? ` (${asked - jobs.length} shared between plans)` : ''}, ${jobs.length - left.length} there already, ${left.length} to run`,
    `To run: ${steps} RL steps, ${rollouts} rollouts, at most ${(tokens / 1e6).toFixed(1)} million tokens; ${
      seconds.length > 0
        ? `about ${Math.ceil((mean * left.length) / 60)} minutes of one engine, from the ${seconds.length} that are there`
        : 'how long is known when the first have ended'
    }`,
  ];
}
