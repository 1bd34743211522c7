/**
 * The columns of a Parquet file that is to be written: named in a short form, or taken over from a file that was read. Does not look at
 * values.
 */
import { parquetSchema, type SchemaElement, type SchemaTree } from 'hyparquet';
import { isListLike, isMapLike } from 'hyparquet/src/schema.js';
import { UserError } from '../userError.js';

/** Every column and every part of one may be null. */
export type ColumnType =
  | 'text'
  /** Text that is JSON; given as text it is kept to the letter. */
  | 'json'
  /** 64 bits. */
  | 'integer'
  | 'number'
  | 'boolean'
  | 'bytes'
  | { readonly list: ColumnType }
  | { readonly struct: ParquetColumns };

/** By name, in the file's order. */
export type ParquetColumns = Readonly<Record<string, ColumnType>>;

const PLAIN: Record<Extract<ColumnType, string>, Omit<SchemaElement, 'name'>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  json: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  bytes: { type: 'BYTE_ARRAY' },
};

/** As Parquet declares them: the tree, depth first, its root without a type. */
export function elementsOf(columns: ParquetColumns): SchemaElement[] {
  const names = Object.entries(columns);
  return [{ name: 'schema', num_children: names.length }, ...names.flatMap(([name, type]) => elementOf(name, type))];
}

function elementOf(name: string, type: ColumnType): SchemaElement[] {
  if (typeof type === 'string') return [{ name, repetition_type: 'OPTIONAL', ...PLAIN[type] }];
  if ('list' in type) return listOf({ name, repetition_type: 'OPTIONAL' }, elementOf('element', type.list));
  const fields = Object.entries(type.struct);
  return [
    { name, repetition_type: 'OPTIONAL', num_children: fields.length },
    ...fields.flatMap(([field, inner]) => elementOf(field, inner)),
  ];
}

const listOf = (outer: SchemaElement, element: readonly SchemaElement[], repeated = 'list'): SchemaElement[] => [
  { ...outer, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
  { name: repeated, repetition_type: 'REPEATED', num_children: 1 },
  ...element,
];

/** The most that a decimal may have for its number to stand for it exactly. */
const EXACT_DIGITS = 15;

/**
 * The columns of a file that was read, for one that is to hold the same values: old spellings of lists and of times are written in the
 * present one.
 *
 * @throws UserError for a type whose values cannot be kept exactly
 */
export function writableElements(elements: readonly SchemaElement[], name: string): SchemaElement[] {
  const tree = treeOf(elements);
  return [{ ...tree.element, num_children: tree.children.length }, ...tree.children.flatMap((child) => writable(child, name))];
}

export const treeOf = (elements: readonly SchemaElement[]): SchemaTree => parquetSchema({ schema: [...elements] });

function writable(tree: SchemaTree, file: string): SchemaElement[] {
  const { element, children } = tree;
  const refuse = (what: string): UserError =>
    new UserError(
      `the column ${tree.path.join('.')} of ${file} ${what}, which cannot be written back exactly`,
      'Write another format, or convert the column first.',
    );
  if (isListLike(tree)) {
    const repeated = children[0]!;
    const three = repeated.children.length === 1;
    const inner = three
      ? writable(repeated.children[0]!, file)
      : writable({ ...repeated, element: { ...repeated.element, repetition_type: 'REQUIRED' } }, file);
    return listOf(element, inner, three ? repeated.element.name : 'list');
  }
  if (isMapLike(tree)) return [element, children[0]!.element, ...children[0]!.children.flatMap((child) => writable(child, file))];
  if (element.repetition_type === 'REPEATED') throw refuse('repeats outside of a list');
  const { type, converted_type: converted, logical_type: logical } = element;
  if (logical?.type === 'VARIANT' || logical?.type === 'GEOMETRY' || logical?.type === 'GEOGRAPHY')
    throw refuse(`has the type ${logical.type}`);
  if (children.length > 0) return [{ ...element, num_children: children.length }, ...children.flatMap((child) => writable(child, file))];
  if (type === 'INT96') {
    const { type_length: _, ...rest } = element;
    return [{ ...rest, type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' } }];
  }
  if (converted === 'DECIMAL' && (element.precision ?? EXACT_DIGITS + 1) > EXACT_DIGITS)
    throw refuse(`has decimals of ${element.precision} digits`);
  if (converted === 'BSON' || converted === 'INTERVAL') throw refuse(`has the type ${converted}`);
  return [element];
}
