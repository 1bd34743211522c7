/** A rollout's turns as a person reads them: each call beside its reply, code apart from other arguments, the box that is graded. Pure. */
import type { CallSegment } from '../../../domain/segment.js';
import type { Reply, Turn } from '../../../domain/turn.js';

export type TurnPart =
  | { readonly kind: 'thinking' | 'text'; readonly text: string }
  /** `reply` is absent where the rollout ended first. */
  | { readonly kind: 'call'; readonly call: CallSegment; readonly reply?: Reply }
  | { readonly kind: 'malformed'; readonly raw: string; readonly problem: string; readonly reply?: Reply }
  | { readonly kind: 'cutOff'; readonly raw: string; readonly reply?: Reply };

/** Replies answer the calls of a turn in order. Replies beyond the calls (a foreign run) are left to `strayReplies`. */
export function partsOf({ segments, replies }: Turn): TurnPart[] {
  let calls = 0;
  const answered = (): { reply?: Reply } => {
    const reply = replies[calls++];
    return reply === undefined ? {} : { reply };
  };
  return segments.map((segment): TurnPart => {
    switch (segment.kind) {
      case 'call':
        return { kind: 'call', call: segment, ...answered() };
      case 'malformedCall':
        return { kind: 'malformed', raw: segment.raw, problem: segment.problem, ...answered() };
      case 'cutOffCall':
        return { kind: 'cutOff', raw: segment.raw, ...answered() };
      default:
        return segment;
    }
  });
}

const isCall = (kind: string): boolean => kind === 'call' || kind === 'malformedCall' || kind === 'cutOffCall';

export const strayReplies = ({ segments, replies }: Turn): readonly Reply[] =>
  replies.slice(segments.filter(({ kind }) => isCall(kind)).length);

export interface CallParts {
  /** The argument that is a program. */
  readonly code?: { readonly argument: string; readonly language: 'python' | 'text'; readonly text: string };
  readonly others: Readonly<Record<string, unknown>>;
}

const PYTHON = /^(code|python|program|script|source)$/i;
const COMMAND = /^(command|cmd|query|sql|expression)$/i;

/** The first argument whose name says that it is a program stands apart. */
export function callParts(call: CallSegment): CallParts {
  const entries = Object.entries(call.arguments);
  const found =
    entries.find(([name, value]) => typeof value === 'string' && PYTHON.test(name)) ??
    entries.find(([name, value]) => typeof value === 'string' && COMMAND.test(name));
  if (!found) return { others: call.arguments };
  const [argument, text] = found as [string, string];
  return {
    code: { argument, language: PYTHON.test(argument) ? 'python' : 'text', text },
    others: Object.fromEntries(entries.filter(([name]) => name !== argument)),
  };
}

export interface BoxedPiece {
  readonly text: string;
  /** The last complete box: what is graded. */
  readonly boxed: boolean;
}

const BOX = /\\boxed\s{0,8}\{/g;

/** Joined, the pieces are the text. Nothing is marked where the last box never closes: it voids the answer. */
export function markBox(text: string): BoxedPiece[] {
  const last = [...text.matchAll(BOX)].at(-1);
  const end = last === undefined ? -1 : closeOf(text, last.index + last[0].length);
  if (last === undefined || end === -1) return text === '' ? [] : [{ text, boxed: false }];
  return [
    { text: text.slice(0, last.index), boxed: false },
    { text: text.slice(last.index, end), boxed: true },
    { text: text.slice(end), boxed: false },
  ].filter((piece) => piece.text !== '');
}

/** After the brace that closes what is open at `from`; -1 where there is none. Escaped braces are letters. */
function closeOf(text: string, from: number): number {
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    const char = text[i];
    if (char === '\\') i++;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return i + 1;
  }
  return -1;
}

/** What the model wrote and read, turn by turn, as one text: for copying and comparing. */
export const plainText = (turns: readonly Turn[]): string =>
  turns.map((turn) => [turn.text, ...turn.replies.map(({ text }) => `[result]\n${text}`)].join('\n')).join('\n\n');

/** Which text was cut, from its path in the answer: `segmentsOf.0.replies.1.text` is result 2 of turn 1. */
export function cutWords(path: string): string {
  const [head, at, kind, place] = path.split('.');
  if (head === 'segmentsOf' || head === 'branches') {
    const turn = head === 'segmentsOf' ? at : path.split('.')[3];
    const [part, number] = head === 'segmentsOf' ? [kind, place] : path.split('.').slice(4);
    const name =
      part === 'replies' ? `result ${Number(number ?? 0) + 1} of ` : part === 'segments' ? `part ${Number(number ?? 0) + 1} of ` : '';
    return `${name}turn ${Number(turn ?? 0) + 1}${head === 'branches' ? ` of line ${Number(at ?? 0) + 2}` : ''}`;
  }
  return head === 'finalText'
    ? 'the final text'
    : head === 'verdict'
      ? 'the verdict'
      : head === 'problem'
        ? `field ${at ?? ''} of the problem`
        : (head ?? path);
}
