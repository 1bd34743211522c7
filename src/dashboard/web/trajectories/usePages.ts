/** Rows of a long list, fetched page by page as they come into sight. Keeps a bounded number of pages, and the old rows until new ones are there. */
import { useCallback, useEffect, useReducer, useRef } from 'preact/hooks';
import { ApiError, getJson } from '../client.js';
import { connection } from '../live.js';

export const PAGE_ROWS = 100;
const KEPT_PAGES = 40;
/** The server reads an older run through a slice at a time, and says in its note how much is to come: we ask again while that changes. */
const ASK_AGAIN_MS = 500;

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly atLeast?: boolean;
  readonly note?: string;
}

export interface Pages<Row> {
  readonly rowAt: (index: number) => Row | undefined;
  /** Undefined until the first page is there. */
  readonly total: number | undefined;
  readonly atLeast: boolean;
  readonly note: string | undefined;
  readonly error: ApiError | undefined;
  /** Of what is shown: to be the list's key, so that it begins anew with other rows. */
  readonly shown: string;
  /** Whether what is shown belongs to the filter before. */
  readonly stale: boolean;
  /** To be told which rows are in sight. */
  readonly onRange: (first: number, last: number) => void;
  readonly reload: () => void;
}

interface State<Row> {
  /** Of what is shown, and of what is being asked. */
  shown: string | undefined;
  wanted: string;
  pages: Map<number, readonly Row[]>;
  head: Omit<Page<Row>, 'rows'> | undefined;
  error: ApiError | undefined;
  asked: Map<number, AbortController>;
  range: readonly [number, number];
}

/** `pathOf` gives the server's path of the rows from `offset` on; `key` changes where the filter does. */
export function usePages<Row>(
  key: string,
  pathOf: (offset: number, limit: number) => string,
  read: (answer: never) => Page<Row>,
): Pages<Row> {
  const [, draw] = useReducer<number, void>((count) => count + 1, 0);
  const state = useRef<State<Row>>({
    shown: undefined,
    wanted: key,
    pages: new Map(),
    head: undefined,
    error: undefined,
    asked: new Map(),
    range: [0, PAGE_ROWS - 1],
  });
  const asking = useRef({ pathOf, read });
  asking.current = { pathOf, read };

  const ask = useCallback((page: number): void => {
    const own = state.current;
    if (own.asked.has(page)) return;
    const abort = new AbortController();
    own.asked.set(page, abort);
    const { wanted } = own;
    const done = (): void => {
      if (own.asked.get(page) === abort) own.asked.delete(page);
    };
    getJson<never>(asking.current.pathOf(page * PAGE_ROWS, PAGE_ROWS), abort.signal).then(
      (answer) => {
        done();
        if (abort.signal.aborted || own.wanted !== wanted) return;
        const { rows, ...head } = asking.current.read(answer);
        if (own.shown !== wanted) own.pages = new Map();
        own.shown = wanted;
        own.head = head;
        own.error = undefined;
        own.pages.delete(page);
        own.pages.set(page, rows);
        for (const oldest of own.pages.keys()) {
          if (own.pages.size <= KEPT_PAGES) break;
          if (!isNear(oldest, own.range)) own.pages.delete(oldest);
        }
        draw();
      },
      (error: unknown) => {
        done();
        if (abort.signal.aborted || own.wanted !== wanted) return;
        own.error = error instanceof ApiError ? error : new ApiError(String(error), 0);
        draw();
      },
    );
  }, []);

  const askRange = useCallback(
    (again: boolean): void => {
      const { range, pages, shown, wanted, error } = state.current;
      if (error !== undefined && !again) return;
      for (let page = Math.floor(range[0] / PAGE_ROWS); page <= Math.floor(range[1] / PAGE_ROWS); page++) {
        if (again || shown !== wanted || !pages.has(page)) ask(page);
      }
    },
    [ask],
  );

  useEffect(() => {
    const own = state.current;
    for (const abort of own.asked.values()) abort.abort();
    own.asked.clear();
    if (own.wanted !== key) own.range = [0, PAGE_ROWS - 1];
    own.wanted = key;
    own.error = undefined;
    askRange(true);
    return () => {
      for (const abort of own.asked.values()) abort.abort();
      own.asked.clear();
    };
  }, [key, askRange]);

  const onRange = useCallback(
    (first: number, last: number) => {
      if (state.current.shown !== undefined && state.current.shown !== state.current.wanted) return;
      state.current.range = [first, last];
      askRange(false);
    },
    [askRange],
  );
  const reload = useCallback(() => {
    const own = state.current;
    own.error = undefined;
    for (const page of [...own.pages.keys()]) if (!isNear(page, own.range)) own.pages.delete(page);
    askRange(true);
  }, [askRange]);
  const silent = state.current.error?.status === 0;
  useEffect(() => (silent ? connection.subscribe(() => connection.get() === 'open' && reload()) : undefined), [silent, reload]);

  const { pages, head, error, shown } = state.current;
  const note = head?.note;
  useEffect(() => {
    if (note === undefined) return undefined;
    const timer = setTimeout(reload, ASK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [note, reload]);
  return {
    rowAt: (index) => pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS],
    total: head?.total,
    atLeast: head?.atLeast ?? false,
    note,
    error,
    shown: shown ?? '',
    stale: shown !== undefined && shown !== key,
    onRange,
    reload,
  };
}

const isNear = (page: number, [first, last]: readonly [number, number]): boolean =>
  page >= Math.floor(first / PAGE_ROWS) - 1 && page <= Math.floor(last / PAGE_ROWS) + 1;
