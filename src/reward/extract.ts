/** Finds the answer in an assistant's final text. Does not compare it, and never looks for a bare number: no box, no answer. */

const BOX = '\\boxed{';

/**
 * What stands in the last `\boxed{…}`, by balanced braces (escaped ones do not count), exactly as written. Undefined where there is no box,
 * or where the last one never closes: that voids the answer even after a complete one.
 *
 * @param finalText the assistant's text after its last call and its thinking
 */
export function lastBoxed(finalText: string): string | undefined {
  const start = finalText.lastIndexOf(BOX);
  if (start === -1) return undefined;
  const open = start + BOX.length;
  let depth = 1;
  for (let i = open; i < finalText.length; i++) {
    const char = finalText[i];
    if (char === '\\') i++;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return finalText.slice(open, i);
  }
  return undefined;
}
