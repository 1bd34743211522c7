/** The recipe schema as JSON Schema: which keys a place has, and what a value there must be, in words. Does not validate. */
import { z } from 'zod';
import { recipeSchema } from './schema.js';

interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | false;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly items?: Shape | false;
  readonly prefixItems?: readonly Shape[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
}

type Path = readonly (string | number)[];

const ROOT = z.toJSONSchema(recipeSchema, { io: 'input', unrepresentable: 'any' }) as Shape;

const branches = (shape: Shape): readonly Shape[] => shape.anyOf ?? shape.oneOf ?? [shape];

/** Every form that a place can have; empty where there is no such place. */
function shapesAt(path: Path): Shape[] {
  let shapes: Shape[] = [...branches(ROOT)];
  for (const key of path) {
    shapes = shapes.flatMap((shape) => {
      const child =
        typeof key === 'number'
          ? (shape.prefixItems?.[key] ?? (shape.items || undefined))
          : (shape.properties?.[key] ?? (shape.additionalProperties || undefined));
      return child ? branches(child) : [];
    });
  }
  return shapes;
}

export function keysAt(path: Path): string[] {
  return [...new Set(shapesAt(path).flatMap((shape) => Object.keys(shape.properties ?? {})))];
}

/** Whether a null there is a value of its own, and not just "as if it were not written". */
export const takesNull = (path: Path): boolean => shapesAt(path).some((shape) => shape.type === 'null');

/** Whether a map is one of the forms. */
export const takesMap = (path: Path): boolean => shapesAt(path).some((shape) => shape.properties !== undefined);

/** For example "a whole number of at least 2". */
export function wanted(path: Path): string {
  const words = [...new Set(shapesAt(path).map(describe))];
  return words.length < 2 ? (words[0] ?? 'another value') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

export const takesKind = (path: Path, kind: 'number' | 'boolean' | 'string'): boolean =>
  shapesAt(path).some(
    (shape) =>
      (shape.type === kind && shape.enum === undefined && shape.const === undefined) || (kind === 'number' && shape.type === 'integer'),
  );

/** All dotted paths of the schema whose last key is `key`. */
export function pathsEndingIn(key: string): string[] {
  const found: string[] = [];
  const walk = (shape: Shape, path: string): void => {
    for (const branch of branches(shape)) {
      for (const [name, child] of Object.entries(branch.properties ?? {})) {
        const here = path === '' ? name : `${path}.${name}`;
        if (name === key && !found.includes(here)) found.push(here);
        walk(child, here);
      }
    }
  };
  walk(ROOT, '');
  return found;
}

function describe(shape: Shape): string {
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum) return `one of ${shape.enum.join(', ')}`;
  switch (shape.type) {
    case 'integer':
      return `a whole number${bounds(shape, true)}`;
    case 'number':
      return `a number${bounds(shape, false)}`;
    case 'string':
      return shape.format === 'uri' ? 'an address (https://...)' : 'text';
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array':
      if (shape.prefixItems) return `a list of ${shape.prefixItems.length} (${shape.prefixItems.map(describe).join('; ')})`;
      return `a list${shape.minItems ? ' that is not empty' : ''}${shape.items ? ` (each ${branches(shape.items).map(describe).join(' or ')})` : ''}`;
    default:
      if (shape.additionalProperties) return `a map of names to ${describe(shape.additionalProperties)}`;
      return `a map with ${Object.keys(shape.properties ?? {}).join(', ')}`;
  }
}

function bounds(shape: Shape, whole: boolean): string {
  const { minimum, maximum, exclusiveMinimum } = shape;
  const low = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined;
  const high = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined;
  const from = exclusiveMinimum !== undefined && whole ? exclusiveMinimum + 1 : low;
  if (from !== undefined && high !== undefined) return ` from ${from} to ${high}`;
  if (from !== undefined) return ` of at least ${from}`;
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`;
  return high === undefined ? '' : ` of at most ${high}`;
}
