/** A conversation to imitate (SFT), token by token. It has no log-probs: nobody sampled it from this policy. */
export interface Demonstration {
  readonly id: string;
  readonly promptTokens: readonly number[];
  /** [length] */
  readonly tokens: readonly number[];
  /** 1 where the token is trained: the assistant's content and its end-of-turn; 0 for headers and tool text, [length]. */
  readonly mask: readonly number[];
}
