/** A rollout token by token: how each came to be as a colour, the exact values beside it, and the ones that surprise most. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TokensView } from '../../api.js';
import { runPath } from '../client.js';
import { Failed, Loading, Note, Segmented } from '../components/bits.js';
import { count, counted, number } from '../format.js';
import { setQuery, useRoute } from '../navigation.js';
import { numberOf, oneOf } from '../router.js';
import { useApi } from '../useApi.js';
import { TokenList } from './TokenList.js';
import {
  leastLikely,
  legendOf,
  MEASURES,
  type Measure,
  measuresOf,
  type Scaled,
  shortValue,
  shownText,
  summaryOf,
  type Token,
  tokensOf,
} from './tokenScale.js';
import './tokens.css';

/** How many of the least likely are named. */
const NAMED = 12;

export function TokensPage({ run, id }: { readonly run: string; readonly id: number }) {
  const asked = useApi<TokensView>(runPath(run, `trajectories/${id}/tokens`));
  if (asked.value !== undefined) return <Lines key={id} view={asked.value} />;
  return asked.error === undefined ? <Loading what="Reading the tokens" /> : <Failed error={asked.error} retry={asked.reload} />;
}

/** An agent whose requests did not each extend the one before has several lines of tokens. */
function Lines({ view }: { view: TokensView }) {
  const { query } = useRoute();
  const lines = [view, ...(view.branches ?? [])];
  const at = Math.min(numberOf(query, 'line') ?? 1, lines.length);
  const line = lines[at - 1] ?? view;
  const shown = useMemo(() => ({ ...line, ...(view.advantage !== undefined && { advantage: view.advantage }) }), [line, view]);
  return (
    <div>
      {lines.length > 1 && (
        <p class="row tokens-lines">
          <Segmented
            label="Line of requests"
            value={String(at)}
            options={lines.map((_, i) => [String(i + 1), `Line ${i + 1}`] as const)}
            onChange={(to) => setQuery({ line: to, token: undefined })}
          />
        </p>
      )}
      {view.note !== undefined && <Note tone="warn">{view.note}</Note>}
      <Tokens key={at} view={shown} />
    </div>
  );
}

function Tokens({ view }: { view: Scaled }) {
  const { query } = useRoute();
  const { prompt, response } = useMemo(() => tokensOf(view), [view]);
  const measures = useMemo(() => measuresOf(view), [view]);
  const named = oneOf(query, 'measure') as Measure | undefined;
  const measure = measures.find((name) => name === named) ?? measures.find((name) => name === 'logProb') ?? 'mask';
  const numbers = oneOf(query, 'numbers') === '1';
  const summary = useMemo(() => summaryOf(response), [response]);
  const least = useMemo(() => leastLikely(response, NAMED), [response]);
  const [promptOpen, setPromptOpen] = useState(false);
  const asked = numberOf(query, 'token');
  const [place, setPlace] = useState<number | undefined>(asked !== undefined && asked < response.length ? asked : undefined);
  const [jump, setJump] = useState<{ readonly to: number } | undefined>(place === undefined ? undefined : { to: place });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const moved = (index: number): void => {
    setPlace(index);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery({ token: index }), 400);
  };

  return (
    <section class={`tokens${numbers ? ' tokens-numbers' : ''}`} aria-label="Tokens">
      <div class="bar">
        <Segmented
          label="Colour shows"
          value={measure}
          options={measures.map((name) => [name, MEASURES[name].label] as const)}
          onChange={(name) => setQuery({ measure: name })}
        />
        <label class="field">
          <input
            type="checkbox"
            checked={numbers}
            onChange={(event) => setQuery({ numbers: event.currentTarget.checked ? 1 : undefined })}
          />
          show numbers
        </label>
        <span class="muted" title="Over the model’s tokens">
          {counted(summary.tokens, 'token')}, {count(summary.model)} by the model
          {summary.meanLogProb !== undefined && `; mean log-prob ${number(summary.meanLogProb)}, perplexity ${number(summary.perplexity)}`}
        </span>
      </div>
      <p class="muted legend-title">{MEASURES[measure].title}</p>
      <Legend measure={measure} />
      {least.length > 0 && (
        <details class="least">
          <summary>The {least.length} least likely tokens</summary>
          <ol>
            {least.map((token) => (
              <li key={token.index}>
                <button type="button" onClick={() => setJump({ to: token.index })}>
                  <code class="least-text">{visible(token)}</code> <span class="muted">{shortValue(token, 'probability')}</span>
                </button>
              </li>
            ))}
          </ol>
        </details>
      )}
      <details class="prompt-tokens" open={promptOpen} onToggle={(event) => setPromptOpen(event.currentTarget.open)}>
        <summary>Prompt: {counted(prompt.length, 'token')}</summary>
        {promptOpen && <TokenList label="Tokens of the prompt" tokens={prompt} measure={measure} numbers={false} />}
      </details>
      {response.length === 0 ? (
        <p class="muted">The response has no tokens.</p>
      ) : (
        <TokenList
          label="Tokens of the response"
          tokens={response}
          measure={measure}
          numbers={numbers}
          place={place}
          jump={jump}
          onMove={moved}
        />
      )}
      <p class="muted tokens-help">
        Arrow keys walk from token to token, Home and End go to the ends, s goes to the next surprising one (below 14 %). · is a space, ⇥ a
        tab, ↵ a newline.
      </p>
    </section>
  );
}

const visible = (token: Token): string => {
  const text = shownText(token);
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
};

function Legend({ measure }: { measure: Measure }) {
  return (
    <ul class="scale-legend" aria-label={`What the colours of ${MEASURES[measure].label} say`}>
      {legendOf(measure).map(({ swatch, label }) => (
        <li key={swatch}>
          <span class={`swatch sw-${swatch}`} aria-hidden="true" />
          {label}
        </li>
      ))}
    </ul>
  );
}
