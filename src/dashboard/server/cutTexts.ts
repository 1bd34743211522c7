/** Cuts the long texts in a value, so that a rollout with megabytes of output can be shown; says which, and how long they are. */

export interface Cut {
  /** Path in the value, for example `segmentsOf.0.replies.0.text`. */
  readonly what: string;
  /** Characters of the whole. */
  readonly length: number;
}

/** Characters of one text, and of all of them. */
const MOST = 20_000;
const MOST_TOGETHER = 400_000;

export function cutTexts<T>(whole: T, most = MOST, together = MOST_TOGETHER): { readonly value: T; readonly cut: readonly Cut[] } {
  const cut: Cut[] = [];
  let left = together;
  const walk = (value: unknown, path: string): unknown => {
    if (typeof value === 'string') {
      const length = Math.max(0, Math.min(most, left));
      const kept = value.length <= length ? value : value.slice(0, startOfPair(value, length));
      left -= kept.length;
      if (kept.length < value.length) cut.push({ what: path, length: value.length });
      return kept;
    }
    if (Array.isArray(value)) return value.map((each, i) => walk(each, join(path, String(i))));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each, join(path, key))]));
    }
    return value;
  };
  return { value: walk(whole, '') as T, cut };
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** Not between the two halves of a character. */
function startOfPair(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return at > 0 && code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
