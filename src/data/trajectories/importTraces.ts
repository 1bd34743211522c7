/**
 * Logs of chat completions as an SFT set: conversations that are whole, said once, with a result for each call. Reads each file twice and
 * holds no conversation. What is private is always told; it is written only where that was asked for. Does not judge whether an answer was
 * right.
 */
import { basename, extname } from 'node:path';
import type { Log } from '../../session/withRun.js';
import { openTable } from '../../tables/openTable.js';
import type { TableRow } from '../../tables/table.js';
import { createTable, refuseOverwrite, type TableWriter } from '../../tables/writeTable.js';
import { UserError } from '../../userError.js';
import { type DataCard, writeCard } from '../card.js';
import { checkConversation } from '../check/checkConversation.js';
import { conversationRow } from '../conversations/conversationRow.js';
import type { PrivateKind } from '../privacy.js';
import { privateIn, redacted } from './redact.js';
import { readTrace, type Trace } from './traceRow.js';
import { TraceStages } from './traceStages.js';

export interface ImportOptions {
  readonly files: readonly string[];
  /** The set: `.parquet` or `.jsonl`. */
  readonly out: string;
  readonly force?: boolean;
  /** End at the first bad row. */
  readonly strict?: boolean;
  /** What to do with what is private: nothing is written where it is absent and there is any. */
  readonly private?: 'keep' | 'redact';
  readonly log?: Log;
  readonly onProgress?: (what: string, done: number, all: number) => void;
  readonly signal?: AbortSignal;
}

export interface ImportReport {
  readonly file: string;
  readonly card: string;
  readonly sources: readonly { readonly name: string; readonly rows: number; readonly kept: number }[];
  /** Rows that are no conversation; rows whose messages or calls do not fit together. */
  readonly unreadable: number;
  readonly faulty: number;
  /** Rows that a longer one begins with; rows that say what an earlier one does. */
  readonly stages: number;
  readonly repeated: number;
  readonly rows: number;
  readonly calls: number;
  readonly rowsWithoutCall: number;
  /** Rows in which a tool is called that they do not list, or otherwise than its schema says. They are kept. */
  readonly doubtfulCalls: number;
  /** Answers beside the first of a response, which were left out. */
  readonly otherChoices: number;
  /** What is private in the rows that were kept, by kind; replaced where that was asked for. */
  readonly private: Readonly<Partial<Record<PrivateKind, number>>>;
  readonly redacted: boolean;
}

/** Bad rows and private places that are told one by one. */
const TOLD = 10;

/** @throws UserError for a file that cannot be read, a bad row where `strict`, and where something private is found and nothing said of it */
export async function importTraces(options: ImportOptions): Promise<ImportReport> {
  const { files, out, force = false } = options;
  refuseOverwrite(out, force);
  const stages = new TraceStages();
  const work = new Import(options, stages);
  const names = [...new Set(files)];
  for (const file of names)
    for await (const trace of work.traces(file, 'reading')) if (brokenBy(trace) === undefined) stages.add(trace.messages);
  const table = await createTable(out, { force });
  try {
    for (const file of names) await work.write(file, table);
    work.refusePrivate();
    if (work.counts.rows === 0) throw new UserError('there is no whole conversation in it: nothing is written', work.whyEmpty());
    await table.close();
  } catch (error) {
    await table.discard();
    throw error;
  }
  const report = { ...work.counts, sources: work.sources, private: work.private, redacted: options.private === 'redact', file: out };
  return { ...report, card: await writeCard(out, cardOf(report)) };
}

interface Source {
  name: string;
  rows: number;
  kept: number;
}

class Import {
  readonly #sources = new Map<string, Source>();
  readonly private: Partial<Record<PrivateKind, number>> = {};
  readonly counts = {
    unreadable: 0,
    faulty: 0,
    stages: 0,
    repeated: 0,
    rows: 0,
    calls: 0,
    rowsWithoutCall: 0,
    doubtfulCalls: 0,
    otherChoices: 0,
  };
  readonly #places: string[] = [];
  readonly #log: Log;
  readonly #told = new Map<string, number>();
  readonly #textTools: boolean;

  constructor(
    private readonly options: ImportOptions,
    private readonly stages: TraceStages,
  ) {
    this.#log = options.log ?? (() => undefined);
    // The schemas of many tools have no columns in common.
    this.#textTools = extname(options.out).toLowerCase() === '.parquet';
  }

