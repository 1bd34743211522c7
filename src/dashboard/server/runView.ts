/**
 * One run as the dashboard sees it: its tables, as far as they can be read. Tables and columns that an older, newer or half-written run
 * lacks are asked for once. Never writes to the run; facts and words that an older run lacks are kept beside it, in the connection's own
 * temporary tables.
 */
import type { TrajectoryRecord } from '../../domain/event.js';
import { decodeBody } from '../../runs/body.js';
import { FACTS, factsOf, searchText } from '../../runs/facts.js';
import { readInfo } from '../../runs/rows.js';
import type { RunInfo } from '../../runs/runInfo.js';
import { type Db, SCHEMA_VERSION, type Viewed } from '../../runs/store.js';

export class RunView {
  readonly folder: string;
  readonly db: Db;
  readonly frozen: boolean;
  readonly version: number;
  /** Rows with a lesser id have no facts and no words in the run itself. */
  readonly factsSince: number;
  readonly #close: () => void;
  readonly #schema: unknown;
  #open = true;
  /** How far the temporary tables have come; undefined before they are made. */
  #indexedTo: number | undefined;

  constructor(folder: string, { db, version, frozen, close }: Viewed) {
    this.folder = folder;
    this.db = db;
    this.version = version;
    this.frozen = frozen;
    this.#close = close;
    this.#schema = db.pragma('main.schema_version', { simple: true });
    this.factsSince = this.#factsSince();
  }

  /** Whether its tables have changed since it was opened: somebody goes on with an older run. */
  outdated(): boolean {
    return !this.#open || this.db.pragma('main.schema_version', { simple: true }) !== this.#schema;
  }

  get indexed(): boolean {
    return this.#indexedTo !== undefined;
  }

  /** Absent where the process that made the file died before the run began. */
  info(): RunInfo | undefined {
    return readInfo(this.db);
  }

  /** Why the run is shown only in part. */
  note(): string | undefined {
    if (this.version > SCHEMA_VERSION) {
      return `Written by a newer version of Toolwise (run format ${this.version}; this one knows ${SCHEMA_VERSION}): some of it may not be shown.`;
    }
    if (this.version < SCHEMA_VERSION) {
      return `Written by an older version of Toolwise (run format ${this.version}; this one writes ${SCHEMA_VERSION}): search and some filters read it through when they are first used.`;
    }
    return undefined;
  }

  /** @throws RangeError where it is stored in a way that this version does not know */
  record(id: number): TrajectoryRecord | undefined {
    const body = this.db.prepare('SELECT body FROM bodies WHERE id = ?').pluck().get(id) as Buffer | undefined;
    return body && decodeBody(body);
  }

  /** SQL of the columns of `FACTS`, and of the tables that hold them: `t` is the row. */
  source(): { readonly from: string; readonly fact: (name: (typeof FACTS)[number]) => string } {
    if (this.factsSince <= 1) return { from: 'trajectories t', fact: (name) => `t.${name}` };
    if (!this.indexed) this.#makeTables();
    const own = this.version >= 2;
    return {
      from: 'trajectories t LEFT JOIN temp.oldFacts f ON f.id = t.id',
      fact: (name) => (own ? `coalesce(t.${name}, f.${name})` : `f.${name}`),
    };
  }

  /** SQL of the ids whose texts match one parameter, an FTS5 expression given as often as the SQL has marks. */
  matching(): { readonly sql: string; readonly marks: number } {
    const parts: string[] = [];
    if (this.version >= 2) parts.push('SELECT rowid FROM main.words WHERE words MATCH ?');
    if (this.factsSince > 1) {
      if (!this.indexed) this.#makeTables();
      parts.push('SELECT rowid FROM temp.oldWords WHERE oldWords MATCH ?');
    }
    return { sql: parts.join(' UNION ALL '), marks: parts.length };
  }

  /**
   * Reads older rows through, a slice at a time, so that the server answers others meanwhile.
   * @returns the rows that remain when the time is up
   */
  async readThrough(milliseconds: number): Promise<number> {
    if (this.factsSince <= 1) return 0;
    if (!this.indexed) this.#makeTables();
    const until = performance.now() + milliseconds;
    while (this.#open && performance.now() < until) {
      if (!this.#readSlice()) return 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return this.db
      .prepare('SELECT count(*) FROM trajectories WHERE id > ? AND id < ?')
      .pluck()
      .get(this.#indexedTo, this.factsSince) as number;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#close();
  }

  #makeTables(): void {
    this.db.exec(`
      CREATE TEMP TABLE oldFacts (id INTEGER PRIMARY KEY, ${FACTS.join(', ')});
      CREATE TEMP TABLE oldProblems (problemId TEXT PRIMARY KEY, question TEXT NOT NULL, answer TEXT) WITHOUT ROWID;
      CREATE VIRTUAL TABLE temp.oldWords USING fts5 (text, content='', detail=none, tokenize='ascii', columnsize=0);
    `);
    this.#indexedTo = 0;
  }

  /** @returns whether there may be more */
  #readSlice(): boolean {
    const rows = this.db
      .prepare('SELECT id, body FROM bodies WHERE id > ? AND id < ? ORDER BY id LIMIT 50')
      .all(this.#indexedTo, this.factsSince) as { id: number; body: Buffer }[];
    const putFacts = this.db.prepare(`INSERT INTO temp.oldFacts (id, ${FACTS.join(', ')}) VALUES (?${', ?'.repeat(FACTS.length)})`);
    const putWords = this.db.prepare('INSERT INTO temp.oldWords (rowid, text) VALUES (?, ?)');
    const putProblem = this.db.prepare('INSERT OR IGNORE INTO temp.oldProblems VALUES (?, ?, ?)');
    this.db.transaction(() => {
      for (const { id, body } of rows) {
        const record = decodeBody(body);
        const facts = factsOf(record);
        putFacts.run(id, ...FACTS.map((name) => facts[name]));
        putWords.run(id, searchText(record));
        const { problem } = record.trajectory;
        putProblem.run(problem.id, problem.question, problem.answer ?? null);
      }
    })();
    this.#indexedTo = rows.at(-1)?.id ?? this.#indexedTo!;
    return rows.length > 0;
  }

  #factsSince(): number {
    const known = this.db.prepare(`SELECT value FROM meta WHERE key = 'factsSince'`).pluck().get() as string | undefined;
    if (this.version >= 2 && known !== undefined && Number.isInteger(Number(known))) return Number(known);
    return Number.MAX_SAFE_INTEGER;
  }
}
