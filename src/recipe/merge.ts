/** Plain values read from YAML: laid over each other, flattened, compared. Does not validate. */

export type Plain = { [key: string]: unknown };

export const isPlain = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Another `kind`, or a `file` in place of a `teacher`: mixing the fields of two forms would make a third that nobody wrote. */
const changesForm = (base: Plain, over: Plain): boolean =>
  ('kind' in over && over.kind !== base.kind) || ['file', 'teacher'].some((key) => key in over && !(key in base) && !('kind' in base));

/** `over` on `base`: maps key by key, everything else replaced, and so is a map that changes its form. */
export function merge(base: Plain, over: Plain): Plain {
  const result: Plain = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = base[key];
    result[key] = isPlain(value) && isPlain(below) && !changesForm(below, value) ? merge(below, value) : value;
  }
  return result;
}

/** Each leaf by its dotted path; lists are leaves. */
export function flatten(value: Plain, path = ''): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  for (const [key, child] of Object.entries(value)) {
    const here = path === '' ? key : `${path}.${key}`;
    if (child === undefined) continue;
    if (isPlain(child) && Object.keys(child).length > 0) for (const [k, v] of flatten(child, here)) leaves.set(k, v);
    else leaves.set(here, child);
  }
  return leaves;
}

/** `undefined` stands for "not there". */
export interface Difference {
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

/** Leaves that differ, in the order of `was`, then the new ones. */
export function differences(was: Plain, is: Plain): Difference[] {
  const before = flatten(was);
  const after = flatten(is);
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths]
    .filter((path) => JSON.stringify(before.get(path)) !== JSON.stringify(after.get(path)))
    .map((path) => ({ path, was: before.get(path), is: after.get(path) }));
}

/** A value as a person would write it in YAML, on one line. */
export function show(value: unknown): string {
  if (value === undefined) return 'absent';
  if (typeof value === 'string') return /^[\w./ -]+$/.test(value) ? value : JSON.stringify(value);
  if (typeof value === 'number' && value !== 0 && Math.abs(value) < 1e-3) return value.toExponential();
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (isPlain(value)) {
    const fields = Object.entries(value).filter(([, v]) => v !== undefined);
    return `{ ${fields.map(([k, v]) => `${k}: ${show(v)}`).join(', ')} }`;
  }
  return String(value);
}
