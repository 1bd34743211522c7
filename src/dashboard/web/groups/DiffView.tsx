/** Two texts in one: what only the left has, what only the right has, and what both share. Marked by sign and colour. */
import { useMemo, useState } from 'preact/hooks';
import { Note, Segmented } from '../components/bits.js';
import { Pieces, SafeText } from '../components/SafeText.js';
import { count } from '../format.js';
import { type DiffPart, diffTexts, type Grain } from './diff.js';

/** Characters of a text beyond which it is cut before it is compared. */
const MOST = 100_000;
/** Of what is the same, so much is kept at each side of a change. */
const CONTEXT = 600;

export function DiffView({ left, right, names }: { left: string; right: string; names: readonly [string, string] }) {
  const [grain, setGrain] = useState<Grain>('words');
  const [all, setAll] = useState(false);
  const diff = useMemo(() => diffTexts(left.slice(0, MOST), right.slice(0, MOST), grain), [left, right, grain]);
  const same = diff.parts.every(({ kind }) => kind === 'same');
  return (
    <div class="diff">
      <div class="bar">
        <Segmented
          label="Compared by"
          value={grain}
          options={[
            ['words', 'by words'],
            ['lines', 'by lines'],
          ]}
          onChange={setGrain}
        />
        <span class="diff-key">
          <del>only in {names[0]}</del> <ins>only in {names[1]}</ins>
        </span>
      </div>
      {left.length > MOST || right.length > MOST ? <Note>Only the first {count(MOST)} characters are compared.</Note> : null}
      {diff.coarse && <Note>The two differ so much that they are shown one after the other.</Note>}
      {same && <p class="muted">Both wrote and read exactly the same.</p>}
      <bdi class="safe safe-block mono diff-text">
        {diff.parts.map((part, i) => (
          <Part
            key={i}
            part={part}
            whole={all || part.text.length <= 2 * CONTEXT + 200}
            first={i === 0}
            last={i === diff.parts.length - 1}
            onAll={() => setAll(true)}
          />
        ))}
      </bdi>
    </div>
  );
}

interface PartProps {
  readonly part: DiffPart;
  readonly whole: boolean;
  readonly first: boolean;
  readonly last: boolean;
  readonly onAll: () => void;
}

function Part({ part, whole, first, last, onAll }: PartProps) {
  if (part.kind === 'left') return <del>{part.text.length > 20_000 ? <SafeText text={part.text} /> : <Pieces text={part.text} />}</del>;
  if (part.kind === 'right') return <ins>{part.text.length > 20_000 ? <SafeText text={part.text} /> : <Pieces text={part.text} />}</ins>;
  if (whole) return <Pieces text={part.text} />;
  const before = first ? '' : part.text.slice(0, CONTEXT);
  const after = last ? '' : part.text.slice(-CONTEXT);
  return (
    <>
      <Pieces text={before} />
      <button type="button" class="link diff-more" onClick={onAll}>
        … {count(part.text.length - before.length - after.length)} equal characters …
      </button>
      <Pieces text={after} />
    </>
  );
}
