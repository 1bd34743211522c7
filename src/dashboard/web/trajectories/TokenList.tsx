/**
 * Tokens in a row, coloured by a measure: one is current, arrows walk, a box beside it shows its exact values and a live region reads them.
 * Thousands of them stay smooth: chunks out of sight are not laid out, and they come onto the page a few at a time.
 */

import { Component, Fragment } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Pieces } from '../components/SafeText.js';
import { placeBeside } from '../components/Tooltip.js';
import { counted } from '../format.js';
import { runsOf } from './tokenRuns.js';
import { describeToken, type Measure, scaleClasses, shortValue, shownText, type Token } from './tokenScale.js';

/** Chunks put on the page at first, and more with each frame. */
const FIRST_CHUNKS = 12;
const MORE_CHUNKS = 20;
/** A token below this probability surprises. */
const SURPRISING = Math.log(0.14);
/** Tokens that are looked at for the line above or below. */
const LINE_REACH = 400;

interface TokenListProps {
  readonly label: string;
  readonly tokens: readonly Token[];
  readonly measure: Measure;
  readonly numbers: boolean;
  /** Where one was. */
  readonly place?: number | undefined;
  /** A new object goes there, and takes the focus along. */
  readonly jump?: { readonly to: number } | undefined;
  readonly onMove?: (index: number) => void;
}

