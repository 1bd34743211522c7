/**
 * Looks at a set once, row by row, and says what is in it. Holds counts, hashes and a few rows, whatever the size of the file. Changes
 * nothing, runs nothing of it, and does not judge whether it is right: see `../check/`.
 */

import type { Message } from '../../domain/message.js';
import type { Conversation } from '../conversations/conversation.js';
import { findPrivate, maskPrivate, type PrivateKind } from '../privacy.js';
import { openSet, type SetFile, type SetRow } from '../setFile.js';
import { Columns } from './columns.js';
import { ConversationCounter } from './conversationStatistics.js';
import { ExampleDrawer } from './examples.js';
import type { Example, Findings, Inspection, NamedLengths } from './inspection.js';
import { Lengths } from './lengths.js';
import { LevelCounter } from './levels.js';
import { SeenTexts } from './seenTexts.js';
import { Tally } from './tally.js';
import type { TokenMeter } from './tokenMeter.js';

export interface InspectOptions {
  /** Rows, from the first. Default: all. */
  readonly limit?: number;
  /** Measures tokens; without one, lengths are characters. */
  readonly tokens?: TokenMeter;
  /** Rows shown whole, as far as they are short. Default 3. */
  readonly examples?: number;
  /** Rows done, and how many there are, where the file says. */
  readonly onProgress?: (done: number, all: number | undefined) => void;
  readonly signal?: AbortSignal;
}

/** @throws UserError where the file cannot be read; rows that cannot be read are counted */
export async function inspectSet(source: string, options: InspectOptions = {}): Promise<Inspection> {
  const { limit, signal, examples = 3, onProgress } = options;
  const set = await openSet(source);
  const inspector = new Inspector(set, options.tokens, examples);
  const all = limit === undefined ? set.table.rowCount : Math.min(limit, set.table.rowCount ?? limit);
  let done = 0;
  for await (const row of set.rows({ ...(limit !== undefined && { limit }), ...(signal && { signal }) })) {
    inspector.add(row);
    if (++done % 512 === 0) onProgress?.(done, all);
  }
  onProgress?.(done, done);
  return inspector.inspection(source);
}

/** Findings that are shown. */
const SHOWN = 10;
const LABELS_SHOWN = 20;
/** Columns that label a row; of lists every item counts. */
const LABELS = new Set(
  'source data_source kind ability domain subject topic level difficulty label split task task_type type language model teacher stage tags behaviours behaviors'.split(
    ' ',
  ),
);

class First<T> {
  count = 0;
  readonly #first: T[] = [];
  add(item: () => T): void {
    if (this.count++ < SHOWN) this.#first.push(item());
  }
  get findings(): Findings<T> {
    return { count: this.count, first: this.#first };
  }
}

class Inspector {
  readonly #columns: Columns;
  readonly #labels = new Map<string, Tally>();
  readonly #lengths = new Map<string, { readonly lengths: Lengths; readonly unit: NamedLengths['unit'] }>();
  readonly #conversations = new ConversationCounter();
  readonly #levels = new LevelCounter();
  readonly #seen = new SeenTexts();
  readonly #examples: ExampleDrawer;
  readonly #broken = new First<Inspection['broken']['first'][number]>();
  readonly #duplicates = new First<Inspection['duplicates']['first'][number]>();
  readonly #private = new First<Inspection['privacy']['first'][number]>();
  readonly #privateKinds = new Tally();
  #rows = 0;
  #unanswerable = 0;

  constructor(
    private readonly set: SetFile,
    private readonly tokens: TokenMeter | undefined,
    examples: number,
  ) {
    this.#columns = new Columns(set.table.columns);
    this.#examples = new ExampleDrawer(examples);
  }

  add(row: SetRow): void {
    this.#rows++;
    if (row.kind === 'bad') {
      this.#broken.add(() => row.bad);
      if (row.row !== undefined) this.#columns.add(row.row.values, row.row.where);
      return;
    }
    const { values, where, number } = row.row;
    this.#columns.add(values, where);
    for (const [name, value] of Object.entries(values)) {
      if (LABELS.has(name)) this.#label(name, value);
      for (const text of textsIn(value)) this.#lookForPrivate(text, name, where);
    }
    const firstRow = this.#seen.add(identityOf(row), number);
    if (firstRow !== undefined) this.#duplicates.add(() => ({ where, firstRow }));
    this.#examples.add(row);
    this.#measure(row);
  }

