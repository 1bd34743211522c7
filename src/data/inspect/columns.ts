/**
 * What the columns of a table hold: kinds of values and the shape of nested ones, how many are missing, how long texts are, and cells that a
 * spreadsheet would run. Bounded in memory and depth whatever the rows hold.
 */
import type { Count } from './tally.js';
import { Tally } from './tally.js';

export interface ColumnSummary {
  readonly name: string;
  /** For example `text`, `list<{role: text, content: text}>`; several kinds joined by ` | `. */
  readonly type: string;
  /** Rows where it is null or absent. */
  readonly missing: number;
  /** Characters of its texts; absent where it has none. */
  readonly longest?: number;
  /** Its values where there are few different ones. */
  readonly values?: readonly Count[];
  /** Cells that a spreadsheet would run as a formula, and the first of them. */
  readonly formulas?: { readonly count: number; readonly first: string };
}

/** Columns that are told apart; further ones are only counted. */
const MOST_COLUMNS = 500;
const SHAPE_DEPTH = 4;
const SHAPE_FIELDS = 12;
/** Shapes of so many values of a column are looked at. */
const SHAPED_VALUES = 200;
const FEW_VALUES = 12;
const SHORT_VALUE = 60;

interface Column {
  readonly kinds: Set<string>;
  readonly shapes: Set<string>;
  shaped: number;
  present: number;
  longest: number;
  hasText: boolean;
  values: Tally | undefined;
  formulas: number;
  firstFormula: string;
}

export class Columns {
  readonly #columns = new Map<string, Column>();
  #rows = 0;
  #more = 0;

  constructor(names: readonly string[]) {
    for (const name of names) this.#column(name);
  }

  add(values: Readonly<Record<string, unknown>>, where: string): void {
    this.#rows++;
    for (const name of Object.keys(values)) {
      const value = values[name];
      if (value === null || value === undefined) {
        this.#column(name);
        continue;
      }
      const column = this.#column(name);
      if (column !== undefined) addTo(column, value, where);
    }
  }

  summaries(): ColumnSummary[] {
    return [...this.#columns].map(([name, column]) => ({
      name,
      type: typeOf(column),
      missing: this.#rows - column.present,
      ...(column.hasText && { longest: column.longest }),
      ...(column.values !== undefined &&
        column.values.size > 0 &&
        column.present > 2 * column.values.size && { values: column.values.list() }),
      ...(column.formulas > 0 && { formulas: { count: column.formulas, first: column.firstFormula } }),
    }));
  }

  /** Columns beyond those that are told apart. */
  get more(): number {
    return this.#more;
  }

  #column(name: string): Column | undefined {
    const known = this.#columns.get(name);
    if (known !== undefined) return known;
    if (this.#columns.size >= MOST_COLUMNS) {
      this.#more++;
      return undefined;
    }
    const column: Column = {
      kinds: new Set(),
      shapes: new Set(),
      shaped: 0,
      present: 0,
      longest: 0,
      hasText: false,
      values: new Tally(FEW_VALUES + 1),
      formulas: 0,
      firstFormula: '',
    };
    this.#columns.set(name, column);
    return column;
  }
}

function addTo(column: Column, value: NonNullable<unknown>, where: string): void {
  column.present++;
  if (typeof value === 'string') {
    column.hasText = true;
    column.longest = Math.max(column.longest, value.length);
    if (isFormula(value)) {
      if (column.formulas === 0) column.firstFormula = where;
      column.formulas++;
    }
  }
  if (typeof value === 'object') {
    column.values = undefined;
    if (column.shaped < SHAPED_VALUES) {
      column.shaped++;
      column.shapes.add(shapeOf(value, SHAPE_DEPTH));
    }
    return;
  }
  column.kinds.add(kindOf(value));
  const text = String(value);
  if (column.values === undefined) return;
  if (text.length > SHORT_VALUE) column.values = undefined;
  else {
    column.values.add(text);
    if (column.values.size > FEW_VALUES) column.values = undefined;
  }
}

const SHAPES_SHOWN = 3;

function typeOf({ kinds, shapes }: Column): string {
  const plain = [...kinds].filter((kind) => kind !== 'integer' || !kinds.has('number'));
  const all = [...plain, ...merged([...shapes])];
  if (all.length === 0) return 'null';
  return all.length <= SHAPES_SHOWN ? all.join(' | ') : `${all.slice(0, SHAPES_SHOWN).join(' | ')} | …`;
}

/** An empty list says nothing beside a filled one. */
function merged(shapes: readonly string[]): string[] {
  const filled = shapes.filter((shape) => shape !== 'list' && shape !== '{}');
  return filled.length === 0 ? [...shapes] : filled;
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** The shape of a value to a depth; of a list that of its first items. */
export function shapeOf(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value !== 'object') return kindOf(value);
  if (value instanceof Uint8Array) return 'bytes';
  if (depth === 0) return '…';
  if (Array.isArray(value)) {
    if (value.length === 0) return 'list';
    const inner = [...new Set(value.slice(0, SHAPE_FIELDS).map((item: unknown) => shapeOf(item, depth - 1)))];
    return `list<${inner.length <= SHAPES_SHOWN ? inner.join(' | ') : `${inner.slice(0, SHAPES_SHOWN).join(' | ')} | …`}>`;
  }
  const names = Object.keys(value);
  const fields = names
    .slice(0, SHAPE_FIELDS)
    .map((name) => `${short(name)}: ${shapeOf((value as Record<string, unknown>)[name], depth - 1)}`);
  return `{${fields.join(', ')}${names.length > SHAPE_FIELDS ? ', …' : ''}}`;
}

const short = (name: string): string => (name.length > 40 ? `${name.slice(0, 40)}…` : name);

const FORMULA_START = new Set(['=', '+', '-', '@', '\t', '\r']);
const FORMULA = /^[\t\r ]*(?:=\s*|[+@-])(?:@?[A-Za-z][A-Za-z0-9._]*\(|[A-Za-z]+\s*\||\$?[A-Z]{1,3}\$?\d+\b)/;

/** Whether a spreadsheet would run it: a call, a command, a cell. A negative number, `=5` and `-x^2` are none. */
export const isFormula = (text: string): boolean => FORMULA_START.has(text[0] ?? '') && FORMULA.test(text.slice(0, 200));
