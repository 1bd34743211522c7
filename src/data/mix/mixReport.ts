/** What a mix did, for people and programs: where every row went, and how diverse the set is. */
import type { Diversity } from '../diversity.js';

/** A row and what it was found to equal. Texts are whole. */
export interface RemovedPair {
  readonly why: 'exact' | 'near' | 'evaluation exact' | 'evaluation ngram' | 'evaluation near' | 'evaluation template';
  /** False for a row from an evaluation problem's template that was kept. */
  readonly removed: boolean;
  readonly similarity: number;
  readonly row: { readonly where: string; readonly text: string };
  /** The earlier row, or the evaluation problem. */
  readonly equals: { readonly where: string; readonly text: string };
}

export interface SourceReport {
  readonly name: string;
  /** As the tables name it, with the hub's commit. */
  readonly file: string;
  readonly schema: string;
  readonly rows: number;
  readonly bad: number;
  readonly filtered: number;
  readonly tooLong: number;
  readonly contaminated: number;
  /** Kept or removed, as the plan says. */
  readonly templates: number;
  readonly exact: number;
  readonly near: number;
  /** What could be drawn from. */
  readonly available: number;
  readonly wanted: number | undefined;
  readonly kept: number;
  readonly licence?: string;
}

export interface MixReport {
  readonly out: string;
  readonly schema: string;
  readonly rows: number;
  readonly bytes: number;
  readonly seed: number;
  readonly sources: readonly SourceReport[];
  /** Evaluation sets with the number of their different problems. */
  readonly against: readonly { readonly name: string; readonly problems: number }[];
  readonly prompt?: string;
  /** Texts with more candidates than were compared; 0 in all but odd sets. */
  readonly crowded: number;
  /** A few of each kind. */
  readonly pairs: readonly RemovedPair[];
  /** Of everything that passed the filters, duplicates included; and of the set. */
  readonly diversity: { readonly pool: Diversity; readonly set: Diversity; readonly compared?: Diversity };
}
