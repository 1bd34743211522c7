/** A Python program without what does not run: comments, and on request the content of strings. One pass; understands no syntax. */

/**
 * Comments vanish, lines stay. A `#` directly behind a letter is none, since other texts have it so (`C#`).
 * @param strings `empty` makes each string `""`
 */
export function bareProgram(code: string, strings: 'keep' | 'empty'): string {
  let bare = '';
  for (let at = 0; at < code.length; ) {
    const char = code[at]!;
    if (char === '#' && !/\p{L}/u.test(code[at - 1] ?? '')) {
      const end = code.indexOf('\n', at);
      at = end === -1 ? code.length : end;
    } else if (char === '"' || char === "'") {
      const end = endOfString(code, at);
      bare += strings === 'keep' ? code.slice(at, end) : '""';
      at = end;
    } else {
      bare += char;
      at++;
    }
  }
  return bare;
}

/** Where the text goes on behind a string that begins at `at`; an open one ends with its line, or with the text. */
function endOfString(code: string, at: number): number {
  const quote = code[at]!;
  const closing = code.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
  let i = at + closing.length;
  while (i < code.length) {
    if (code[i] === '\\') i += 2;
    else if (code.startsWith(closing, i)) return i + closing.length;
    else if (closing.length === 1 && code[i] === '\n') return i;
    else i++;
  }
  return code.length;
}
