/** What a rollout came to, at its side: verdict and why, reward by part, advantage, why it ended, and its measures. */
import { Fragment } from 'preact';
import type { TrajectoryView } from '../../api.js';
import { SafeText } from '../components/SafeText.js';
import { count, duration, number, signed } from '../format.js';
import { useMedia } from '../useMedia.js';
import { groupHref, problemHref } from './links.js';
import { FlagMarks, RightMark, stopWords, whereWords } from './marks.js';

export const REASONS: Readonly<Record<string, string>> = {
  match: 'the answer matches',
  mismatch: 'the answer differs',
  noAnswer: 'no answer was found',
  noProgram: 'no program was found',
  compileError: 'the program does not compile',
  runtimeError: 'the program failed',
  timeout: 'the program took too long',
  memoryLimit: 'the program took too much memory',
  wrongOutput: 'the program prints something else',
};

export function Facts({ view, run }: { readonly view: TrajectoryView; readonly run: string }) {
  const versions = [...new Set(view.segmentsOf.map(({ policyVersion }) => policyVersion))];
  const narrow = useMedia('(max-width: 900px)');
  const tags = Object.entries(view.problem).filter(([, value]) => value !== null && value !== undefined);
  return (
    <aside class="rollout-facts" aria-label="What it came to">
      <VerdictFacts view={view} />
      <details class="rollout-more" open={!narrow}>
        <summary>Reward, advantage and measures</summary>
        <div class="rollout-more-body">
          {view.rewardParts && <RewardParts parts={view.rewardParts} total={view.reward} />}
          {view.environment && <EnvironmentFacts environment={view.environment} />}
          <dl class="pairs">
            <Pair name="advantage" value={view.advantage === undefined ? undefined : signed(view.advantage, 4)} />
            <Pair name="ended" value={stopText(view)} />
            <Pair name="where" value={whereWords(view)} />
            <Pair name="tokens" value={`${count(view.modelTokens)} by the model, ${count(view.tokens)} in all`} />
            <Pair name="turns, calls" value={`${count(view.turns)}, ${count(view.calls)} executed`} />
            <Pair name="time" value={duration(view.seconds)} />
            <Pair
              name={versions.length > 1 ? 'policies' : 'policy'}
              value={versions.length === 0 ? undefined : versions.length > 4 ? `${versions[0]} … ${versions.at(-1)}` : versions.join(', ')}
            />
            <Pair name="sampled from step" value={view.sampledFrom === undefined ? undefined : count(view.sampledFrom)} />
            <Pair name="entropy" value={view.entropy === undefined ? undefined : `${number(view.entropy)} nats a token`} />
            <dt>problem</dt>
            <dd>
              <a href={problemHref(run, view.problemId)}>
                <SafeText text={view.problemId} />
              </a>
            </dd>
            <dt>group</dt>
            <dd>
              <a href={groupHref(run, view)}>
                <SafeText text={view.groupId} />
              </a>
            </dd>
          </dl>
          {view.flags.length > 0 && <FlagMarks flags={view.flags} />}
          {tags.length > 0 && (
            <details>
              <summary>Fields of the problem ({tags.length})</summary>
              <dl class="pairs">
                {tags.map(([name, value]) => (
                  <div key={name} class="pair">
                    <dt>
                      <SafeText text={name} />
                    </dt>
                    <dd>
                      <SafeText text={typeof value === 'string' ? value : JSON.stringify(value, null, 1)} as="block" length={2_000} />
                    </dd>
                  </div>
                ))}
              </dl>
            </details>
          )}
        </div>
      </details>
    </aside>
  );
}

function VerdictFacts({ view }: { view: TrajectoryView }) {
  const { verdict } = view;
  if (verdict?.kind === 'infra') {
    return (
      <div class="outcome outcome-infra">
        <p class="outcome-word bad">not graded: infrastructure</p>
        <SafeText text={verdict.error} as="block" length={2_000} />
      </div>
    );
  }
  return (
    <div class={`outcome ${view.correct === undefined ? '' : view.correct ? 'outcome-right' : 'outcome-wrong'}`}>
      <p class="outcome-word">
        <RightMark correct={view.correct} />
        {verdict && verdict.score !== 0 && verdict.score !== 1 && <span class="muted"> score {number(verdict.score)}</span>}
      </p>
      {verdict && <p>{REASONS[verdict.reason] ?? verdict.reason}</p>}
      <dl class="pairs">
        <dt>read as</dt>
        <dd>
          {verdict?.extracted === undefined ? (
            <span class="muted">nothing</span>
          ) : (
            <SafeText text={verdict.extracted} as="block" class="mono" length={400} lines={8} />
          )}
        </dd>
        {view.answer !== undefined && (
          <>
            <dt>gold</dt>
            <dd>
              <SafeText text={view.answer} as="block" class="mono" length={400} lines={8} />
            </dd>
          </>
        )}
        {verdict?.note !== undefined && (
          <>
            <dt>note</dt>
            <dd>
              <SafeText text={verdict.note} as="block" length={400} lines={8} />
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}

/** What the environment of a task of several steps made of it. */
function EnvironmentFacts({ environment }: { environment: NonNullable<TrajectoryView['environment']> }) {
  return (
    <dl class="pairs">
      <dt>environment</dt>
      <dd>
        <SafeText text={environment.environment} />
      </dd>
      <dt>outcome</dt>
      <dd class={environment.success ? 'good' : 'bad'}>
        {environment.success ? 'solved' : 'not solved'}
        {environment.done ? '' : ', not ended by an action'}
      </dd>
      <Pair name="actions" value={count(environment.steps)} />
      {Object.entries(environment.rewards).map(([name, value]) => (
        <Fragment key={name}>
          <dt>
            <SafeText text={name} />
          </dt>
          <dd>{signed(value, 4)}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** Bars to the right of zero for what was earned, to the left for what was taken. */
export function RewardParts({ parts, total }: { parts: NonNullable<TrajectoryView['rewardParts']>; total?: number | null | undefined }) {
  const entries = Object.entries(parts);
  const most = Math.max(1e-9, ...entries.map(([, value]) => Math.abs(value ?? 0)));
  const negative = entries.some(([, value]) => (value ?? 0) < 0);
  return (
    <table class="reward">
      <caption>
        Reward <strong>{number(total)}</strong>
      </caption>
      <tbody>
        {entries.map(([name, value]) => {
          const share = (Math.abs(value ?? 0) / most) * (negative ? 50 : 100);
          const below = (value ?? 0) < 0;
          return (
            <tr key={name}>
              <th scope="row">
                <SafeText text={name} />
              </th>
              <td class="right">{signed(value, 4)}</td>
              <td class="reward-bar" aria-hidden="true">
                <span
                  class={below ? 'reward-fill below' : 'reward-fill'}
                  style={{ width: `${share}%`, left: `${negative ? (below ? 50 - share : 50) : 0}%` }}
                />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function stopText(view: TrajectoryView): string {
  const { stop } = view;
  if (stop.kind === 'tokenLimit') return `cut at the ${stop.limit}’s token limit`;
  if (stop.kind === 'stopTool') return `by the tool ${stop.tool}`;
  return stopWords(stop.kind);
}

function Pair({ name, value }: { name: string; value: string | undefined }) {
  if (value === undefined) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
