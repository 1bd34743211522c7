/**
 * What two texts share and where they part, by words or by lines: the shortest edit script (E. W. Myers, "An O(ND) Difference Algorithm and
 * Its Variations", 1986), with a bound on its work. Pure.
 */
export type DiffKind = 'same' | 'left' | 'right';

export interface DiffPart {
  readonly kind: DiffKind;
  readonly text: string;
}

export interface Diff {
  /** Parts of kind same and left joined are the left text; same and right joined, the right one. Neighbours differ in kind. */
  readonly parts: readonly DiffPart[];
  /** The texts differ so much that the middle is shown as replaced whole. */
  readonly coarse: boolean;
}

export type Grain = 'words' | 'lines';

/** Edits beyond which the middle is no longer compared: keeps the time of a megabyte under a second. */
const MAX_EDITS = 1_500;

export function diffTexts(left: string, right: string, grain: Grain, maxEdits = MAX_EDITS): Diff {
  const split = grain === 'words' ? wordsOf : linesOf;
  const a = split(left);
  const b = split(right);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middleA = a.slice(start, a.length - end);
  const middleB = b.slice(start, b.length - end);
  const script = editScript(middleA, middleB, maxEdits);
  const builder = new PartBuilder();
  builder.add('same', a.slice(0, start));
  if (script) for (const { kind, from, to } of script) builder.add(kind, (kind === 'right' ? middleB : middleA).slice(from, to));
  else {
    builder.add('left', middleA);
    builder.add('right', middleB);
  }
  builder.add('same', a.slice(a.length - end));
  return { parts: builder.parts, coarse: script === undefined };
}

/** Words, runs of white space, and every other character by itself; joined they are the text. */
export const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];

/** Lines with their newlines; joined they are the text. */
export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

class PartBuilder {
  readonly parts: { kind: DiffKind; text: string }[] = [];

  add(kind: DiffKind, pieces: readonly string[]): void {
    if (pieces.length === 0) return;
    const text = pieces.join('');
    const last = this.parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.parts.push({ kind, text });
  }
}

interface Edit {
  readonly kind: DiffKind;
  /** In the left list for same and left, in the right one for right. */
  readonly from: number;
  readonly to: number;
}

/** Absent where more than `maxEdits` pieces would have to be taken out or put in. */
function editScript(a: readonly string[], b: readonly string[], maxEdits: number): Edit[] | undefined {
  const bound = Math.min(maxEdits, a.length + b.length);
  // furthest[k + bound] is how far in `a` one gets on diagonal k = x - y with d edits
  const furthest = new Int32Array(2 * bound + 2);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= bound; d++) {
    // only diagonals -d - 1 .. d + 1 have been touched so far
    trace.push(furthest.slice(Math.max(0, bound - d - 1), bound + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && furthest[bound + k - 1]! < furthest[bound + k + 1]!);
      let x = down ? furthest[bound + k + 1]! : furthest[bound + k - 1]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      furthest[bound + k] = x;
      if (x >= a.length && x - k >= b.length) return backtrack(trace, bound, a.length, b.length);
    }
  }
  return undefined;
}

function backtrack(trace: readonly Int32Array[], bound: number, lengthA: number, lengthB: number): Edit[] {
  const edits: Edit[] = [];
  let x = lengthA;
  let y = lengthB;
  for (let d = trace.length - 1; d >= 0; d--) {
    const row = trace[d]!;
    const at = (k: number): number => row[bound + k - Math.max(0, bound - d - 1)] ?? 0;
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const fromX = d === 0 ? 0 : down ? at(k + 1) : at(k - 1);
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    const snakeX = d === 0 ? 0 : down ? fromX : fromX + 1;
    if (x > snakeX) edits.push({ kind: 'same', from: snakeX, to: x });
    if (d > 0) edits.push(down ? { kind: 'right', from: fromY, to: fromY + 1 } : { kind: 'left', from: fromX, to: fromX + 1 });
    x = fromX;
    y = fromY;
  }
  return edits.reverse();
}