  get sources(): readonly Source[] {
    return [...this.#sources.values()];
  }

  /** Readable ones; bad rows are told and counted in the first pass alone. */
  async *traces(file: string, pass: 'reading' | 'writing'): AsyncGenerator<Trace & { readonly where: string }, void, void> {
    const { strict = false, signal, onProgress } = this.options;
    const table = await openTable(file);
    const source = this.#sources.get(file) ?? { name: basename(file), rows: 0, kept: 0 };
    this.#sources.set(file, source);
    const bad = (where: string, error: string): void => {
      if (pass === 'writing') return;
      source.rows++;
      this.counts.unreadable++;
      this.#tell('unreadable', `${where}: ${error}`);
    };
    const reading = { ...(!strict && { onBad: ({ where, error }: { where: string; error: string }) => bad(where, error) }) };
    for await (const batch of table.batches({ ...reading, ...(signal && { signal }) })) {
      for (const row of batch) {
        const trace = this.#read(row, bad);
        if (trace === undefined) continue;
        if (pass === 'reading') source.rows++;
        yield { ...trace, where: row.where };
      }
      onProgress?.(pass, batch.at(-1)?.number ?? 0, table.rowCount ?? batch.at(-1)?.number ?? 0);
    }
  }

  async write(file: string, table: TableWriter): Promise<void> {
    const source = this.#sources.get(file)!;
    for await (const trace of this.traces(file, 'writing')) {
      const standing = this.stages.standing(trace.messages);
      if (standing !== 'whole') {
        this.counts[standing === 'stage' ? 'stages' : 'repeated']++;
        continue;
      }
      if (!this.#sound(trace)) continue;
      await table.write(this.#row(trace, source));
      source.kept++;
    }
  }

  /** @throws UserError with the places */
  refusePrivate(): void {
    if (this.options.private !== undefined || this.#places.length === 0) return;
    const all = Object.entries(this.private).map(([kind, count]) => `${count} ${kind}`);
    const more = Object.values(this.private).reduce((sum, count) => sum + count, 0) - this.#places.length;
    throw new UserError(
      `there is what should not be passed on (${all.join(', ')}); nothing is written:\n${this.#places.map((place) => `  ${place}`).join('\n')}${more > 0 ? `\n  and ${more} more` : ''}`,
      'Replace it by --redact, or keep it by --allow-private.',
    );
  }

  whyEmpty(): string {
    const { unreadable, faulty } = this.counts;
    return `${unreadable} rows cannot be read, in ${faulty} messages and calls do not fit together.`;
  }

  #read(row: TableRow, bad: (where: string, error: string) => void): Trace | undefined {
    try {
      return readTrace(row);
    } catch (error) {
      if (!(error instanceof UserError) || this.options.strict) throw error;
      bad(row.where, error.message.replace(`${row.where}: `, ''));
      return undefined;
    }
  }

  #sound(trace: Trace & { readonly where: string }): boolean {
    const broken = brokenBy(trace);
    if (broken !== undefined) {
      const text = `${trace.where}: ${broken.detail}`;
      if (this.options.strict) throw new UserError(text);
      this.counts.faulty++;
      this.#tell('faulty', text);
      return false;
    }
    const faults = checkConversation(trace, {});
    if (faults.length > 0) {
      this.counts.doubtfulCalls++;
      this.#tell('doubtful', `${trace.where}: ${faults[0]!.detail}; kept`);
    }
    return true;
  }

  #row(given: Trace & { readonly where: string }, { name }: Source): Record<string, unknown> {
    const found = privateIn(given);
    for (const { kind, place, excerpt } of found) {
      this.private[kind] = (this.private[kind] ?? 0) + 1;
      if (this.#places.length < TOLD) this.#places.push(`${given.where}: ${place}: ${kind} ${excerpt}`);
    }
    const trace = this.options.private === 'redact' && found.length > 0 ? redacted(given) : given;
    const calls = trace.messages.reduce((sum, message) => sum + (message.role === 'assistant' ? (message.toolCalls?.length ?? 0) : 0), 0);
    this.counts.rows++;
    this.counts.calls += calls;
    if (calls === 0) this.counts.rowsWithoutCall++;
    this.counts.otherChoices += trace.otherChoices;
    const row = conversationRow(trace.messages, trace.tools, { id: trace.id, source: name, model: trace.model ?? null });
    return this.#textTools && row.tools !== undefined ? { ...row, tools: JSON.stringify(row.tools) } : row;
  }

  /** Each kind a few times in words. */
  #tell(kind: string, text: string): void {
    const times = (this.#told.get(kind) ?? 0) + 1;
    this.#told.set(kind, times);
    if (times <= TOLD) this.#log(text, 'warning');
    else if (times === TOLD + 1) this.#log(`further ${kind} rows are only counted`, 'warning');
  }
}

/** Why a conversation is not whole: messages out of order, a call without a result, a result without a call. */
const brokenBy = (trace: Trace) => checkConversation(trace, {}).find(({ kind }) => kind === 'order' || kind === 'result');

function cardOf(report: Omit<ImportReport, 'card'>): DataCard {
  const kinds = Object.entries(report.private);
  const found = kinds.map(([kind, count]) => `${count} ${kind}`).join(', ');
  return {
    title: 'Conversations from logs',
    sources: report.sources,
    filters: [
      { name: 'no readable conversation', removed: report.unreadable },
      { name: 'a longer row begins with it', removed: report.stages },
      { name: 'an earlier row says the same', removed: report.repeated },
      { name: 'messages and calls do not fit together', removed: report.faulty },
    ],
    counts: {
      rows: report.rows,
      calls: report.calls,
      'rows without a call': report.rowsWithoutCall,
      'rows with calls that their tools do not allow': report.doubtfulCalls,
      ...Object.fromEntries(kinds.map(([kind, count]) => [`private: ${kind}`, count])),
    },
    notes: [
      kinds.length === 0
        ? 'No e-mail address and no key was found. Names and other personal data are not looked for.'
        : report.redacted
          ? `Replaced by stand-ins: ${found}. Names and other personal data are not looked for.`
          : `It holds ${found}, kept on request. Do not pass it on.`,
      'Whether the answers are right was not judged.',
    ],
  };
}
