/**
 * Finds Parquet columns for rows of any shape. Keeps the shapes alone, not the rows. Where the values of a column do not share one shape, or
 * their objects have very many different keys, the column is JSON text.
 */
import type { ColumnType, ParquetColumns } from './parquetSchema.js';

/** What was seen in one place. */
interface Shape {
  text: boolean;
  integer: boolean;
  /** An integer that no double holds. */
  long: boolean;
  number: boolean;
  boolean: boolean;
  bytes: boolean;
  /** A list without elements has a shape of nothing. */
  list: Shape | undefined;
  struct: Map<string, Shape> | undefined;
}

const nothing = (): Shape => ({
  text: false,
  integer: false,
  long: false,
  number: false,
  boolean: false,
  bytes: false,
  list: undefined,
  struct: undefined,
});

/** An object with more different keys over all rows is a dictionary, not a struct. */
const MOST_KEYS = 64;
const DEEPEST = 16;

export class ColumnInference {
  readonly #columns = new Map<string, Shape>();

  add(values: Readonly<Record<string, unknown>>): void {
    for (const name in values) {
      if (values[name] !== undefined) look(shapeIn(this.#columns, name), values[name], 0);
    }
  }

  columns(): ParquetColumns {
    return Object.fromEntries([...this.#columns].map(([name, shape]) => [name, typeOf(shape) ?? 'json']));
  }
}

function shapeIn(shapes: Map<string, Shape>, name: string): Shape {
  let shape = shapes.get(name);
  if (shape === undefined) {
    shape = nothing();
    shapes.set(name, shape);
  }
  return shape;
}

function look(shape: Shape, value: unknown, depth: number): void {
  if (value === null || value === undefined) return;
  if (typeof value === 'string') shape.text = true;
  else if (typeof value === 'boolean') shape.boolean = true;
  else if (typeof value === 'bigint') {
    shape.integer = true;
    shape.long = true;
    // Beyond 64 bits: only JSON has room for it.
    if (BigInt.asIntN(64, value) !== value) shape.number = true;
  } else if (typeof value === 'number') {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) shape.integer = true;
    else shape.number = true;
  } else if (value instanceof Uint8Array) shape.bytes = true;
  else if (Array.isArray(value)) {
    shape.list ??= nothing();
    if (depth < DEEPEST) for (const inner of value) look(shape.list, inner, depth + 1);
  } else {
    shape.struct ??= new Map();
    if (depth >= DEEPEST || shape.struct.size > MOST_KEYS) return;
    for (const [name, inner] of Object.entries(value)) if (inner !== undefined) look(shapeIn(shape.struct, name), inner, depth + 1);
  }
}

/** Undefined where there is none but JSON. */
function typeOf(shape: Shape, depth = 0): ColumnType | undefined {
  const { text, integer, long, number, boolean, bytes, list, struct } = shape;
  const kinds = [text, integer || number, boolean, bytes, list !== undefined, struct !== undefined].filter(Boolean).length;
  if (kinds === 0) return 'text';
  if (kinds > 1 || depth >= DEEPEST) return undefined;
  if (text) return 'text';
  if (boolean) return 'boolean';
  if (bytes) return 'bytes';
  if (number) return long ? undefined : 'number';
  if (integer) return 'integer';
  if (list !== undefined) {
    const inner = typeOf(list, depth + 1);
    return inner === undefined ? undefined : { list: inner };
  }
  if (struct!.size === 0 || struct!.size > MOST_KEYS) return undefined;
  const fields: [string, ColumnType][] = [];
  for (const [name, inner] of struct!) {
    const type = typeOf(inner, depth + 1);
    if (type === undefined) return undefined;
    fields.push([name, type]);
  }
  return { struct: Object.fromEntries(fields) };
}
