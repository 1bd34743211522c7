/** What looking at a set came to: plain values, fit for JSON. Made by `inspectSet.ts`; shown by `inspectionText.ts` and `inspectionPage.ts`. */
import type { TableFormat } from '../../tables/table.js';
import type { PrivateKind } from '../privacy.js';
import type { SetKind } from '../setFile.js';
import type { ColumnSummary } from './columns.js';
import type { ConversationStatistics } from './conversationStatistics.js';
import type { LengthSummary } from './lengths.js';
import type { Count } from './tally.js';

export interface Inspection {
  /** As it was asked for. */
  readonly file: string;
  readonly format: TableFormat;
  readonly kind: SetKind;
  /** Of problems: the name of the schema. */
  readonly schema?: string;
  /** Rows looked at, broken ones included. */
  readonly rows: number;
  readonly columns: readonly ColumnSummary[];
  /** Columns beyond those. */
  readonly furtherColumns: number;
  /** Rows by what labels them: `kind`, `source`, `ability`, `label`, ... */
  readonly counts: Readonly<Record<string, readonly Count[]>>;
  readonly lengths: readonly NamedLengths[];
  readonly tools?: ConversationStatistics;
  readonly difficulty?: DifficultySummary;
  readonly broken: Findings<{ readonly where: string; readonly error: string }>;
  /** Rows that say exactly what an earlier one says. */
  readonly duplicates: Findings<{ readonly where: string; readonly firstRow: number }> & { readonly compared: string };
  readonly privacy: Findings<{ readonly where: string; readonly column: string; readonly kind: PrivateKind; readonly excerpt: string }> & {
    readonly byKind: readonly Count[];
  };
  readonly examples: readonly Example[];
  /** What a person should know besides, in plain words. */
  readonly notes: readonly string[];
}

export interface NamedLengths extends LengthSummary {
  /** What is measured, for example `prompt`. */
  readonly name: string;
  readonly unit: 'characters' | 'tokens';
}

/** How many there are, and the first few. */
export interface Findings<T> {
  readonly count: number;
  readonly first: readonly T[];
}

export interface DifficultySummary {
  /** Problems with 0/n ... n/n right. */
  readonly levels: readonly number[];
  readonly unlabelled: number;
  readonly labels: Readonly<Record<string, number>>;
}

export interface Example {
  readonly where: string;
  /** Each shortened. */
  readonly parts: readonly { readonly name: string; readonly text: string }[];
}
