/** The soft penalty for responses that come near the length limit. Pure; which tokens count is the caller's to say. */

export interface OverlongLimits {
  /** L_max, tokens. */
  readonly maxTokens: number;
  /** L_cache: how long before the limit the penalty begins, tokens. */
  readonly bufferTokens: number;
  /** Scales the penalty; 1 in the paper. */
  readonly factor?: number;
}

/**
 * 0 up to L_max - L_cache, then ((L_max - L_cache) - |y|) / L_cache, and -1 beyond L_max; times `factor`. Paper: Eq. 9.
 *
 * @param length    |y|, tokens
 * @param truncated the response was cut by a token limit: the whole -1
 * @throws RangeError when the buffer is negative or longer than the limit
 */
export function overlongPenalty(length: number, limits: OverlongLimits, truncated = false): number {
  const { maxTokens, bufferTokens, factor = 1 } = limits;
  if (!(bufferTokens >= 0 && bufferTokens <= maxTokens)) {
    throw new RangeError(`the overlong buffer must be between 0 and the limit of ${maxTokens} tokens: ${bufferTokens}`);
  }
  const start = maxTokens - bufferTokens;
  if (truncated || length > maxTokens) return -factor;
  if (length <= start) return 0;
  return ((start - length) / bufferTokens) * factor;
}
