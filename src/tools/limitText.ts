/** Shortens a text to a number of tokens: head and tail stay, a marker between them says how much is left out. */

/** What is needed of a tokenizer. */
export interface Codec {
  encode(text: string): number[];
  decode(ids: readonly number[]): string;
}

/** Characters a token that are kept before anything is encoded: a very long text is not worth encoding whole. */
const GENEROUS = 24;

/**
 * @param maxTokens of the whole result, marker included
 * @returns the text itself where it fits; the empty text where not even the marker does
 */
export function limitText(text: string, maxTokens: number, codec: Codec): string {
  if (Buffer.byteLength(text) <= maxTokens) return text;
  const huge = text.length > 4 * GENEROUS * maxTokens;
  const head = codec.encode(huge ? text.slice(0, GENEROUS * maxTokens) : text);
  if (!huge && head.length <= maxTokens) return text;
  const tail = huge ? codec.encode(text.slice(-GENEROUS * maxTokens)) : head;
  const tokensIn = huge ? Math.round((text.length / (2 * GENEROUS * maxTokens)) * (head.length + tail.length)) : head.length;
  const marker = (kept: number): string => `\n[... ${huge ? 'about ' : ''}${tokensIn - kept} tokens left out ...]\n`;
  let room = maxTokens - codec.encode(marker(0)).length;
  while (room >= 0) {
    const headTokens = Math.ceil(room / 2);
    const tailTokens = room - headTokens;
    const start = whole(codec.decode(head.slice(0, headTokens)));
    const end = whole(tailTokens === 0 ? '' : codec.decode(tail.slice(-tailTokens)));
    const shortened = start + marker(headTokens + tailTokens) + end;
    const excess = codec.encode(shortened).length - maxTokens;
    if (excess <= 0) return shortened;
    room -= excess;
  }
  return '';
}

/** Without the replacement characters that a cut through a character leaves at either end. */
const whole = (text: string): string => text.replace(/^\uFFFD+|\uFFFD+$/g, '');
