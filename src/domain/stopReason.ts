/** Why a rollout ended. An infrastructure failure is no stop reason: such a rollout has no trajectory (see `Rollout`). */
export type StopReason =
  /** The model ended a turn without a call. */
  | { readonly kind: 'answered' }
  /** A tool marked as final was called. */
  | { readonly kind: 'stopTool'; readonly tool: string }
  /** The turns were used up with a call still open. Not a length limit. */
  | { readonly kind: 'turnLimit' }
  /** A turn's token limit, or the response's: pays the whole overlong penalty. */
  | { readonly kind: 'tokenLimit'; readonly limit: 'turn' | 'response' }
  /** Too many calls in a row that could not be read. */
  | { readonly kind: 'malformedLimit' }
  /** An agent of the user's own failed, and was to count as without an answer. */
  | { readonly kind: 'agentError' }
  /** The rollout's time was up. */
  | { readonly kind: 'deadline' };

/** Whether a token limit cut the response (paper, Eq. 9: the whole -1). */
export const isTruncated = (stop: StopReason): boolean => stop.kind === 'tokenLimit';
