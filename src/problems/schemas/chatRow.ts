/**
 * The form that the verl trainers read, shared by several data sets: `data_source`, `prompt` (messages), `ability`, `reward_model`
 * (`ground_truth`, `style`) and `extra_info`. What a row is follows from the row itself, not from its file.
 */
import type { Problem } from '../../domain/problem.js';
import type { ParquetColumns } from '../../tables/parquetSchema.js';
import { jsonText } from '../../tables/parquetValues.js';
import type { TableRow } from '../../tables/table.js';
import { UserError } from '../../userError.js';
import { idOf, isRecord, objectOf, parsed, sourceOf } from './fields.js';
import { answerGold, type Gold, holdsTests, testsGold } from './gold.js';
import type { RowValues } from './schema.js';

export const CHAT_COLUMNS: ParquetColumns = {
  data_source: 'text',
  prompt: { list: { struct: { content: 'text', role: 'text' } } },
  ability: 'text',
  reward_model: { struct: { ground_truth: 'text', style: 'text' } },
  extra_info: { struct: { index: 'text' } },
};

/** Whether a file has the columns that a row cannot do without. */
export const hasChatColumns = (columns: readonly string[]): boolean => columns.includes('prompt') && columns.includes('reward_model');

/** @throws UserError naming the row */
export function readChatRow({ values, where, number }: TableRow): Problem {
  const source = typeof values.data_source === 'string' && values.data_source !== '' ? values.data_source : sourceOf(where);
  const question = bareQuestion(userText(values.prompt, where).content);
  const { ground_truth: truth } = objectOf(values.reward_model, 'reward_model', where);
  const { ability } = values;
  const extra = typeof values.extra_info === 'string' ? parsed(values.extra_info) : values.extra_info;
  const index = isRecord(extra) ? extra.index : undefined;
  const id = typeof index === 'string' ? idOf(index) : idOf(index) && `${source}:${index}`;
  const code = /code/i.test(source) || (typeof ability === 'string' && /^cod(e|ing)/i.test(ability)) || holdsTests(truth);
  return {
    id: id ?? `${sourceOf(where)}:${number}`,
    question,
    ...(code ? testsGold(truth, where) : answerGold(truth, 'reward_model.ground_truth', question, where)),
    source,
    ...(typeof ability === 'string' && ability !== '' && { tags: { ability } }),
  };
}

interface Message {
  readonly role: string;
  readonly content: string;
}

/** The one message of the user's, and its place. */
function userText(prompt: unknown, where: string): { readonly content: string; readonly index: number | undefined } {
  const wrong = (what: string): UserError =>
    new UserError(`${where}: its prompt ${what}`, 'It must be a text, or a list of {role, content} with one message of the user.');
  const list = typeof prompt === 'string' && /^\s*\[/.test(prompt) ? (parsed(prompt) ?? prompt) : prompt;
  if (typeof list === 'string') {
    if (list.trim() === '') throw wrong('is empty');
    return { content: list, index: undefined };
  }
  if (!Array.isArray(list)) throw wrong(list === null || list === undefined ? 'is missing' : 'is no list of messages');
  if (!list.every((message): message is Message => isRecord(message) && typeof message.content === 'string'))
    throw wrong('holds something that is no message of text');
  const users = list.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  if (users.length !== 1) throw wrong(`has ${users.length === 0 ? 'no message' : `${users.length} messages`} of the user`);
  const { content } = list[users[0]!]!;
  if (content.trim() === '') throw wrong('is empty');
  return { content, index: users[0] };
}

/** Of DAPO-Math's instructions, which ask for a last line `Answer: …` in place of a box, the question alone. */
const ANSWER_LINE = /^[^\n]*\bAnswer: \$Answer\b[^\n]*\n\s*\n(.*?)\n\s*\n[^\n]*"Answer:"[^\n]*$/s;
const bareQuestion = (content: string): string => ANSWER_LINE.exec(content.trim())?.[1]?.trim() ?? content;

/** Whether a text asks for the answer in a last line `Answer: …`. */
export const asksForAnswerLine = (content: unknown): boolean => typeof content === 'string' && ANSWER_LINE.test(content.trim());

export interface ChatStyle {
  /** What `reward_model.style` says of an answer, and of code. */
  readonly style: string;
  readonly ability: Readonly<Record<'math' | 'choice' | 'code', string>>;
}

export function writeChatRow(problem: Problem, original: RowValues | undefined, style: ChatStyle): Record<string, unknown> {
  return original === undefined ? newRow(problem, style) : changedRow(problem, original);
}

function newRow(problem: Problem, { style, ability }: ChatStyle): Record<string, unknown> {
  const kind = problem.kind ?? 'math';
  const { source = kind } = problem;
  return {
    // Graders of this form tell code by its source's name.
    data_source: kind === 'code' && !/code/i.test(source) ? `code-${source}` : source,
    prompt: [{ content: problem.question, role: 'user' }],
    ability: typeof problem.tags?.ability === 'string' ? problem.tags.ability : ability[kind],
    reward_model: { ground_truth: truthOf(problem), style },
    extra_info: { index: problem.id },
  };
}

function truthOf(problem: Problem & Gold): string {
  const { kind, tests, answer, alternatives } = problem;
  if (kind === 'code') return typeof tests === 'string' ? tests : jsonText(tests);
  if (alternatives !== undefined) return JSON.stringify(alternatives);
  return answer ?? '';
}

function changedRow(problem: Problem, original: RowValues): Record<string, unknown> {
  const was = readChatRow({ number: 0, where: 'the original row', values: original });
  const changed: Record<string, unknown> = { ...original };
  if (problem.question !== was.question) changed.prompt = withQuestion(original.prompt, problem.question);
  const sameGold =
    problem.kind === 'code' ? problem.tests === was.tests || truthOf(problem) === truthOf(was) : problem.answer === was.answer;
  if (!sameGold) {
    const model = { ...objectOf(original.reward_model, 'reward_model', 'the original row'), ground_truth: truthOf(problem) };
    changed.reward_model = typeof original.reward_model === 'string' ? jsonText(model) : model;
  }
  return changed;
}

function withQuestion(prompt: unknown, question: string): unknown {
  const { index } = userText(prompt, 'the original row');
  if (index === undefined) return question;
  const list = (typeof prompt === 'string' ? parsed(prompt) : prompt) as readonly Message[];
  const messages = list.map((message, i) => (i === index ? { ...message, content: question } : message));
  return typeof prompt === 'string' ? JSON.stringify(messages) : messages;
}
