/** What a client sees of one sampled turn: thinking, text, calls. Made from the turn's segments; what could not be read as a call is text. */
import { parseTurn } from '../chat/parseTurn.js';
import type { Segment } from '../domain/segment.js';

export interface Answer {
  readonly reasoning: string;
  readonly content: string;
  readonly calls: readonly AnswerCall[];
}

export interface AnswerCall {
  /** Ours: no two calls share one. */
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What a turn is read for. */
export interface AnswerShape {
  /** False: calls are text like any other. */
  readonly takesCalls: boolean;
  /** Calls beyond these are left out. */
  readonly callsPerTurn: number;
  readonly callId: (index: number) => string;
}

/** One piece of an answer, in order. */
export type AnswerPiece =
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'content'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
/** Pieces of one kind are lines apart. */
export const BETWEEN = '\n';

/**
 * @param turn the model's text with the thinking that its header may have opened, without its end
 * @param segments what was read from it
 */
export function answerOf(turn: string, segments: readonly Segment[], shape: AnswerShape): Answer {
  const read = shape.takesCalls ? segments : segmentsWithoutCalls(turn);
  const pieces = read.map((segment, i) => pieceOf(segment, i === read.length - 1 && endsOpen(turn)));
  const textOf = (kind: 'reasoning' | 'content'): string =>
    withoutBrokenEnd(pieces.flatMap((piece) => (piece.kind === kind ? [piece.text] : [])).join(BETWEEN));
  const calls = pieces.flatMap((piece) => (piece.kind === 'call' ? [piece] : []));
  return {
    reasoning: textOf('reasoning'),
    content: textOf('content'),
    calls: calls.slice(0, shape.callsPerTurn).map(({ name, arguments: args }, i) => ({ id: shape.callId(i), name, arguments: args })),
  };
}

/** @param open whether the segment is a call that has no closing tag */
export function pieceOf(segment: Segment, open: boolean): AnswerPiece {
  switch (segment.kind) {
    case 'thinking':
      return { kind: 'reasoning', text: segment.text };
    case 'text':
      return { kind: 'content', text: segment.text };
    case 'call':
      return { kind: 'call', name: segment.name, arguments: segment.arguments };
    default:
      return { kind: 'content', text: `${OPEN}\n${segment.raw}${open || segment.kind === 'cutOffCall' ? '' : `\n${CLOSE}`}`.trimEnd() };
  }
}

/** Whether the text ends inside a call. */
const endsOpen = (turn: string): boolean => turn.lastIndexOf(OPEN) > turn.lastIndexOf(CLOSE);

/** Thinking and text, the tags of calls being text. */
function segmentsWithoutCalls(turn: string): Segment[] {
  return parseTurn(turn.replaceAll(OPEN, HIDDEN_OPEN).replaceAll(CLOSE, HIDDEN_CLOSE)).map((segment) =>
    segment.kind === 'text' || segment.kind === 'thinking'
      ? { ...segment, text: segment.text.replaceAll(HIDDEN_OPEN, OPEN).replaceAll(HIDDEN_CLOSE, CLOSE) }
      : segment,
  );
}

/** Stand for the tags where they mean nothing; characters that no text is meant to hold. */
const HIDDEN_OPEN = '\uFDD0tool_call\uFDD1';
const HIDDEN_CLOSE = '\uFDD0/tool_call\uFDD1';

/** A token limit may cut a character in two. */
export const withoutBrokenEnd = (text: string): string => text.replace(/\uFFFD+$/, '');
