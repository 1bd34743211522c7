/**
 * A table of any length: only the rows in sight are on the page. One row is active: arrows or j and k move it, Enter opens it, Space selects
 * it. Does not fetch and does not sort by itself: it tells what is asked for.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { navigate } from '../navigation.js';
import { useShortcuts } from '../shortcuts.js';
import { useMedia } from '../useMedia.js';

export interface Column<Row> {
  readonly key: string;
  readonly title: ComponentChildren;
  readonly cell: (row: Row, index: number) => ComponentChildren;
  /** A grid track; `minmax(0, 1fr)` where absent. */
  readonly width?: string;
  readonly align?: 'right' | 'center';
  /** Whether a click on its head sorts by it. */
  readonly sortable?: boolean;
  /** Left out where the window is narrow. */
  readonly wide?: boolean;
  readonly hint?: string;
}

export interface Sort {
  readonly key: string;
  readonly descending: boolean;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly count: number;
  /** Undefined while it is being fetched. */
  readonly rowAt: (index: number) => Row | undefined;
  readonly keyOf: (row: Row, index: number) => string | number;
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
  /** Where a row leads. */
  readonly hrefOf?: (row: Row, index: number) => string;
  readonly selected?: (row: Row) => boolean;
  readonly onSelect?: (row: Row, index: number) => void;
  /** Rows in sight, for those who fetch by pages. */
  readonly onRange?: (first: number, last: number) => void;
  readonly rowHeight?: number;
  /** j, k and Enter work from anywhere on the page. One table of a view. */
  readonly primary?: boolean;
  readonly rowClass?: (row: Row) => string;
  /** A row that is one cell over all columns, for example a heading. */
  readonly wholeRow?: (row: Row) => ComponentChildren | undefined;
  /** CSS class of the scrolling box, for its height. */
  readonly class?: string;
  readonly empty?: ComponentChildren;
  /** Under this name the table keeps its place while it is away, for coming back to where one was. */
  readonly rememberAs?: string;
  /** The row that is active at first. */
  readonly initialIndex?: number;
  readonly onActive?: (index: number) => void;
}

const OVERSCAN = 6;
const places = new Map<string, { readonly top: number; readonly active: number }>();

