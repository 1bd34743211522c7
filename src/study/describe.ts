/** What a study will do, said before it begins: arms, runs, steps and rollouts, what is there already, and how long the rest may take. */
import { type Estimate, estimate } from './estimate.js';
import { blocksOf, sideBySide } from './jobs.js';
import type { StudyPlan } from './plan.js';
import { readResults } from './studyFolder.js';
import { workOf } from './work.js';

/** @param parallel arms side by side; absent: as many as there are cores for */
export function describeStudy(plans: readonly StudyPlan[], out: string, parallel?: number): string[] {
  const jobs = blocksOf(plans).flatMap((block) => block.jobs);
  const results = readResults(out);
  const left = jobs.filter(({ key }) => !results.has(key));
  const asked = plans.reduce((sum, { arms, blocks }) => sum + arms.length * blocks, 0);
  const { sftStages, steps, rollouts, tokens } = workOf(left);
  const beside = parallel ?? sideBySide(left);
  const known = left.length > 0 ? estimate(left, out, beside) : undefined;
  const work = [
    ...(sftStages > 0 ? [many(sftStages, 'SFT stage')] : []),
    ...(steps > 0 ? [`${many(steps, 'RL step')}, ${many(rollouts, 'rollout')}, at most ${tokensText(tokens)}`] : []),
  ].join(', ');
  const time = known === undefined ? 'how long is known when the first have ended' : timeText(known, beside);
  return [
    ...plans.map(
      ({ name, title, blocks, arms, claims }) =>
        `${name}: ${title} (${many(arms.length, 'arm')}, ${many(blocks, 'block')}, ${many(claims.length, 'claim')})`,
    ),
    `${many(jobs.length, 'arm-run')}${asked > jobs.length ? ` (${asked - jobs.length} shared${plans.length > 1 ? ' between plans' : ''})` : ''}, ${jobs.length - left.length} there already, ${left.length} to run`,
    left.length === 0 ? 'Nothing is left to run.' : `To run: ${work}; ${time}`,
  ];
}

const many = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function tokensText(tokens: number): string {
  if (tokens >= 1e6) return `${(tokens / 1e6).toFixed(1)} million tokens`;
  return tokens >= 1e4 ? `${Math.round(tokens / 1e3)} thousand tokens` : `${tokens} tokens`;
}

function timeText({ seconds, clock, from: { here, machines } }: Estimate, parallel: number): string {
  const minutes = (value: number): string => many(Math.max(1, Math.round(value / 60)), 'minute');
  const engine = `${minutes(seconds)} of one engine`;
  const time = parallel > 1 ? `about ${minutes(clock)} with ${parallel} arms side by side (${engine})` : `about ${engine}`;
  return `${time}, from what ${here ? 'arms took here' : `such arms took on ${machines.join(' and ')}`}`;
}
