/**
 * Finds the answer in an assistant's text. Does not compare it, and never looks for a bare number: no box, no answer, unless the caller
 * also takes an explicit phrase. Linear in the text, whatever it holds.
 */

export interface Extraction {
  /** Exactly as written; absent where nothing counts as an answer. */
  readonly answer?: string;
  readonly from: 'box' | 'phrase' | 'none';
  /** Why this was taken, or why nothing was: for a person to read. */
  readonly note?: string;
}

export interface ExtractOptions {
  /** Also take what follows "the final answer is" or "Answer:" where there is no box at all. */
  readonly phrase?: boolean;
}

const BOX = '\\boxed';
/** Spaces allowed between the command and its brace. */
const MAX_SPACES = 8;

/**
 * What stands in the last `\boxed{…}`, by balanced braces (escaped ones do not count), exactly as written. Undefined where there is no box,
 * or where the last one never closes: that voids the answer even after a complete one.
 *
 * @param finalText the assistant's text after its last call and its thinking
 */
export function lastBoxed(finalText: string): string | undefined {
  const open = lastBoxStart(finalText);
  return open === undefined ? undefined : contentOf(finalText, open);
}

/**
 * The answer of a response: the last box after the thinking (the last `</think>`); text of tools and calls does not count.
 *
 * - A `<think>` that never closes makes the rest thinking.
 * - A last box that never closes voids the answer, a phrase included.
 */
export function extractAnswer(finalText: string, options: ExtractOptions = {}): Extraction {
  const text = withoutTools(afterThinking(finalText));
  if (text.trim() === '') {
    return { from: 'none', note: finalText.trim() === '' ? 'the text is empty' : 'there is no text after thinking and tools' };
  }
  const open = lastBoxStart(text);
  if (open !== undefined) {
    const answer = contentOf(text, open);
    if (answer === undefined) return { from: 'none', note: 'the last \\boxed{ never closes' };
    return { answer, from: 'box', note: `the last box, at character ${open} of ${text.length}` };
  }
  if (options.phrase !== true) return { from: 'none', note: 'there is no \\boxed{} in the final text' };
  const answer = lastPhrase(text);
  return answer === undefined
    ? { from: 'none', note: 'there is neither a \\boxed{} nor a final-answer phrase in the final text' }
    : { answer, from: 'phrase', note: 'the last final-answer phrase' };
}

/** Index just after the brace of the last box. */
function lastBoxStart(text: string): number | undefined {
  let end = text.length;
  while (end > 0) {
    const start = text.lastIndexOf(BOX, end - 1);
    if (start === -1) return undefined;
    let at = start + BOX.length;
    for (let spaces = 0; spaces < MAX_SPACES && /\s/.test(text[at] ?? ''); spaces++) at++;
    if (text[at] === '{') return at + 1;
    end = start;
  }
  return undefined;
}

function contentOf(text: string, open: number): string | undefined {
  let depth = 1;
  for (let i = open; i < text.length; i++) {
    const char = text[i];
    if (char === '\\') i++;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return text.slice(open, i);
  }
  return undefined;
}

function afterThinking(text: string): string {
  const close = text.lastIndexOf('</think>');
  const rest = close === -1 ? text : text.slice(close + '</think>'.length);
  const open = rest.indexOf('<think>');
  return open === -1 ? rest : rest.slice(0, open);
}

/** Without calls and tool results; one that never closes takes the rest with it. */
function withoutTools(text: string): string {
  let rest = text;
  for (const tag of ['tool_call', 'tool_response']) {
    if (!rest.includes(`<${tag}>`)) continue;
    const [open, close] = [`<${tag}>`, `</${tag}>`];
    const kept: string[] = [];
    let at = 0;
    while (at < rest.length) {
      const start = rest.indexOf(open, at);
      kept.push(rest.slice(at, start === -1 ? rest.length : start));
      if (start === -1) break;
      const end = rest.indexOf(close, start);
      if (end === -1) break;
      at = end + close.length;
    }
    rest = kept.join('\n');
  }
  return rest;
}

const PHRASE = /\bfinal answer (?:is|=)[ \t]*:?|\banswer[ \t]{0,4}:/gi;

/** The rest of the line after the last phrase, without Markdown bold and the full stop. */
function lastPhrase(text: string): string | undefined {
  let from: number | undefined;
  for (const match of text.matchAll(PHRASE)) from = match.index + match[0].length;
  if (from === undefined) return undefined;
  const newline = text.indexOf('\n', from);
  const line = text
    .slice(from, newline === -1 ? text.length : newline)
    .trim()
    .replace(/^\*{1,2}/, '')
    .trim();
  const answer = line.replace(/\*\*$/, '').replace(/\.$/, '').replace(/\*\*$/, '').trim();
  return answer === '' ? undefined : answer;
}
