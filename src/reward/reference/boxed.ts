/** The released extraction: the last `\boxed{`, its braces counted, escaped ones too. Ours is `../extract.ts`. */

const BOX = '\\boxed{';

/** The box with its command; undefined where there is none or the last one never closes. */
export function lastBox(text: string): string | undefined {
  const start = text.lastIndexOf(BOX);
  if (start === -1) return undefined;
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return text.slice(start, i + 1);
  }
  return undefined;
}

export function boxContent(text: string): string | undefined {
  return lastBox(text)?.slice(BOX.length, -1);
}
