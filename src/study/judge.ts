/** What the results of a study say about its claims: paired differences over the blocks in which both arms are there, checks, verdicts. Pure. */
import type { ArmResult } from './armResult.js';
import { type CheckOutcome, checkOf, counted, type Endpoint } from './endpoint.js';
import { resultsOfArm } from './jobs.js';
import { armsOf, type Claim, type StudyPlan } from './plan.js';
import {
  type ClaimVerdict,
  isFlat,
  LEAST_BLOCKS,
  type PairedDifference,
  pairedDifference,
  type Reading,
  readDifference,
  readParts,
  verdicts,
} from './verdict.js';

export interface JudgedPart {
  readonly above: string;
  readonly below: string;
  readonly endpoint: Endpoint;
  readonly margin: number;
  /** One a block that counts, in their order. */
  readonly pairs: readonly { readonly block: number; readonly above: number; readonly below: number }[];
  readonly difference: PairedDifference;
  readonly reading: Reading;
  /** Blocks in which an arm gave no such number, which is a fault of the plan or of the run. */
  readonly without: number;
  /** Of those, blocks in which that is so because an arm diverged. */
  readonly uncounted: number;
}

export interface JudgedArm {
  readonly name: string;
  readonly blocks: number;
  readonly diverged: number;
  /** Rollouts that infrastructure took. */
  readonly lost: number;
  readonly tokens: number;
  readonly seconds: number;
}

export interface JudgedClaim {
  readonly plan: string;
  readonly claim: Claim;
  readonly parts: readonly JudgedPart[];
  readonly checks: readonly CheckOutcome[];
  readonly verdict: ClaimVerdict;
  readonly arms: readonly JudgedArm[];
  /** What a reader must know, for example that blocks are missing. */
  readonly notes: readonly string[];
}

/** Claims of all plans are judged together: Holm's procedure is over all of them. */
export function judge(plans: readonly StudyPlan[], results: ReadonlyMap<string, ArmResult>): JudgedClaim[] {
  const judged = plans.flatMap((plan) => plan.claims.map((claim) => readClaim(plan, claim, results)));
  const outcomes = verdicts(
    judged.map(({ parts, checks }, i) => ({
      id: String(i),
      reading: readParts(parts.map(({ reading }) => reading)),
      // an arm that only a check asks must have run as often
      blocks: Math.min(...parts.map(({ pairs }) => pairs.length), ...checks.map(({ blocks }) => blocks)),
      checked: checks.every(({ holds, blocks }) => holds || blocks === 0),
    })),
  );
  return judged.map((claim, i) => ({ ...claim, verdict: { ...outcomes[i]!, id: claim.claim.id } }));
}

function readClaim(plan: StudyPlan, claim: Claim, results: ReadonlyMap<string, ArmResult>): Omit<JudgedClaim, 'verdict'> {
  const resultsOf = (name: string): ArmResult[] => resultsOfArm(plan, name, results);
  const parts = claim.parts.map(({ above, below, endpoint, margin }): JudgedPart => {
    const below_ = new Map(resultsOf(below).map((result) => [result.seed, result]));
    const both = resultsOf(above).flatMap((first) => {
      const second = below_.get(first.seed);
      if (second === undefined) return [];
      const diverged = [first, second].some((result) => result.diverged !== undefined && counted(result, endpoint) === undefined);
      return [{ block: first.seed - plan.seed, diverged, values: [counted(first, endpoint), counted(second, endpoint)] as const }];
    });
    const uncounted = both.filter(({ diverged }) => diverged).length;
    const pairs = both.flatMap(({ block, values: [a, b] }) => (a === undefined || b === undefined ? [] : [{ block, above: a, below: b }]));
    const difference = pairedDifference(pairs.map((pair) => pair.above - pair.below));
    return {
      above,
      below,
      endpoint,
      margin,
      pairs,
      difference,
      // runs that diverged count: where they have no number that could, the others alone say nothing
      reading: uncounted > 0 ? { says: 'undecided', p: 1 } : readDifference(difference, margin),
      without: both.length - pairs.length,
      uncounted,
    };
  });
  const arms = armsOf(claim).map((name): JudgedArm => {
    const all = resultsOf(name);
    const sum = (of: (result: ArmResult) => number): number => all.reduce((total, result) => total + of(result), 0);
    return {
      name,
      blocks: all.length,
      diverged: all.filter(({ diverged }) => diverged !== undefined).length,
      lost: sum(({ lost }) => lost),
      tokens: sum(({ tokens }) => tokens.written),
      seconds: sum(({ seconds }) => seconds),
    };
  });
  const checks = claim.checks.map((check) => checkOf(check, resultsOf));
  return { plan: plan.name, claim, parts, checks, arms, notes: notesOf(plan, parts, checks, arms) };
}

function notesOf(plan: StudyPlan, parts: readonly JudgedPart[], checks: readonly CheckOutcome[], arms: readonly JudgedArm[]): string[] {
  const notes: string[] = [];
  const checked = checks.map(({ blocks }) => blocks);
  const least = Math.min(...parts.map(({ pairs }) => pairs.length), ...checked);
  const there = Math.min(...parts.map(({ pairs, without }) => pairs.length + without), ...checked);
  if (there < plan.blocks) notes.push(`${there} of ${plan.blocks} blocks are there`);
  if (least < LEAST_BLOCKS) notes.push(`fewer than ${LEAST_BLOCKS} blocks: exploratory by the rule`);
  for (const { above, below, endpoint, without } of parts)
    if (without > 0)
      notes.push(
        `${above} or ${below} gave no ${'final' in endpoint ? endpoint.final : 'mean' in endpoint ? endpoint.mean : endpoint.stepsTo} in ${without} ${without === 1 ? 'block' : 'blocks'}`,
      );
  const uncounted = Math.max(...parts.map((part) => part.uncounted));
  for (const { name, diverged, blocks } of arms)
    if (diverged > 0)
      notes.push(
        `${name} diverged in ${diverged} of ${blocks} blocks; ${uncounted === 0 ? 'they count' : 'without a number that could count, the others alone decide nothing'}`,
      );
  for (const { above, below, difference, pairs } of parts)
    if (pairs.length > 1 && isFlat(difference))
      notes.push(`${above} and ${below} differ by the same in every block: nothing tells how that scatters`);
  for (const { name, lost } of arms) if (lost > 0) notes.push(`${name} lost ${lost} rollouts to infrastructure`);
  return notes;
}