export function TokenList({ label, tokens, measure, numbers, place, jump, onMove }: TokenListProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(place ?? 0);
  const [hovered, setHovered] = useState<number>();
  const [focused, setFocused] = useState(false);
  const [spoken, setSpoken] = useState('');
  const [shownChunks, setShownChunks] = useState(FIRST_CHUNKS);
  const runs = useMemo(() => runsOf(tokens), [tokens]);
  const chunkCount = runs.reduce((sum, run) => sum + run.chunks.length, 0);

  useEffect(() => {
    if (shownChunks >= chunkCount) return;
    const frame = requestAnimationFrame(() => setShownChunks(shownChunks + MORE_CHUNKS));
    return () => cancelAnimationFrame(frame);
  }, [shownChunks, chunkCount]);

  const elementOf = (index: number): HTMLElement | null => document.getElementById(`${id}-${index}`);

  const go = (to: number, speak = true): void => {
    const index = Math.max(0, Math.min(tokens.length - 1, to));
    setHovered(undefined);
    setCurrent(index);
    onMove?.(index);
    const token = tokens[index];
    if (speak && token) setSpoken(words(token));
    elementOf(index)?.scrollIntoView({ block: 'nearest' });
  };

  // a jump is followed once its chunk is there
  useEffect(() => {
    if (jump === undefined) return;
    if (elementOf(jump.to) === null) return;
    list.current?.focus({ preventScroll: true });
    go(jump.to);
    elementOf(jump.to)?.scrollIntoView({ block: 'center' });
  }, [jump, jump !== undefined && shownChunks >= chunkCount]);

  // roving by an attribute on the element, so that moving draws no token again
  useLayoutEffect(() => {
    const element = elementOf(current);
    element?.setAttribute('aria-selected', 'true');
    element?.classList.toggle('tok-current', focused);
    return () => {
      element?.setAttribute('aria-selected', 'false');
      element?.classList.remove('tok-current');
    };
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = keyTarget(event.key);
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
  };
  const keyTarget = (key: string): number | undefined => {
    switch (key) {
      case 'ArrowRight':
        return current + 1;
      case 'ArrowLeft':
        return current - 1;
      case 'ArrowDown':
        return beside(1);
      case 'ArrowUp':
        return beside(-1);
      case 'Home':
        return 0;
      case 'End':
        return tokens.length - 1;
      case 's':
        return nextSurprise(tokens, current);
      default:
        return undefined;
    }
  };
  /** The token above or below. */
  const beside = (way: 1 | -1): number => {
    const from = elementOf(current)?.getBoundingClientRect();
    if (!from) return current;
    const middle = from.left + from.width / 2;
    let line: number | undefined;
    let best = { index: current, distance: Number.POSITIVE_INFINITY };
    for (let i = 1; i <= LINE_REACH; i++) {
      const index = current + way * i;
      const rect = index >= 0 && index < tokens.length ? elementOf(index)?.getBoundingClientRect() : undefined;
      if (!rect) break;
      const offset = (rect.top - from.top) * way;
      if (offset < from.height / 2) continue;
      line ??= rect.top;
      if (Math.abs(rect.top - line) > from.height / 2) break;
      const distance = Math.abs(rect.left + rect.width / 2 - middle);
      if (distance < best.distance) best = { index, distance };
    }
    return best.index;
  };

  const inspected = hovered ?? (focused ? current : undefined);
  let left = shownChunks;
  return (
    <div class="tok-frame">
      <div
        class={`tok-list${numbers ? ' tok-numbers' : ''}`}
        role="listbox"
        data-measure={measure}
        aria-label={label}
        tabIndex={0}
        ref={list}
        aria-activedescendant={`${id}-${current}`}
        onKeyDown={onKeyDown}
        onFocus={() => {
          setFocused(true);
          const token = tokens[current];
          if (token) setSpoken(words(token));
        }}
        onBlur={() => setFocused(false)}
        onMouseOver={(event) => setHovered(indexOf(event.target))}
        onMouseLeave={() => setHovered(undefined)}
        onClick={(event) => {
          const index = indexOf(event.target);
          if (index !== undefined) go(index);
        }}
      >
        {runs.map((run, r) => {
          const chunks = run.chunks.slice(0, Math.max(0, left));
          left -= run.chunks.length;
          if (chunks.length === 0) return null;
          return (
            <div key={r} class={`tok-run tok-run-${run.from}`}>
              <div class="tok-run-name" aria-hidden="true">
                {run.turn === undefined ? (run.from === 'prompt' ? 'prompt' : 'given') : `turn ${run.turn}`}
                <span class="tok-run-size">{counted(run.length, 'token')}</span>
              </div>
              <div class="tok-run-tokens">
                {chunks.map((chunk, c) => (
                  <Chunk key={c} id={id} tokens={chunk} measure={measure} numbers={numbers} />
                ))}
              </div>
            </div>
          );
        })}
      </div>
      <p class="hidden" role="status">
        {spoken}
      </p>
      {inspected !== undefined && tokens[inspected] && <Inspector token={tokens[inspected]} anchor={() => elementOf(inspected)} />}
    </div>
  );
}

const indexOf = (target: EventTarget | null): number | undefined => {
  const index = target instanceof Element ? target.closest<HTMLElement>('[data-i]')?.dataset.i : undefined;
  return index === undefined ? undefined : Number(index);
};

const words = (token: Token): string =>
  describeToken(token)
    .map(([name, value]) => `${name} ${value.length > 200 ? `${value.slice(0, 200)} …` : value}`)
    .join(', ');

function nextSurprise(tokens: readonly Token[], from: number): number {
  for (let i = 1; i <= tokens.length; i++) {
    const index = (from + i) % tokens.length;
    if ((tokens[index]!.logProb ?? 0) < SURPRISING) return index;
  }
  return from;
}

interface ChunkProps {
  readonly id: string;
  readonly tokens: readonly Token[];
  readonly measure: Measure;
  readonly numbers: boolean;
}

/** Drawn anew only where something of it has changed. */
class Chunk extends Component<ChunkProps> {
  override shouldComponentUpdate({ tokens, measure, numbers }: Readonly<ChunkProps>): boolean {
    return tokens !== this.props.tokens || numbers !== this.props.numbers || (numbers && measure !== this.props.measure);
  }

  override render({ id, tokens, measure, numbers }: ChunkProps) {
    return <div class="tok-chunk">{tokens.map((token) => tokenNode(id, token, measure, numbers))}</div>;
  }
}

/** Longer texts of one token are cut; the box beside it has more. */
const LONGEST_TEXT = 120;
/** What needs no sign and turns no direction: letters of ASCII, and the marks of white space. */
const PLAIN = /^[\x20-\x7e\u00b7\u21b5\u21e5\u2205]*$/;

/** A plain element, no component: there are thousands. Its classes say the step on every scale; the list says which one is shown. */
function tokenNode(id: string, token: Token, measure: Measure, numbers: boolean) {
  const text = shownText(token);
  const cut = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}\u2026` : text;
  const breaks = token.special ? 0 : (token.text?.split('\n').length ?? 1) - 1;
  return (
    <Fragment key={token.index}>
      <span
        id={`${id}-${token.index}`}
        data-i={token.index}
        role="option"
        aria-selected="false"
        class={`tok ${scaleClasses(token)} tok-${token.from}${token.special ? ' tok-special' : ''}${token.text === undefined ? ' tok-id' : ''}`}
      >
        {PLAIN.test(cut) ? (
          cut
        ) : (
          <bdi>
            <Pieces text={cut} />
          </bdi>
        )}
        {numbers && <span class="tok-value">{shortValue(token, measure) || '\u00a0'}</span>}
      </span>
      {breaks > 0 && <br />}
      {breaks > 1 && <br />}
    </Fragment>
  );
}

function Inspector({ token, anchor }: { token: Token; anchor: () => HTMLElement | null }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = anchor();
    if (element && box.current) placeBeside(box.current, element.getBoundingClientRect());
  });
  return (
    <div class="tip-box tok-inspector" role="presentation" ref={box}>
      <dl class="pairs">
        {describeToken(token).map(([name, value]) => (
          <div key={name} class="pair">
            <dt>{name}</dt>
            <dd class={name === 'token' ? 'mono' : ''}>
              <bdi>
                <Pieces text={value.length > 400 ? `${value.slice(0, 400)} …` : value} />
              </bdi>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
