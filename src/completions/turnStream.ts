/**
 * Reads a turn while it is written: the same answer as `answerOf` gives for the whole, piece by piece. Half a tag is held back, and a call is
 * given when it is complete. One thing cannot be taken back: text before a `</think>` that nothing opened is thinking for `answerOf`, but
 * has been given as content here.
 */
import { parseTurn } from '../chat/parseTurn.js';
import type { Segment } from '../domain/segment.js';
import { type Answer, type AnswerPiece, type AnswerShape, BETWEEN, pieceOf, withoutBrokenEnd } from './answer.js';
import { heldBack } from './turnText.js';

/** Some more of an answer. */
export type AnswerDelta =
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'content'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    };

/** The answer that pieces make together. */
export function answerIn(deltas: readonly AnswerDelta[]): Answer {
  const text = (kind: 'reasoning' | 'content'): string => deltas.map((delta) => (delta.kind === kind ? delta.text : '')).join('');
  const calls = deltas.flatMap((delta) => (delta.kind === 'call' ? [{ id: delta.id, name: delta.name, arguments: delta.arguments }] : []));
  return { reasoning: text('reasoning'), content: text('content'), calls };
}

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';
const CALL_OPEN = '<tool_call>';
const CALL_CLOSE = '</tool_call>';

export class TurnStream {
  #rest = '';
  #mode: 'text' | 'thinking' | 'call';
  /** Of the call that is being read: how far it was looked through, and whether that is inside a JSON string. */
  #scanned = 0;
  #inString = false;
  readonly #shape: AnswerShape;
  readonly #texts = { reasoning: new PieceText('reasoning'), content: new PieceText('content') };
  #calls = 0;

  constructor(shape: AnswerShape, opensThinking: boolean) {
    this.#shape = shape;
    this.#mode = opensThinking ? 'thinking' : 'text';
  }

  push(text: string): AnswerDelta[] {
    this.#rest += text;
    const out: AnswerDelta[] = [];
    while (this.#step(out)) {
      // Until more text is needed.
    }
    return out;
  }

  /** @param atTokenLimit whether the turn ended because it ran out of tokens */
  end(atTokenLimit: boolean): AnswerDelta[] {
    const out: AnswerDelta[] = [];
    const rest = withoutBrokenEnd(this.#rest);
    this.#rest = '';
    if (this.#mode === 'call') {
      const segments = parseTurn(CALL_OPEN + rest, atTokenLimit);
      for (const [i, segment] of segments.entries()) {
        this.#whole(segment, i === segments.length - 1 && rest.lastIndexOf(CALL_OPEN) >= rest.lastIndexOf(CALL_CLOSE), out);
      }
    } else {
      this.#texts[this.#mode === 'thinking' ? 'reasoning' : 'content'].push(rest, out);
    }
    return out;
  }

  /** Reads on; whether there may be more to read. */
  #step(out: AnswerDelta[]): boolean {
    if (this.#mode === 'call') return this.#readCall(out);
    const wanted =
      this.#mode === 'thinking' ? [THINK_CLOSE] : this.#shape.takesCalls ? [THINK_OPEN, THINK_CLOSE, CALL_OPEN] : [THINK_OPEN, THINK_CLOSE];
    const text = this.#texts[this.#mode === 'thinking' ? 'reasoning' : 'content'];
    const found = wanted.map((tag) => ({ tag, at: this.#rest.indexOf(tag) })).filter(({ at }) => at !== -1);
    const next = found.sort((a, b) => a.at - b.at)[0];
    if (next === undefined) {
      const certain = this.#rest.length - heldBack(this.#rest, wanted);
      text.push(this.#rest.slice(0, certain), out);
      this.#rest = this.#rest.slice(certain);
      return false;
    }
    text.push(this.#rest.slice(0, next.at), out);
    text.close();
    this.#rest = this.#rest.slice(next.at + next.tag.length);
    this.#mode = next.tag === CALL_OPEN ? 'call' : next.tag === THINK_OPEN ? 'thinking' : 'text';
    this.#scanned = 0;
    this.#inString = false;
    return true;
  }

  /** A closing tag inside a JSON string is part of the string. */
  #readCall(out: AnswerDelta[]): boolean {
    const mark = /\\[\\"]|"|<\/tool_call>/g;
    mark.lastIndex = this.#scanned;
    for (let match = mark.exec(this.#rest); match !== null; match = mark.exec(this.#rest)) {
      const end = match.index + match[0].length;
      if (match[0] === '"') this.#inString = !this.#inString;
      else if (match[0] === CALL_CLOSE && !this.#inString) {
        this.#closeCall(end, out);
        return true;
      }
      this.#scanned = end;
    }
    // The end may be half a mark: it is looked through again.
    this.#scanned = Math.max(this.#scanned, this.#rest.length - CALL_CLOSE.length);
    return false;
  }

  #closeCall(end: number, out: AnswerDelta[]): void {
    const whole = parseTurn(CALL_OPEN + this.#rest.slice(0, end));
    // Where the longer reading fails, the shorter one counts, and the rest is read on.
    const single = whole.length === 1;
    const close = single ? end : this.#rest.indexOf(CALL_CLOSE) + CALL_CLOSE.length;
    this.#whole(whole[0]!, false, out);
    this.#rest = this.#rest.slice(close);
    this.#mode = 'text';
  }

  #whole(segment: Segment, open: boolean, out: AnswerDelta[]): void {
    const piece: AnswerPiece = pieceOf(segment, open);
    if (piece.kind !== 'call') {
      const text = this.#texts[piece.kind];
      text.push(piece.text, out);
      text.close();
      return;
    }
    if (this.#calls >= this.#shape.callsPerTurn) return;
    const index = this.#calls++;
    out.push({ kind: 'call', index, id: this.#shape.callId(index), name: piece.name, arguments: piece.arguments });
  }
}

/** The text of one kind: space around each piece is left out, and pieces are lines apart. */
class PieceText {
  #any = false;
  #begun = false;
  #space = '';

  constructor(private readonly kind: 'reasoning' | 'content') {}

  push(text: string, out: AnswerDelta[]): void {
    const more = this.#begun ? text : text.trimStart();
    if (more === '') return;
    const held = this.#space + more;
    const certain = held.trimEnd();
    this.#space = held.slice(certain.length);
    if (certain === '') return;
    const between = !this.#begun && this.#any ? BETWEEN : '';
    this.#begun = true;
    this.#any = true;
    out.push({ kind: this.kind, text: between + certain });
  }

  /** The next piece begins. */
  close(): void {
    this.#begun = false;
    this.#space = '';
  }
}
