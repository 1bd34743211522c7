/** Code for reading, coloured by kind; hidden characters stand as signs. Nothing of it runs. Long code is plain, and cut. */
import { useMemo } from 'preact/hooks';
import { CopyButton } from '../components/bits.js';
import { Pieces, SafeText } from '../components/SafeText.js';
import { highlightJson, highlightPython } from './highlight.js';

export type Language = 'python' | 'json' | 'text';

/** Characters up to which code is coloured. */
const COLOURED = 40_000;
/** A line beyond this is left to the cutting of plain text. */
const LONGEST_LINE = 5_000;

export function Code({ text, language, label }: { readonly text: string; readonly language: Language; readonly label: string }) {
  return (
    <div class="code-box">
      <CodeText text={text} language={language} label={label} />
      <span class="code-tools">
        <CopyButton text={text} />
      </span>
    </div>
  );
}

export function CodeText({ text, language, label }: { readonly text: string; readonly language: Language; readonly label: string }) {
  const pieces = useMemo(() => {
    if (language === 'text' || text.length > COLOURED || hasLongLine(text)) return undefined;
    return language === 'json' ? highlightJson(text) : highlightPython(text);
  }, [text, language]);
  return (
    <pre class="code" role="group" aria-label={label} tabIndex={0}>
      {pieces === undefined ? (
        <SafeText text={text} as="block" />
      ) : (
        <bdi>
          {pieces.map(({ kind, text: own }, i) =>
            kind === 'plain' ? (
              <Pieces key={i} text={own} />
            ) : (
              <span key={i} class={`hl-${kind}`}>
                <Pieces text={own} />
              </span>
            ),
          )}
        </bdi>
      )}
    </pre>
  );
}

function hasLongLine(text: string): boolean {
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    if (end - at > LONGEST_LINE) return true;
    at = end + 1;
  }
  return false;
}
