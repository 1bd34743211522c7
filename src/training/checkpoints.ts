/**
 * Which checkpoints of a run exist and which may go: the newest few, the best, and the end of every stage stay. Saves through the
 * trainer; removes through a function, since only who started the engine knows where it keeps them.
 */
import type { CheckpointRecord, EventSink, Stage } from '../domain/event.js';
import type { Trainer } from '../engine/trainer.js';

export class CheckpointKeeper {
  readonly #trainer: Trainer;
  readonly #sink: EventSink;
  readonly #keep: number;
  readonly #remove: (path: string) => Promise<void>;
  #records: CheckpointRecord[];
  #best: { readonly path: string; readonly score: number } | undefined;

  /** @param existing what a resumed run already has */
  constructor(
    trainer: Trainer,
    options: {
      readonly sink: EventSink;
      readonly keep: number;
      readonly existing: readonly CheckpointRecord[];
      /** The best of those, with its score. */
      readonly best?: { readonly path: string; readonly score: number };
      readonly remove: (path: string) => Promise<void>;
    },
  ) {
    this.#trainer = trainer;
    this.#sink = options.sink;
    this.#keep = options.keep;
    this.#remove = options.remove;
    this.#records = [...options.existing];
    this.#best = options.best;
  }

  /** Saves the policy after `step` steps of a stage. The caller reports the record, with its step, then calls `prune`. */
  async save(stage: Stage, step: number, options: { readonly optimizer: boolean; readonly reason: string }): Promise<CheckpointRecord> {
    const { optimizer, reason } = options;
    const path = await this.#trainer.save(`${stage}-${String(step).padStart(6, '0')}-${this.#trainer.policyVersion}`, { optimizer });
    const record: CheckpointRecord = { path, stage, step, policyVersion: this.#trainer.policyVersion, optimizer, reason };
    this.#records = [...this.#records.filter((other) => other.path !== path), record];
    return record;
  }

  /** Remembers the checkpoint with the highest score of all. */
  score(record: CheckpointRecord, score: number): boolean {
    if (this.#best && this.#best.score >= score) return false;
    this.#best = { path: record.path, score };
    return true;
  }

  get best(): CheckpointRecord | undefined {
    return this.#records.find((record) => record.path === this.#best?.path);
  }

  /** Marks why a checkpoint is kept for good. */
  mark(record: CheckpointRecord, reason: string): void {
    const marked = { ...record, reason };
    this.#records = this.#records.map((other) => (other.path === record.path ? marked : other));
    this.#sink({ kind: 'checkpoint', record: marked });
  }

  /** Removes what need not stay. A failure to remove costs disk, not the run: it is said and left. */
  async prune(): Promise<void> {
    const newest = new Set(this.#records.slice(-this.#keep).map((record) => record.path));
    for (const record of this.#records) {
      if (newest.has(record.path) || record.path === this.#best?.path || record.reason.startsWith('end of')) continue;
      try {
        await this.#remove(record.path);
      } catch (error) {
        this.#sink({ kind: 'note', level: 'warning', text: `checkpoint ${record.path} could not be removed: ${(error as Error).message}` });
        continue;
      }
      this.#records = this.#records.filter((other) => other.path !== record.path);
      this.#sink({ kind: 'checkpointDropped', path: record.path });
    }
  }
}
