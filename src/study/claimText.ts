/** A judged claim in words, for the terminal and for pages. */
import { describeEndpoint, unitName } from './endpoint.js';
import type { JudgedClaim, JudgedPart } from './judge.js';
import type { Outcome } from './verdict.js';

export const OUTCOME_TEXT: Readonly<Record<Outcome, string>> = {
  supported: 'supported',
  contradicted: 'contradicted',
  noMaterialEffect: 'no material effect',
  undecided: 'undecided',
  exploratory: 'exploratory',
  notTested: 'not tested',
};

export function claimLines({ plan, claim, verdict, parts, checks, notes }: JudgedClaim): string[] {
  const adjusted = verdict.adjusted === undefined ? '' : ` (Holm's p ${pText(verdict.adjusted)})`;
  return [
    `${plan}, ${claim.id}: ${OUTCOME_TEXT[verdict.outcome].toUpperCase()}${adjusted}: ${claim.says}`,
    ...parts.map((part) => `  ${partText(part)}`),
    ...checks.map(({ holds, text }) => `  check ${holds ? 'holds' : 'FAILS'}: ${text}`),
    ...notes.map((note) => `  ${note}`),
  ];
}

export function partText({ above, below, endpoint, margin, difference, pairs }: JudgedPart): string {
  const unit = unitName(endpoint) === 'units' ? '' : ` ${unitName(endpoint)}`;
  const what = `${above} over ${below}, ${describeEndpoint(endpoint)}`;
  if (pairs.length === 0) return `${what}: no block has both`;
  const [low, high] = difference.interval;
  const interval = pairs.length < 2 ? '' : ` [${signed(low)}, ${signed(high)}]`;
  return `${what}: ${signed(difference.mean)}${interval}${unit}, ${pairs.length} ${pairs.length === 1 ? 'block' : 'blocks'}, margin ${margin}`;
}

export const signed = (value: number): string => {
  const text = Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
  return value > 0 ? `+${text}` : text.replace('-', '−');
};

export const pText = (p: number): string => (p < 0.001 ? 'below 0.001' : p.toPrecision(2));
