/**
 * One problem, followed through a run: how the model fails at it before, and what it does after. Chosen among the evaluation's own
 * rollouts by a fixed rule, and told as text. Does not print.
 */
import { styleText } from 'node:util';
import type { EventSink, Stage, TrajectoryRecord } from '../domain/event.js';
import { executedCalls, type Trajectory } from '../domain/trajectory.js';

/** Which evaluation a rollout comes from, in the order in which they are looked through for a solution. */
const SPLITS = { main: 'sampled at T=1', topP06: 'sampled at top-p 0.6', greedy: 'greedy' } as const;

export class Showcase {
  readonly #records: TrajectoryRecord[] = [];
  #problemId: string | undefined;

  /** Collects the rollouts of evaluations. */
  readonly sink: EventSink = (event) => {
    if (event.kind === 'trajectory' && event.record.split !== 'train') this.#records.push(event.record);
  };

  /** The first problem of the evaluation that the model gets wrong without a call, else the first that it gets wrong. */
  failure(): string[] {
    const wrong = this.#of('base', 'main').filter(({ verdict }) => verdict?.kind === 'graded' && !verdict.correct);
    const chosen = wrong.find(({ trajectory }) => executedCalls(trajectory) === 0) ?? wrong[0];
    if (!chosen) return ['The model solves every problem already.'];
    this.#problemId = chosen.trajectory.problem.id;
    return tell(chosen, true);
  }

  /** The same problem at the end of a stage: solved if any of the evaluation's rollouts solves it, else as it is. */
  outcome(stage: Stage): string[] {
    const own = Object.entries(SPLITS).flatMap(([split, name]) =>
      this.#of(stage, split).flatMap((record) => (record.trajectory.problem.id === this.#problemId ? [{ record, name }] : [])),
    );
    const solved =
      own.find(({ record }) => isRight(record) && executedCalls(record.trajectory) > 0) ?? own.find(({ record }) => isRight(record));
    const shown = solved ?? own[0];
    if (!shown) return [];
    const head = solved ? `The same problem, ${shown.name}:` : `The same problem is still wrong, ${shown.name}:`;
    return [head, ...tell(shown.record, false)];
  }

  #of(stage: Stage, split: string): TrajectoryRecord[] {
    return this.#records.filter((record) => record.stage === stage && record.split === split);
  }
}

const isRight = ({ verdict }: TrajectoryRecord): boolean => verdict?.kind === 'graded' && verdict.correct;

/** A rollout as a person reads it: question, what the model wrote, what came back, the verdict. */
function tell({ trajectory, verdict }: TrajectoryRecord, withQuestion: boolean): string[] {
  const lines = withQuestion ? [`  ${styleText('bold', 'problem')}  ${trajectory.problem.question}`] : [];
  for (const turn of trajectory.turns) {
    lines.push(...labelled('model', turn.text));
    for (const reply of turn.replies) lines.push(...labelled('tool', reply.text));
  }
  const right = verdict?.kind === 'graded' && verdict.correct;
  const said = verdict?.kind === 'graded' && verdict.extracted !== undefined ? `answer ${verdict.extracted}` : endingOf(trajectory);
  lines.push(
    `  ${styleText(right ? 'green' : 'red', right ? 'right' : 'wrong')}    ${visible(said)}${right ? '' : `; it is ${trajectory.problem.answer ?? 'unknown'}`}`,
  );
  return lines;
}

function endingOf({ stopReason }: Pick<Trajectory, 'stopReason'>): string {
  return stopReason.kind === 'tokenLimit' ? 'no answer: it ran into the token limit' : 'no answer in a box';
}

const LONGEST = 12;

function labelled(label: string, text: string): string[] {
  const all = visible(text.trim()).split('\n');
  const rows = all.length > LONGEST ? [...all.slice(0, LONGEST), `… ${all.length - LONGEST} more lines`] : all;
  return rows.map((row, i) => `  ${styleText('dim', (i === 0 ? label : '').padEnd(7))}  ${row.slice(0, 160)}`);
}

/** Model text may hold anything: control characters are shown, not sent to the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
const visible = (text: string): string => text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
