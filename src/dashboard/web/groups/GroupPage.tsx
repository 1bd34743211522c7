/** All rollouts of one occurrence of a problem side by side: what each earned, its advantage, its answer, and the difference of two. */
import { useMemo } from 'preact/hooks';
import type { GroupView } from '../../api.js';
import { runPath } from '../client.js';
import { Failed, Loading, Note } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { count, number, percent, signed } from '../format.js';
import { setQuery, useRoute } from '../navigation.js';
import { numberOf, oneOf } from '../router.js';
import { markBox } from '../trajectories/conversation.js';
import { listHref, problemHref, rolloutHref } from '../trajectories/links.js';
import { FlagMarks, RightMark, stopWords, whereWords } from '../trajectories/marks.js';
import { useApi } from '../useApi.js';
import { DiffView } from './DiffView.js';
import { pairToCompare, type Spread, spreadOf } from './rewardSpread.js';
import '../trajectories/trajectories.css';
import './groups.css';

type Member = GroupView['members'][number];

export function GroupPage({ run, groupId }: { readonly run: string; readonly groupId: string }) {
  const { query } = useRoute();
  const params = new URLSearchParams({ id: groupId });
  for (const name of ['stage', 'step']) {
    const value = oneOf(query, name);
    if (value !== undefined) params.set(name, value);
  }
  const asked = useApi<GroupView>(runPath(run, `groups?${params}`));
  const { value: group } = asked;
  if (group === undefined) {
    return asked.error === undefined ? <Loading what="Reading the group" /> : <Failed error={asked.error} retry={asked.reload} />;
  }
  return <Group run={run} group={group} />;
}

