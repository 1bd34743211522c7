/** Text of a model or of data, shown as text: hidden characters as signs, kept apart from the direction of what stands around, cut with a button for the rest. */
import { useMemo, useState } from 'preact/hooks';
import { count } from '../format.js';
import { type CutLimits, cutText, piecesOf } from '../safeText.js';

export interface SafeTextProps extends CutLimits {
  readonly text: string;
  /** `block` keeps lines and scrolls; `line` shows one line with an ellipsis. */
  readonly as?: 'inline' | 'block' | 'line';
  readonly class?: string;
}

/** Never more than this is put on the page at once, even when all is asked for: the rest is for the export. */
const MOST = 2_000_000;

export function SafeText({ text, as = 'inline', class: extra, ...limits }: SafeTextProps) {
  const [all, setAll] = useState(false);
  const { lineLength, lines, length } = limits;
  const cut = useMemo(() => {
    if (all) return text.length <= MOST ? { text, hidden: 0 } : cutText(text, { length: MOST, lines: MOST, lineLength: MOST });
    if (as === 'line') return { text: text.slice(0, 400).replace(/\s+/g, ' '), hidden: 0 };
    return cutText(text, { ...(lineLength && { lineLength }), ...(lines && { lines }), ...(length && { length }) });
  }, [text, all, as, lineLength, lines, length]);
  const body = <Pieces text={cut.text} />;
  const className = `safe safe-${as}${extra === undefined ? '' : ` ${extra}`}`;
  if (as !== 'block') return <bdi class={className}>{body}</bdi>;
  return (
    <div class="safe-box">
      <bdi class={className}>{body}</bdi>
      {(cut.hidden > 0 || all) && text.length <= MOST && (
        <button type="button" class="link" onClick={() => setAll(!all)}>
          {all ? 'show less' : `show all (${count(cut.hidden)} more characters)`}
        </button>
      )}
    </div>
  );
}

/** The pieces alone, for those who lay out text themselves. */
export function Pieces({ text }: { readonly text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text]);
  return (
    <>
      {pieces.map((piece, i) =>
        piece.name === undefined ? (
          piece.text
        ) : (
          <span key={i} class="sign" title={piece.name}>
            {piece.text}
          </span>
        ),
      )}
    </>
  );
}
