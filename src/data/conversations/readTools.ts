/** The `tools` of a row: OpenAI tool schemas as a nested list or as its JSON text. */
import type { ToolDescription } from '../../tools/jsonSchema.js';
import { broken, checkDepth, isRecord, isText, parseJsonText, shown } from './fields.js';

const HINT = 'A tool is {"type": "function", "function": {"name", "description", "parameters"}}.';

/**
 * @returns undefined where the row has no tools
 * @throws UserError naming the row and the tool
 */
export function readTools(given: unknown, where: string): ToolDescription[] | undefined {
  if (given === undefined || given === null) return undefined;
  const at = `${where}: tools`;
  if (isText(given) && given.trim() === '') return undefined;
  const list = isText(given) ? parseJsonText(given, at) : given;
  if (list === null) return undefined;
  if (!Array.isArray(list)) throw broken(at, 'not a list', HINT);
  checkDepth(list, at, { rounded: true });
  const tools = list.map((item: unknown, i) => readTool(item, `${where}: tool ${i + 1}`));
  const twice = tools.find(({ name }, i) => tools.findIndex((other) => other.name === name) < i);
  if (twice !== undefined) throw broken(at, `two are called ${JSON.stringify(twice.name)}`);
  return tools;
}

function readTool(given: unknown, where: string): ToolDescription {
  const item = isText(given) ? parseJsonText(given, where) : given;
  if (!isRecord(item)) throw broken(where, 'not an object', HINT);
  const { function: inner, type } = item;
  if (type !== undefined && type !== null && type !== 'function') throw broken(where, `type ${shown(type)}, not "function"`, HINT);
  const schema = isText(inner) ? parseJsonText(inner, where) : (inner ?? item);
  if (!isRecord(schema)) throw broken(where, '"function" is not an object', HINT);
  const { name, description } = schema;
  if (!isText(name) || name === '') throw broken(where, 'has no name', HINT);
  if (description !== undefined && description !== null && !isText(description)) throw broken(where, 'its description is not a text', HINT);
  const parameters = isText(schema.parameters) ? parseJsonText(schema.parameters, `${where}: parameters`) : schema.parameters;
  if (parameters !== undefined && parameters !== null && !isRecord(parameters)) throw broken(where, 'its parameters are no object', HINT);
  return { name, description: description ?? '', parameters: withoutNulls(parameters ?? NO_PARAMETERS) as ToolDescription['parameters'] };
}

const NO_PARAMETERS = { type: 'object', properties: {} };

/** Columnar files give every schema the fields of all others, as null. A bound beyond what a number holds is rounded. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value === 'bigint') return Number(value);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]])));
}