function Group({ run, group }: { run: string; group: GroupView }) {
  const { query } = useRoute();
  const { members } = group;
  const first = members[0];
  const spread = useMemo(() => spreadOf(members.map(({ reward }) => reward)), [members]);
  const parts = [...new Set(members.flatMap(({ rewardParts }) => Object.keys(rewardParts ?? {})))];
  const byId = (id: number | undefined): Member | undefined => members.find((member) => member.id === id);
  const chosen = [byId(numberOf(query, 'a')), byId(numberOf(query, 'b'))] as const;
  const pair = chosen[0] && chosen[1] ? ([chosen[0], chosen[1]] as const) : pairToCompare(members);
  const right = members.filter(({ correct }) => correct === true).length;
  const graded = members.filter(({ correct }) => correct !== undefined).length;
  const rewarded = members.some(({ reward }) => reward !== undefined);
  const nameOf = (member: Member): string => `${members.indexOf(member) + 1}`;
  return (
    <article class="group" aria-label={`Group ${group.groupId}`}>
      <header class="bar">
        <h2>
          Group <SafeText text={group.groupId} />
        </h2>
        {first && <span class="muted">{whereWords(first)}</span>}
        <span class="grow" />
        {first && <a href={problemHref(run, first.problemId)}>The problem over training</a>}
        {first && <a href={listHref(run, { stage: first.stage, groupId: group.groupId })}>In the list</a>}
      </header>
      <div class="said said-question">
        <div class="said-who">question</div>
        <SafeText text={group.question} as="block" />
        {group.answer !== undefined && (
          <p>
            <span class="muted">gold</span> <SafeText text={group.answer} class="mono" />
          </p>
        )}
      </div>
      <p class="group-sum">
        {graded > 0 && (
          <>
            <strong>
              {count(right)} of {count(graded)} right
            </strong>{' '}
            ({percent(right / graded, 0)}).{' '}
          </>
        )}
        <SpreadWords spread={spread} />
      </p>
      {group.note !== undefined && <Note>{group.note}</Note>}
      {spread.kind === 'equal' && (
        <Note tone="warn">
          All {count(spread.count)} rollouts earned {number(spread.reward)}: every advantage is exactly 0, so this group gives no gradient.
        </Note>
      )}
      <section class="scroll" aria-label="Rollouts of the group" tabIndex={0}>
        <table class="plain group-table">
          <thead>
            <tr>
              <th scope="col">Compare</th>
              <th scope="col">Rollout</th>
              <th scope="col">Verdict</th>
              {rewarded && (
                <>
                  <th scope="col" class="right">
                    Reward
                  </th>
                  {parts.map((part) => (
                    <th key={part} scope="col" class="right">
                      <SafeText text={part} />
                    </th>
                  ))}
                  <th scope="col" class="right">
                    Advantage
                  </th>
                </>
              )}
              <th scope="col" class="right">
                Calls
              </th>
              <th scope="col" class="right">
                Tokens
              </th>
              <th scope="col">Answer</th>
              <th scope="col">Ended</th>
              <th scope="col">Notable</th>
            </tr>
          </thead>
          <tbody>
            {members.map((member, i) => (
              <tr key={member.id}>
                <td>
                  <Choice member={member} name={i + 1} pair={pair} />
                </td>
                <th scope="row">
                  <a href={rolloutHref(run, member.id, { stage: member.stage, groupId: group.groupId, sort: 'oldest' })}>{i + 1}</a>
                </th>
                <td>
                  <RightMark correct={member.correct} reason={member.reason} />
                </td>
                {rewarded && (
                  <>
                    <td class="right">{number(member.reward)}</td>
                    {parts.map((part) => (
                      <td key={part} class="right">
                        {signed(member.rewardParts?.[part])}
                      </td>
                    ))}
                    <td class="right">{signed(member.advantage)}</td>
                  </>
                )}
                <td class="right">{count(member.calls)}</td>
                <td class="right">{count(member.modelTokens)}</td>
                <td class="group-answer">
                  <MemberAnswer member={member} />
                </td>
                <td class="nowrap">{stopWords(member.stopReason)}</td>
                <td>
                  <FlagMarks flags={member.flags} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {pair && (
        <section class="group-diff" aria-label="Difference of two">
          <h3>
            Rollout {nameOf(pair[0])} beside {nameOf(pair[1])}
          </h3>
          <DiffView left={pair[0].text} right={pair[1].text} names={[`rollout ${nameOf(pair[0])}`, `rollout ${nameOf(pair[1])}`]} />
        </section>
      )}
    </article>
  );
}

function Choice({ member, name, pair }: { member: Member; name: number; pair: readonly [Member, Member] | undefined }) {
  const side = pair === undefined ? -1 : pair.indexOf(member);
  return (
    <input
      type="checkbox"
      aria-label={`Compare rollout ${name}`}
      checked={side !== -1}
      disabled={pair === undefined}
      onChange={() => {
        // the one chosen first makes room; what is chosen already becomes the first
        if (pair === undefined) return;
        const [a, b] = side === -1 ? [pair[1], member] : [pair[1], pair[0]];
        setQuery({ a: a.id, b: b.id });
      }}
    />
  );
}

function SpreadWords({ spread }: { spread: Spread }) {
  switch (spread.kind) {
    case 'none':
      return <span class="muted">Rollouts of an evaluation have no reward and are not trained on.</span>;
    case 'single':
      return <>A group of one has the advantage 0.</>;
    case 'equal':
      return null;
    case 'mixed':
      return (
        <>
          Rewards from {number(spread.low)} to {number(spread.high)}, mean {number(spread.mean)}, standard deviation{' '}
          {number(spread.deviation)}.
        </>
      );
  }
}

/** What stands in the last box; without one the last line of a rollout that was ended by its answer. */
function MemberAnswer({ member }: { member: Member }) {
  const tail = member.text.slice(-4_000);
  const box = markBox(tail).find(({ boxed }) => boxed)?.text;
  if (box !== undefined) return <SafeText text={box.replace(/^\\boxed\s*\{/, '').slice(0, -1)} as="line" />;
  if (member.stopReason !== 'answered') return <span class="faint">none</span>;
  return <SafeText text={tail.trimEnd().split('\n').at(-1) ?? ''} as="line" class="muted" />;
}
