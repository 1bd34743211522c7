/** Claims with what the blocks that are there say of them: verdict, difference with interval and margin, and in words. */
import type { StudyClaim, StudyPart } from '../../api.js';
import { Badge } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { count, number } from '../format.js';
import { safeLabel } from '../safeText.js';
import { Interval } from './Interval.js';
import { OUTCOMES } from './studyWords.js';

/** So many are shown with their words at once. */
const FEW = 3;

export function ClaimList({ claims, scope }: { readonly claims: readonly StudyClaim[]; readonly scope: readonly string[] }) {
  if (claims.length === 0) return null;
  const several = new Set(claims.map(({ models }) => models.join(', '))).size > 1;
  return (
    <section aria-labelledby="study-claims">
      <h2 id="study-claims" tabIndex={-1}>
        Claims so far
      </h2>
      {scope.length > 0 && (
        <details class="study-scope">
          <summary>What a verdict is about</summary>
          {scope.map((text) => (
            <p key={text}>
              <SafeText text={text} />
            </p>
          ))}
        </details>
      )}
      <ul class="claims">
        {claims.map((claim) => (
          <Claim key={`${claim.plan}/${claim.id}`} claim={claim} several={several} open={claims.length <= FEW} />
        ))}
      </ul>
    </section>
  );
}

function Claim({ claim, several, open }: { claim: StudyClaim; several: boolean; open: boolean }) {
  const { plan, id, says, verdict, parts, notes, blocksWanted, models } = claim;
  return (
    <li class="claim">
      <div class="claim-head">
        <Verdict verdict={verdict} />
        <h3>
          <SafeText text={says} />{' '}
          <span class="study-where">
            <SafeText text={[plan, id, ...(several ? models : [])].join(' · ')} />
          </span>
        </h3>
      </div>
      <ul class="claim-parts">
        {parts.map((part, i) => (
          <Part key={i} part={part} blocksWanted={blocksWanted} verdict={i === 0 ? verdict : undefined} outcome={verdict?.outcome} />
        ))}
      </ul>
      <div class="claim-foot">
        {notes.length > 0 && (
          <p class="muted study-small">
            <SafeText text={notes.join(' · ')} />
          </p>
        )}
        <InWords claim={claim} open={open} />
      </div>
    </li>
  );
}

function Verdict({ verdict }: { verdict: StudyClaim['verdict'] }) {
  if (verdict === undefined) return <Badge title="No block holds a number of both arms">no numbers yet</Badge>;
  const [sign, tone] = OUTCOMES[verdict.outcome];
  return (
    <Badge tone={tone}>
      <span aria-hidden="true">{sign} </span>
      {verdict.text}
    </Badge>
  );
}

interface PartProps {
  readonly part: StudyPart;
  readonly blocksWanted: number;
  readonly outcome: keyof typeof OUTCOMES | undefined;
  /** Where the claim's p is to stand beside this part. */
  readonly verdict: StudyClaim['verdict'];
}

function Part({ part, blocksWanted, outcome, verdict }: PartProps) {
  const { above, below, endpoint, difference, margin, unit, blocks } = part;
  return (
    <li class="claim-part">
      <span>
        <bdi>{safeLabel(above)}</bdi> over <bdi>{safeLabel(below)}</bdi>,{' '}
        <span class="muted">
          <SafeText text={endpoint} />
        </span>
      </span>
      <span class="claim-difference">{blocks === 0 ? <span class="faint">no difference yet</span> : safeLabel(difference)}</span>
      <Interval part={part} outcome={outcome} />
      <span class="muted">
        margin {number(margin, 3)}
        {unit === 'units' ? '' : ` ${unit}`}
      </span>
      <span class="muted">
        {count(blocks)} of {count(blocksWanted)} blocks
      </span>
      <span class="muted" title="Holm’s procedure goes over all claims that were tested">
        {verdict !== undefined && verdict.adjusted !== '–' && `Holm’s p ${verdict.adjusted}`}
      </span>
    </li>
  );
}

function InWords({ claim, open }: { claim: StudyClaim; open: boolean }) {
  const { parts, verdict, checks, paper, fair } = claim;
  return (
    <details class="claim-words" open={open}>
      <summary>In words</summary>
      {parts.map(({ sentence }, i) => (
        <p key={i}>
          <SafeText text={sentence} />
        </p>
      ))}
      {verdict !== undefined && (
        <p>
          <SafeText text={verdict.sentence} />
        </p>
      )}
      {checks.length > 0 && (
        <ul>
          {checks.map(({ holds, text }) => (
            <li key={text}>
              <span class={holds ? 'good' : 'bad'}>{holds ? '✓ check holds' : '✗ check fails'}</span>: <SafeText text={text} />
            </li>
          ))}
        </ul>
      )}
      {paper !== undefined && (
        <p>
          <span class="muted">In the paper</span> <SafeText text={paper} />
        </p>
      )}
      <p>
        <span class="muted">Limits</span> <SafeText text={fair} />
      </p>
    </details>
  );
}
