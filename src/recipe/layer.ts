/** One source of a recipe's values (a YAML file, a `--set` option, an object) with where each value was written. Does not validate. */
import { readFileSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { type Document, isAlias, isMap, isSeq, LineCounter, type Node, parse, parseDocument } from 'yaml';
import { UserError } from '../userError.js';
import type { Locate } from './explain.js';
import { takesMap } from './jsonShape.js';
import { isPlain, type Plain } from './merge.js';

export interface Layer {
  /** As it is shown to people. */
  readonly name: string;
  readonly values: Plain;
  readonly locate: Locate;
}

/** @throws UserError where the file is missing, is not YAML (file and line named), or holds no map */
export function readLayer(path: string): Layer {
  const file = shortest(path);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const missing = (error as { code?: unknown }).code === 'ENOENT';
    throw new UserError(missing ? `There is no file ${file}.` : `${file} cannot be read: ${(error as Error).message}.`, 'Check the path.');
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [fault] = document.errors;
  if (fault) {
    const { line } = lines.linePos(fault.pos[0]);
    throw new UserError(`${file}:${line}: this is not valid YAML: ${fault.message}`, 'Correct the line; indentation is by spaces.');
  }
  let values: unknown;
  try {
    values = document.toJS();
  } catch (error) {
    throw new UserError(`${file}: this is not valid YAML: ${(error as Error).message}`, 'Check its anchors and aliases.');
  }
  if (!isPlain(values))
    throw new UserError(`${file} is not a recipe: it must be a map of keys and values.`, 'Start from one of the packaged recipes.');
  refuseProto(values, file);
  return {
    name: file,
    values,
    locate: (path) => {
      const offset = offsetOf(document, path);
      return offset === undefined ? undefined : `${file}:${lines.linePos(offset).line}`;
    },
  };
}

/**
 * One `--set a.b=c`; c is read as YAML, an empty c is the empty text.
 * @param below what it is laid over: a dotted path may not lead through a text or a number
 */
export function setLayer(assignment: string, below: Plain): Layer {
  const equals = assignment.indexOf('=');
  const path = assignment.slice(0, Math.max(equals, 0)).trim().split('.');
  const name = `--set ${assignment}`;
  if (equals < 1 || path.some((key) => key === ''))
    throw new UserError(`${name} has not the form --set a.b=value.`, 'For example: --set rl.steps=20');
  const text = assignment.slice(equals + 1);
  let value: unknown;
  try {
    value = text.trim() === '' ? '' : parse(text);
  } catch (error) {
    throw new UserError(
      `${name}: the value is not valid YAML: ${(error as Error).message.split('\n')[0]}`,
      'Put it in quotes to make it text.',
    );
  }
  let at: unknown = below;
  for (const [i, key] of path.slice(0, -1).entries()) {
    at = isPlain(at) ? at[key] : undefined;
    const here = path.slice(0, i + 1);
    if (at !== undefined && at !== null && !isPlain(at) && takesMap(here)) {
      throw new UserError(
        `${name}: ${here.join('.')} is ${JSON.stringify(at)} here, so it has no ${path[i + 1]}.`,
        `Set it as a whole: --set '${here.join('.')}={ ... }'`,
      );
    }
  }
  const values = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Plain;
  refuseProto(values, name);
  const written = path.join('.');
  return {
    name,
    values,
    locate: (place) => {
      const dotted = place.join('.');
      return dotted === written || dotted.startsWith(`${written}.`) ? name : undefined;
    },
  };
}

export const objectLayer = (values: Plain): Layer => ({ name: 'the given object', values, locate: () => undefined });

/** Where a place was written: by the last layer that did. */
export const locateIn =
  (layers: readonly Layer[]): Locate =>
  (path) => {
    for (const layer of layers.toReversed()) {
      const place = layer.locate(path);
      if (place !== undefined) return place;
    }
    return undefined;
  };

function offsetOf(document: Document, path: readonly (string | number)[]): number | undefined {
  let node = document.contents as Node | null | undefined;
  let offset: number | undefined;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document) as Node | undefined;
    if (isMap(node)) {
      const pair = node.items.find((item) => String((item.key as { value?: unknown } | null)?.value) === String(key));
      if (!pair) return undefined;
      offset = (pair.key as Node).range?.[0];
      node = pair.value as Node | null;
    } else if (isSeq(node) && typeof key === 'number') {
      node = node.items[key] as Node | undefined;
      offset = node?.range?.[0] ?? offset;
    } else return undefined;
  }
  return offset;
}

function shortest(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}

/** Merging must not reach prototypes. */
function refuseProto(values: unknown, where: string): void {
  if (typeof values !== 'object' || values === null) return;
  for (const [key, value] of Object.entries(values)) {
    if (key === '__proto__') throw new UserError(`${where}: unknown key __proto__.`);
    refuseProto(value, where);
  }
}
