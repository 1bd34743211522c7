/** One question to be answered. Extend it with your own fields: they reach your tools and your reward, typed. */
export interface Problem {
  /** Unique within its set. */
  readonly id: string;
  /** The user's message, as the model reads it. */
  readonly question: string;
  /** The right answer, as text; absent where a reward function judges without one. */
  readonly answer?: string;
  /** Where it came from: a family's or a file's name. */
  readonly source?: string;
  /** For tables by kind, for example `{ family: 'gcd', level: 2 }`. */
  readonly tags?: Readonly<Record<string, string | number>>;
}