export function Table<Row>(props: TableProps<Row>) {
  const { label, count, rowAt, keyOf, sort, onSort, hrefOf, selected, onSelect, onRange, rowHeight = 32, primary = false } = props;
  const narrow = useMedia('(max-width: 720px)');
  const columns = narrow ? props.columns.filter(({ wide }) => wide !== true) : props.columns;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const before = props.rememberAs === undefined ? undefined : places.get(props.rememberAs);
  const [active, setActive] = useState(props.initialIndex ?? before?.active ?? -1);
  const left = useRef({ top: 0, active: -1 });
  left.current.active = active;
  const last = Math.max(0, count - 1);
  const at = Math.min(active, count - 1);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    if (props.initialIndex !== undefined) element.scrollTop = Math.max(0, props.initialIndex * rowHeight - element.clientHeight / 2);
    else if (before !== undefined) element.scrollTop = before.top;
    measure();
    return () => {
      watch.disconnect();
      if (props.rememberAs !== undefined) places.set(props.rememberAs, left.current);
    };
  }, []);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - OVERSCAN);
  const end = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + OVERSCAN);
  useEffect(() => {
    if (count > 0) onRange?.(first, Math.max(first, end - 1));
  }, [first, end, count, onRange]);

  const move = (to: number): void => {
    if (count === 0) return;
    const next = Math.max(0, Math.min(last, to));
    setActive(next);
    props.onActive?.(next);
    const element = box.current;
    if (element === null) return;
    const head = element.querySelector<HTMLElement>('.table-head')?.offsetHeight ?? 0;
    const top = next * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight + head > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight + head - element.clientHeight;
  };
  const open = (index: number): boolean => {
    const row = index < 0 ? undefined : rowAt(index);
    if (row === undefined || hrefOf === undefined) return false;
    navigate(hrefOf(row, index));
    return true;
  };
  const select = (index: number): boolean => {
    const row = index < 0 ? undefined : rowAt(index);
    if (row === undefined || onSelect === undefined) return false;
    onSelect(row, index);
    return true;
  };
  const page = Math.max(1, Math.floor(view.height / rowHeight) - 2);
  const onKeyDown = (event: KeyboardEvent): void => {
    const inside = event.target !== event.currentTarget;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), PageDown: at + page, PageUp: at - page, Home: 0, End: last }[event.key];
    if (to !== undefined) move(to);
    else if (inside || !((event.key === 'Enter' && open(at)) || (event.key === ' ' && select(at)))) return;
    event.preventDefault();
  };

  useShortcuts(
    `Rows: ${label}`,
    primary
      ? [
          { keys: 'j', label: 'next row (also ↓)', run: () => move(at + 1) },
          { keys: 'k', label: 'row before (also ↑)', run: () => move(at < 0 ? 0 : at - 1) },
          ...(hrefOf ? [{ keys: 'Enter', label: 'open the row', run: () => (fromElsewhere() ? open(at) : false) }] : []),
          ...(onSelect ? [{ keys: 'x', label: 'select the row (also Space)', run: () => select(at) }] : []),
        ]
      : [],
  );

  const tracks = columns.map(({ width }) => width ?? 'minmax(0, 1fr)').join(' ');
  const rows = [];
  for (let i = first; i < end; i++) {
    const row = rowAt(i);
    const whole = row === undefined ? undefined : props.wholeRow?.(row);
    rows.push(
      <div
        key={row === undefined ? `-${i}` : keyOf(row, i)}
        id={`${id}-${i}`}
        role="row"
        aria-rowindex={i + 2}
        aria-selected={onSelect === undefined ? undefined : row !== undefined && selected?.(row) === true}
        class={`table-row${i === at ? ' active' : ''}${row !== undefined && selected?.(row) ? ' selected' : ''} ${row === undefined ? '' : (props.rowClass?.(row) ?? '')}`}
        style={{ transform: `translateY(${i * rowHeight}px)`, height: `${rowHeight}px` }}
        onClick={(event) => {
          setActive(i);
          props.onActive?.(i);
          if (row === undefined || hrefOf === undefined || isControl(event.target)) return;
          if (getSelection()?.toString()) return;
          if (event.metaKey || event.ctrlKey) window.open(hrefOf(row, i), '_blank', 'noopener');
          else navigate(hrefOf(row, i));
        }}
      >
        {whole !== undefined && (
          <div role="gridcell" aria-colspan={columns.length} class="table-cell table-whole">
            {whole}
          </div>
        )}
        {(whole === undefined ? columns : []).map((column) => (
          <div key={column.key} role="gridcell" class={`table-cell ${column.align ?? ''}`}>
            {row === undefined ? <span class="faint">…</span> : column.cell(row, i)}
          </div>
        ))}
      </div>,
    );
  }
  return (
    <div
      class={`table ${props.class ?? ''}`}
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-multiselectable={onSelect === undefined ? undefined : true}
      aria-activedescendant={at >= first && at < end ? `${id}-${at}` : undefined}
      tabIndex={0}
      ref={box}
      style={{ '--tracks': tracks }}
      onScroll={(event) => {
        left.current.top = event.currentTarget.scrollTop;
        setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight });
      }}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" class="table-head">
        <div role="row" class="table-row-head" aria-rowindex={1}>
          {columns.map((column) => (
            <div
              key={column.key}
              role="columnheader"
              class={`table-cell ${column.align ?? ''}`}
              title={column.hint}
              aria-sort={sort?.key === column.key ? (sort.descending ? 'descending' : 'ascending') : undefined}
            >
              {column.sortable === true && onSort !== undefined ? (
                <button
                  type="button"
                  class="table-sort"
                  onClick={() =>
                    onSort({ key: column.key, descending: sort?.key === column.key ? !sort.descending : column.align === 'right' })
                  }
                >
                  {column.title}
                  {sort?.key === column.key && (
                    <span class="table-arrow" aria-hidden="true">
                      {sort.descending ? '↓' : '↑'}
                    </span>
                  )}
                </button>
              ) : (
                column.title
              )}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="table-body" style={{ height: `${count * rowHeight}px` }}>
        {rows}
      </div>
      {count === 0 && <div class="table-empty">{props.empty ?? 'Nothing to show.'}</div>}
    </div>
  );
}

const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, input, select, label') !== null;

/** Enter on a link or a button is theirs. */
const fromElsewhere = (): boolean =>
  document.activeElement === null || document.activeElement === document.body || document.activeElement.id === 'main';
