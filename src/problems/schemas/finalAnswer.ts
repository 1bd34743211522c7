/** GSM8K writes the solution and then `#### 1,234`. */

const FINAL = /(?:^|\n)####[ \t]*(\S[^\n]*)\s*$/;

/** What stands behind the marks, without a dollar sign and thousands' commas; undefined where there are no marks. */
export function finalAnswer(solution: string): string | undefined {
  return FINAL.exec(solution)?.[1]
    ?.trim()
    .replace(/^\$/, '')
    .replaceAll(/(?<=\d),(?=\d{3})/g, '');
}
