/** What can be wrong with a row of a set. */

export type FaultKind =
  /** The row cannot be read as what the file is. */
  | 'unreadable'
  /** Neither a right answer nor tests. */
  | 'noGold'
  /** The right answer cannot be graded against, or does not equal itself. */
  | 'gold'
  | 'options'
  /** Tests cannot be read, or do not run. */
  | 'tests'
  /** The reference solution does not pass the tests. */
  | 'solution'
  /** Messages stand in an order that no conversation has. */
  | 'order'
  /** A call without a result, or a result without a call. */
  | 'result'
  /** A call of a tool that the row does not list. */
  | 'tool'
  /** Arguments that the tool's schema does not allow. */
  | 'arguments'
  /** The conversation ends without a boxed answer, or with a wrong one. */
  | 'answer'
  /** Counts of a difficulty profile that do not fit each other. */
  | 'counts';

export interface Fault {
  /** File and row. */
  readonly where: string;
  readonly kind: FaultKind;
  readonly detail: string;
}

/** Without its place, which the row's reader adds. */
export type FaultOfRow = Omit<Fault, 'where'>;

/** A value as a sentence shows it. */
export function shown(value: unknown, most = 80): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
