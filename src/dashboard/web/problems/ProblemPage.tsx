/** One problem: its question, how often it was solved over training, and the rollouts of each meeting. */
import type { ProblemView } from '../../api.js';
import { runPath } from '../client.js';
import { Failed, Loading, Meter } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { count, counted, percent } from '../format.js';
import { groupHref, listHref } from '../trajectories/links.js';
import { whereWords } from '../trajectories/marks.js';
import { useApi } from '../useApi.js';
import { MeetingsChart } from './MeetingsChart.js';
import '../trajectories/trajectories.css';
import './problems.css';

export function ProblemPage({ run, problemId }: { readonly run: string; readonly problemId: string }) {
  const asked = useApi<ProblemView>(runPath(run, `problem?${new URLSearchParams({ id: problemId })}`));
  const { value: problem } = asked;
  if (problem === undefined) {
    return asked.error === undefined ? <Loading what="Reading the problem" /> : <Failed error={asked.error} retry={asked.reload} />;
  }
  const { meetings } = problem;
  const rollouts = meetings.reduce((sum, meeting) => sum + meeting.rollouts, 0);
  const right = meetings.reduce((sum, meeting) => sum + meeting.right, 0);
  return (
    <article class="group" aria-label={`Problem ${problemId}`}>
      <header class="bar">
        <h2>
          Problem <SafeText text={problem.problemId} />
        </h2>
        <span class="muted">
          {counted(rollouts, 'rollout')}, {percent(rollouts === 0 ? undefined : right / rollouts)} right
        </span>
        <span class="grow" />
        <a href={listHref(run, { problemId })}>All its rollouts</a>
      </header>
      <div class="said said-question">
        <div class="said-who">question</div>
        <SafeText text={problem.question} as="block" />
        {problem.answer !== undefined && (
          <p>
            <span class="muted">gold</span> <SafeText text={problem.answer} class="mono" />
          </p>
        )}
      </div>
      {meetings.length > 0 && <MeetingsChart run={run} meetings={meetings} />}
      <section class="scroll" aria-label="Meetings" tabIndex={0}>
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Met</th>
              <th scope="col">Group</th>
              <th scope="col" class="right">
                Right
              </th>
              <th scope="col">Share</th>
            </tr>
          </thead>
          <tbody>
            {meetings.map((meeting) => (
              <tr key={`${meeting.stage} ${meeting.groupId}`}>
                <td>{whereWords(meeting)}</td>
                <td>
                  <a href={groupHref(run, meeting)}>
                    <SafeText text={meeting.groupId} />
                  </a>
                </td>
                <td class="right">
                  {count(meeting.right)} of {count(meeting.rollouts)}
                </td>
                <td class="share-cell">
                  <Meter
                    value={meeting.right / Math.max(1, meeting.rollouts)}
                    label={percent(meeting.right / meeting.rollouts)}
                    tone="good"
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </article>
  );
}
