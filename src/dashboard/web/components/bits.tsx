/** The small parts that every view is made of: badges, figures, states, buttons. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../client.js';

export type Tone = 'neutral' | 'good' | 'bad' | 'warn' | 'info';

export function Badge({ tone = 'neutral', title, children }: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}

/** A figure with its name; `note` stands small below. */
export function Stat({ label, value, note, title }: { label: string; value: ComponentChildren; note?: ComponentChildren; title?: string }) {
  return (
    <div class="stat" title={title}>
      <div class="stat-label">{label}</div>
      <div class="stat-value">{value}</div>
      {note !== undefined && <div class="stat-note">{note}</div>}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children !== undefined && <div class="state-text">{children}</div>}
    </div>
  );
}

/** Says nothing for a moment: most answers come sooner. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <div class="state state-loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what} …
    </div>
  );
}

export function Failed({ error, retry }: { error: ApiError | Error; retry?: () => void }) {
  return (
    <div class="state state-failed" role="alert">
      <p class="state-title">{error.message}</p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Something to know about what is shown; never in the way. */
export function Note({ tone = 'info', children }: { tone?: 'info' | 'warn' | 'bad'; children: ComponentChildren }) {
  return (
    <p class={`note note-${tone}`} role={tone === 'bad' ? 'alert' : 'note'}>
      {children}
    </p>
  );
}

export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    const done = await navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => true,
      () => false,
    );
    setState(done ? 'done' : 'failed');
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState('idle'), 1500);
  };
  return (
    <button type="button" class="quiet" onClick={copy} aria-live="polite">
      {state === 'idle' ? label : state === 'done' ? 'Copied' : 'Could not copy'}
    </button>
  );
}

/** A share as a bar, with its value for those who do not see it. */
export function Meter({ value, label, tone = 'info' }: { value: number; label: string; tone?: Tone }) {
  const width = `${Math.max(0, Math.min(1, value)) * 100}%`;
  return (
    <span class="meter" role="img" aria-label={label} title={label}>
      <span class={`meter-fill meter-${tone}`} style={{ width }} />
    </span>
  );
}

/** One of a few choices, all in sight. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string])[];
  onChange: (value: T) => void;
}) {
  return (
    <fieldset class="segmented">
      <legend class="hidden">{label}</legend>
      {options.map(([option, text]) => (
        <button type="button" key={option} aria-pressed={option === value} onClick={() => onChange(option)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

export interface TabItem {
  readonly key: string;
  readonly label: ComponentChildren;
  readonly href: string;
}

/** Views of one thing, as links: each has its address. */
export function Tabs({ label, items, current }: { label: string; items: readonly TabItem[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {items.map(({ key, label: text, href }) => (
        <a key={key} href={href} aria-current={key === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

export function Select<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string])[];
  onChange: (value: T) => void;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A search field that `/` goes to; tells after typing has paused. */
export function Search({
  value,
  onChange,
  label,
  placeholder,
}: {
  value: string;
  onChange: (text: string) => void;
  label: string;
  placeholder?: string;
}) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) setTyped(value);
    sent.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (text: string): void => {
    clearTimeout(timer.current);
    sent.current = text;
    onChange(text);
  };
  return (
    <input
      class="search"
      type="search"
      data-search
      aria-label={label}
      placeholder={placeholder ?? label}
      value={typed}
      spellcheck={false}
      onInput={(event) => {
        const text = event.currentTarget.value;
        setTyped(text);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => send(text), 200);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') send(event.currentTarget.value);
        if (event.key === 'Escape') {
          event.preventDefault();
          if (event.currentTarget.value === '') event.currentTarget.blur();
          setTyped('');
          send('');
        }
      }}
    />
  );
}
