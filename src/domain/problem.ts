/** One question to be answered. Extend it with your own fields: they reach your tools and your reward, typed. */
export interface Problem {
  /** Unique within its set. */
  readonly id: string;
  /** The user's message, as the model reads it. */
  readonly question: string;
  /** The right answer, as text; absent where a reward function or tests judge without one. Of a choice: the letter of the right option. */
  readonly answer?: string;
  /** How an answer is judged; absent: as mathematics. */
  readonly kind?: ProblemKind;
  /** Of a choice: the options' texts in order, without their letters, where they are known. */
  readonly options?: readonly string[];
  /** Of code: the tests, in any form that `readCodeTests` reads. */
  readonly tests?: unknown;
  /** Where it came from: a family's, a data set's or a file's name. */
  readonly source?: string;
  /** For tables by kind, for example `{ family: 'gcd', level: 2 }`. */
  readonly tags?: Readonly<Record<string, string | number>>;
}

export type ProblemKind = 'math' | 'choice' | 'code';