  inspection(file: string): Inspection {
    const { table, kind, schema } = this.set;
    const columns = this.#columns.summaries();
    const difficulty = this.#levels.summary();
    return {
      file,
      format: table.format,
      kind,
      ...(schema !== undefined && { schema: schema.name }),
      rows: this.#rows,
      columns,
      furtherColumns: this.#columns.more,
      counts: Object.fromEntries([...this.#labels].map(([name, tally]) => [name, tally.list(LABELS_SHOWN)])),
      lengths: [...this.#lengths].flatMap(([name, { lengths, unit }]) => {
        const summary = lengths.summary();
        return summary === undefined ? [] : [{ name, unit, ...summary }];
      }),
      ...(kind === 'conversations' && { tools: this.#conversations.summary() }),
      ...(kind === 'difficulty profile' && difficulty !== undefined && { difficulty }),
      broken: this.#broken.findings,
      duplicates: { ...this.#duplicates.findings, compared: COMPARED[kind] },
      privacy: { ...this.#private.findings, byKind: this.#privateKinds.list() },
      examples: this.#examples.list().map(masked),
      notes: this.#notes(columns),
    };
  }

  #notes(columns: Inspection['columns']): string[] {
    const notes: string[] = [];
    if (this.#rows === 0) notes.push('It has no rows.');
    if (this.set.kind === 'table' && this.#rows > 0) notes.push('It is in no known form: only its columns are described.');
    if (this.#unanswerable > 0)
      notes.push(`${this.#unanswerable} problems have neither an answer nor tests: only a reward function of yours can judge them.`);
    for (const { name, formulas } of columns)
      if (formulas !== undefined)
        notes.push(
          `${formulas.count} values of ${name} begin as a spreadsheet's formula would (first: ${formulas.first}): do not open the file in one unread.`,
        );
    return notes;
  }

  #label(name: string, value: unknown): void {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const item of items) {
      if (typeof item !== 'string' && typeof item !== 'number' && typeof item !== 'boolean') continue;
      let tally = this.#labels.get(name);
      if (tally === undefined) {
        tally = new Tally();
        this.#labels.set(name, tally);
      }
      tally.add(String(item));
    }
  }

  #lookForPrivate(text: string, column: string, where: string): void {
    for (const { kind, excerpt } of findPrivate(text)) {
      this.#privateKinds.add(kind satisfies PrivateKind);
      this.#private.add(() => ({ where, column, kind, excerpt }));
    }
  }

  #measure(row: Exclude<SetRow, { kind: 'bad' }>): void {
    if (row.kind === 'problem') {
      const { problem } = row;
      if (row.row.values.kind === undefined) this.#label('kind', problem.kind ?? 'math');
      if (row.row.values.source === undefined && row.row.values.data_source === undefined && problem.source !== undefined)
        this.#label('source', problem.source);
      this.#length('question', problem.question.length);
      if (problem.answer !== undefined) this.#length('answer', problem.answer.length);
      else if (problem.tests === undefined || problem.tests === null) this.#unanswerable++;
      if (typeof problem.tests === 'string') this.#length('tests', problem.tests.length);
      if (this.tokens !== undefined) this.#length('prompt', this.tokens.prompt(problem), 'tokens');
    } else if (row.kind === 'conversation') {
      const { conversation } = row;
      this.#conversations.add(conversation);
      let whole = 0;
      let written = 0;
      for (const message of conversation.messages) {
        const length = lengthOf(message);
        whole += length;
        if (message.role === 'assistant') written += length;
      }
      this.#length('conversation', whole);
      this.#length('written by the assistant', written);
      if (this.tokens === undefined) return;
      this.#measureTokens(conversation, this.tokens, row.row.where);
    } else if (this.set.kind === 'difficulty profile') this.#levels.add(row.row.values);
  }

  #measureTokens(conversation: Conversation, meter: TokenMeter, where: string): void {
    try {
      const { prompt, whole, trained } = meter.conversation(conversation);
      this.#length('prompt', prompt, 'tokens');
      this.#length('whole conversation', whole, 'tokens');
      this.#length('trained on', trained, 'tokens');
    } catch (error) {
      const { message } = error as Error;
      this.#broken.add(() => ({ where, error: `the chat template cannot lay out this conversation: ${message}` }));
    }
  }

  #length(name: string, length: number, unit: NamedLengths['unit'] = 'characters'): void {
    let known = this.#lengths.get(name);
    if (known === undefined) {
      known = { lengths: new Lengths(), unit };
      this.#lengths.set(name, known);
    }
    known.lengths.add(length);
  }
}

const COMPARED = {
  problems: 'question and options',
  conversations: 'messages',
  'difficulty profile': 'row',
  table: 'row',
} as const satisfies Record<SetFile['kind'], string>;

function identityOf(row: Exclude<SetRow, { kind: 'bad' }>): string {
  if (row.kind === 'conversation') return JSON.stringify(row.conversation.messages);
  if (row.kind === 'row') return JSON.stringify(row.row.values);
  const { question, options } = row.problem;
  return options === undefined ? question : JSON.stringify([question, options]);
}

function lengthOf(message: Message): number {
  const { content } = message;
  if (message.role !== 'assistant') return content.length;
  const calls = message.toolCalls?.reduce((sum, call) => sum + call.name.length + JSON.stringify(call.arguments).length, 0) ?? 0;
  return content.length + (message.reasoning?.length ?? 0) + calls;
}

/** All texts of a value; the depth is bounded by whoever made the row. */
function* textsIn(value: unknown): Generator<string, void, void> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
    for (const item of Object.values(value)) yield* textsIn(item);
}

const masked = ({ where, parts }: Example): Example => ({
  where,
  parts: parts.map(({ name, text }) => ({ name, text: maskPrivate(text) })),
});
