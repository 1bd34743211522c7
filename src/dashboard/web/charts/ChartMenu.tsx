/** What can be done with a chart beside looking at it: log scale, size, values, downloads. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { chartCsv, chartJsonLines } from './exportText.js';
import type { ShownLine } from './types.js';

export interface ChartMenuProps {
  readonly title: string;
  readonly log: boolean;
  readonly onLog: ((log: boolean) => void) | undefined;
  readonly big: boolean;
  readonly onBig: ((big: boolean) => void) | undefined;
  readonly table: boolean;
  readonly onTable: () => void;
  readonly picture: () => Promise<Blob | null>;
  readonly lines: () => readonly ShownLine[];
  readonly xName: string;
  readonly fileName: string;
}

export function ChartMenu({ title, log, onLog, big, onBig, table, onTable, picture, lines, xName, fileName }: ChartMenuProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const close = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [open]);
  const named = (): { label: string; points: ShownLine['points'] }[] => lines().map(({ line, points }) => ({ label: line.label, points }));
  const done = (act: () => void) => () => {
    setOpen(false);
    button.current?.focus();
    act();
  };
  const file = `${fileName.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80)}`;
  const savePng = async (): Promise<void> => {
    const blob = await picture();
    if (blob !== null) save(blob, `${file}.png`);
  };
  return (
    <div
      class="menu"
      role="group"
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.preventDefault();
        setOpen(false);
        button.current?.focus();
      }}
    >
      {onBig !== undefined && (
        <button
          type="button"
          class="quiet"
          aria-pressed={big}
          aria-label={`Large: ${title}`}
          title={big ? 'Smaller' : 'Larger'}
          onClick={() => onBig(!big)}
        >
          {big ? '⤡' : '⤢'}
        </button>
      )}
      <button
        type="button"
        class="quiet"
        ref={button}
        aria-expanded={open}
        aria-label={`More: ${title}`}
        title="Scale, values, downloads"
        onClick={() => setOpen(!open)}
      >
        ⋯
      </button>
      {open && (
        <div class="menu-list">
          {onLog !== undefined && (
            <button type="button" aria-pressed={log} onClick={done(() => onLog(!log))}>
              {log ? 'Linear scale' : 'Logarithmic scale'}
            </button>
          )}
          <button type="button" aria-pressed={table} onClick={done(onTable)}>
            {table ? 'Hide the values' : 'Show the values'}
          </button>
          <button type="button" onClick={done(savePng)}>
            Save as PNG
          </button>
          <button type="button" onClick={done(() => save(new Blob([chartCsv(xName, named())], { type: 'text/csv' }), `${file}.csv`))}>
            Save as CSV
          </button>
          <button
            type="button"
            onClick={done(() => save(new Blob([chartJsonLines(xName, named())], { type: 'application/jsonl' }), `${file}.jsonl`))}
          >
            Save as JSON Lines
          </button>
        </div>
      )}
    </div>
  );
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
