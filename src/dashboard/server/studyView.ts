/**
 * What the page says of a study, from its plans and results: who is done, what is left, what its claims come to so far. Judges nothing by
 * itself and words nothing that the report words: see `src/study`. Knows neither files nor what runs now: see `studies.ts`.
 */
import type { ArmResult } from '../../study/armResult.js';
import { OUTCOME_TEXT } from '../../study/claimText.js';
import { counted, describeEndpoint, type Endpoint, unitName } from '../../study/endpoint.js';
import { type Block, blocksOf, type Job, jobOf } from '../../study/jobs.js';
import { type JudgedClaim, judge } from '../../study/judge.js';
import type { Arm, StudyPlan } from '../../study/plan.js';
import { type ReportedClaim, reportOf, type StudyReport } from '../../study/report.js';
import { differenceText, partSentences, pCell, scopeSentences, seedsText, verdictSentences } from '../../study/reportWords.js';
import type { StudyCell, StudyClaim, StudyDetail, StudyGrid } from '../api.js';
import type { StudyFiles } from './studyFiles.js';

/** Everything that stays the same until a file changes. */
export interface JudgedStudy {
  readonly blocks: readonly Block[];
  readonly jobs: readonly Job[];
  /** Of jobs, those that have ended. */
  readonly results: ReadonlyMap<string, ArmResult>;
  readonly lastResultAt: string | undefined;
  readonly grids: readonly PlannedGrid[];
  readonly problems: readonly string[];
  /** Costs most, and only the study's own page asks for it. */
  readonly judged: () => Pick<StudyDetail, 'claimList' | 'scope' | 'facts' | 'problems'>;
}

/** As it is while nothing runs, and uncounted. */
export type PlannedGrid = Omit<StudyGrid, 'done' | 'wanted'>;

export function judgedStudy(folder: string, { plans, results: all, problems: broken }: StudyFiles): JudgedStudy {
  const blocks = blocksOf(plans);
  const jobs = blocks.flatMap((block) => block.jobs);
  const results = new Map(jobs.flatMap(({ key }) => (all.has(key) ? [[key, all.get(key)!] as const] : [])));
  const strangers = all.size - results.size;
  const problems = [
    ...broken,
    ...(strangers > 0 && plans.length > 0
      ? [`${strangers === 1 ? '1 result belongs' : `${strangers} results belong`} to no plan of the study.`]
      : []),
  ];
  let judged: ReturnType<JudgedStudy['judged']> | undefined;
  return {
    blocks,
    jobs,
    results,
    lastResultAt: [...results.values()]
      .flatMap(({ ended }) => ended ?? [])
      .sort()
      .at(-1),
    grids: plans.map((plan) => gridOf(plan, results)),
    problems,
    judged: () => (judged ??= judgedClaims(folder, plans, results, problems)),
  };
}

function gridOf(plan: StudyPlan, results: ReadonlyMap<string, ArmResult>): PlannedGrid {
  const endpoints = endpointsOf(plan);
  const cellOf = (arm: Arm, block: number): StudyCell => {
    const { key } = jobOf(plan, arm, block);
    const result = results.get(key);
    if (result === undefined) return { key, state: 'waiting' };
    return {
      ...{ key, state: 'done', seconds: result.seconds },
      values: endpoints.map((endpoint) => counted(result, endpoint) ?? null),
      ...(result.diverged !== undefined && { diverged: result.diverged }),
    };
  };
  return {
    ...{ plan: plan.name, title: plan.title },
    arms: plan.arms.map(({ name }) => name),
    endpoints: endpoints.map((endpoint) => ({ text: describeEndpoint(endpoint), unit: unitName(endpoint) })),
    blocks: Array.from({ length: plan.blocks }, (_, block) => ({
      ...{ block, seed: plan.seed + block },
      cells: plan.arms.map((arm) => cellOf(arm, block)),
    })),
  };
}

function endpointsOf({ claims, arms }: StudyPlan): Endpoint[] {
  const compared = claims.flatMap(({ parts }) => parts.map(({ endpoint }) => endpoint));
  const accuracy: Endpoint = { final: 'accuracy', stage: arms[0]!.recipe.stages.at(-1) ?? 'rl', evaluation: 'main' };
  const isAccuracy = (endpoint: Endpoint): boolean =>
    'final' in endpoint && endpoint.final === 'accuracy' && (endpoint.evaluation ?? 'main') === 'main';
  const all = compared.some(isAccuracy) ? compared : [...compared, accuracy];
  return [...new Map(all.map((endpoint) => [describeEndpoint(endpoint), endpoint])).values()];
}

function judgedClaims(
  folder: string,
  plans: readonly StudyPlan[],
  results: ReadonlyMap<string, ArmResult>,
  problems: readonly string[],
): ReturnType<JudgedStudy['judged']> {
  const blocks = new Map(plans.map((plan) => [plan.name, plan.blocks]));
  const view = (claim: JudgedClaim, report?: StudyReport): StudyClaim => claimOf(claim, blocks.get(claim.plan) ?? 0, report);
  try {
    if (results.size === 0) return { claimList: judge(plans, results).map((claim) => view(claim)), scope: [], problems };
    const report = reportOf(folder, plans, results);
    const { seeds, seconds, tokens, models, machines } = report.runs;
    return {
      claimList: report.claims.map((claim) => view(claim, report)),
      scope: scopeSentences(report),
      facts: { seeds: seedsText(seeds), seconds, tokens, models, machines },
      problems,
    };
  } catch (error) {
    // results of another hand may lack what a claim asks for
    return { claimList: [], scope: [], problems: [...problems, `The claims cannot be judged: ${(error as Error).message}`] };
  }
}

function claimOf(judged: JudgedClaim, blocksWanted: number, report: StudyReport | undefined): StudyClaim {
  const { plan, claim, parts, checks, notes, verdict, arms } = judged;
  const seen = report !== undefined && parts.some(({ pairs, without }) => pairs.length + without > 0);
  return {
    ...{ plan, id: claim.id, says: claim.says, fair: claim.fair, blocksWanted },
    ...(claim.paper !== undefined && { paper: claim.paper }),
    models: report === undefined ? [] : (judged as ReportedClaim).models,
    ...(seen && {
      verdict: {
        outcome: verdict.outcome,
        text: OUTCOME_TEXT[verdict.outcome],
        sentence: verdictSentences(judged as ReportedClaim, report.tested),
        adjusted: pCell(verdict.adjusted),
      },
    }),
    parts: parts.map((part, i) => ({
      ...{ above: part.above, below: part.below, endpoint: describeEndpoint(part.endpoint), unit: unitName(part.endpoint) },
      ...{
        difference: differenceText(part),
        mean: part.difference.mean,
        low: part.difference.interval[0],
        high: part.difference.interval[1],
      },
      ...{ margin: part.margin, blocks: part.pairs.length, reading: part.reading.says, sentence: partSentences(part, claim.parts[i]?.why) },
    })),
    checks: seen ? checks.map(({ holds, text }) => ({ holds, text })) : [],
    notes: arms.some((arm) => arm.blocks > 0) ? notes : [],
  };
}
