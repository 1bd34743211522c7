/** What narrows the list of rollouts: search, right or wrong, what is notable, where in the run, why it ended, in which order. */
import { useEffect, useState } from 'preact/hooks';
import type { RunDetail, TrajectoryQuery } from '../../api.js';
import { Search, Segmented, Select } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { count, STAGE_NAMES } from '../format.js';
import { useMedia } from '../useMedia.js';
import { changed, FLAG_NAMES, FLAGS, isNarrowed, STOP_REASONS, toParams, withFlag } from './query.js';

interface FiltersProps {
  readonly filter: TrajectoryQuery;
  readonly splits: RunDetail['splits'];
  /** `typed` where it changes letter by letter: no entry in the history. */
  readonly onChange: (next: TrajectoryQuery, typed?: boolean) => void;
}

export function Filters({ filter, splits, onChange }: FiltersProps) {
  const narrow = useMedia('(max-width: 720px)');
  const [open, setOpen] = useState(false);
  const shown = !narrow || open;
  const { text: _text, correct: _correct, sort: _sort, ...rest } = filter;
  const more = toParams(rest).size;
  const set: Set = (change, typed = false) => onChange(changed(filter, change), typed);
  return (
    <search class="filters" aria-label="Filter of rollouts">
      <div class="bar">
        <Search
          label="Search question, text, code, results, answer"
          placeholder="Search text, code, results …"
          value={filter.text ?? ''}
          onChange={(text) => set({ text: text === '' ? undefined : text }, true)}
        />
        <Segmented
          label="Right or wrong"
          value={filter.correct === undefined ? 'all' : filter.correct ? 'right' : 'wrong'}
          options={[
            ['all', 'all'],
            ['right', '✓ right'],
            ['wrong', '✗ wrong'],
          ]}
          onChange={(value) => set({ correct: value === 'all' ? undefined : value === 'right' })}
        />
        {narrow && (
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
            Filters{more > 0 && ` (${more})`}
          </button>
        )}
        {shown && <PlaceFilters filter={filter} splits={splits} set={set} />}
      </div>
      {shown && <FlagFilters filter={filter} onChange={onChange} set={set} />}
    </search>
  );
}

type Set = (change: Parameters<typeof changed>[1], typed?: boolean) => void;

/** Where in the run, and how it ended. */
function PlaceFilters({ filter, splits, set }: Pick<FiltersProps, 'filter' | 'splits'> & { readonly set: Set }) {
  const stages = [...new Set(splits.map(({ stage }) => stage))];
  const names = [...new Set(splits.filter(({ stage }) => !filter.stage || stage === filter.stage).map(({ split }) => split))];
  if (filter.split && !names.includes(filter.split)) names.push(filter.split);
  return (
    <>
      <Select
        label="Stage"
        value={filter.stage ?? ''}
        options={[['', 'all'], ...stages.map((stage) => [stage, STAGE_NAMES[stage] ?? stage] as const)]}
        onChange={(stage) => set({ stage: stage === '' ? undefined : stage, split: undefined })}
      />
      <Select
        label="Split"
        value={filter.split ?? ''}
        options={[['', 'all'], ...names.map((name) => [name, `${name} (${count(countOf(splits, filter.stage, name))})`] as const)]}
        onChange={(split) => set({ split: split === '' ? undefined : split })}
      />
      <StepRange filter={filter} onChange={(change) => set(change, true)} />
      <Select
        label="Ended"
        value={filter.stopReason ?? ''}
        options={[['', 'any way'], ...(Object.entries(STOP_REASONS) as [NonNullable<TrajectoryQuery['stopReason']>, string][])]}
        onChange={(value) => set({ stopReason: value === '' ? undefined : value })}
      />
    </>
  );
}

function FlagFilters({ filter, onChange, set }: Pick<FiltersProps, 'filter' | 'onChange'> & { readonly set: Set }) {
  const notable = filter.flags ?? [];
  return (
    <fieldset class="chips">
      <legend class="hidden">Only what is</legend>
      {FLAG_NAMES.map((flag) => (
        <button
          key={flag}
          type="button"
          class="flag-chip"
          aria-pressed={notable.includes(flag)}
          title={FLAGS[flag].title}
          onClick={() => onChange(withFlag(filter, flag))}
        >
          {FLAGS[flag].label}
        </button>
      ))}
      {(filter.problemId || filter.groupId) && (
        <button
          type="button"
          class="flag-chip"
          aria-pressed="true"
          title="Show others too"
          onClick={() => set({ problemId: undefined, groupId: undefined })}
        >
          {filter.groupId ? 'group ' : 'problem '}
          <SafeText text={filter.groupId ?? filter.problemId ?? ''} /> ×
        </button>
      )}
      {isNarrowed(filter) && (
        <button type="button" class="link" onClick={() => onChange(filter.sort ? { sort: filter.sort } : {})}>
          Clear
        </button>
      )}
    </fieldset>
  );
}

const countOf = (splits: RunDetail['splits'], stage: string | undefined, name: string): number =>
  splits.filter((entry) => entry.split === name && (!stage || entry.stage === stage)).reduce((sum, entry) => sum + entry.count, 0);

/** Steps as a person counts them, from 1. */
function StepRange({
  filter,
  onChange,
}: {
  filter: TrajectoryQuery;
  onChange: (change: { step: undefined; fromStep: number | undefined; toStep: number | undefined }) => void;
}) {
  const from = filter.step ?? filter.fromStep;
  const to = filter.step ?? filter.toStep;
  return (
    <fieldset class="steps">
      <legend class="hidden">Steps</legend>
      <span class="muted">Steps</span>
      <StepField label="from step" value={from} onChange={(value) => onChange({ step: undefined, fromStep: value, toStep: to })} />
      <span class="muted">to</span>
      <StepField label="to step" value={to} onChange={(value) => onChange({ step: undefined, fromStep: from, toStep: value })} />
    </fieldset>
  );
}

/** 0-based within, 1-based for a person. */
function StepField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
}) {
  const shown = value === undefined ? '' : String(value + 1);
  const [typed, setTyped] = useState(shown);
  useEffect(() => setTyped(shown), [shown]);
  return (
    <input
      class="step-field"
      type="number"
      min={1}
      max={999_999}
      aria-label={label}
      value={typed}
      onInput={(event) => {
        const text = event.currentTarget.value;
        setTyped(text);
        const step = Number(text);
        if (text === '') onChange(undefined);
        else if (Number.isInteger(step) && step >= 1 && step <= 999_999) onChange(step - 1);
      }}
    />
  );
}
