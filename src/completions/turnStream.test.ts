import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatFormatOf } from '../../test/support/rolloutSettings.js';
import type { ChatFormat } from '../chat/chatFormat.js';
import { parseTurn } from '../chat/parseTurn.js';
import { type Answer, type AnswerShape, answerOf } from './answer.js';
import { type AnswerDelta, answerIn, TurnStream } from './turnStream.js';
import { TurnText, turnTextOf } from './turnText.js';

let format: ChatFormat;
beforeAll(async () => {
  format = await chatFormatOf();
});
afterAll(() => undefined);

const shapeOf = (more: Partial<AnswerShape> = {}): AnswerShape => ({
  takesCalls: true,
  callsPerTurn: Number.POSITIVE_INFINITY,
  callId: (k) => `call_${k}`,
  ...more,
});

/** Reads a turn in parts of these lengths, in turn. */
function streamed(turn: string, lengths: readonly number[], shape = shapeOf(), atLimit = false): AnswerDelta[] {
  const stream = new TurnStream(shape, false);
  const out: AnswerDelta[] = [];
  let at = 0;
  for (let i = 0; at < turn.length; i++) {
    const next = at + lengths[i % lengths.length]!;
    out.push(...stream.push(turn.slice(at, next)));
    at = next;
  }
  return [...out, ...stream.end(atLimit)];
}

const whole = (turn: string, shape = shapeOf(), atLimit = false): Answer => answerOf(turn, parseTurn(turn, atLimit), shape);

const call = (name: string, args: unknown): string => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

describe('a turn read while it is written', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '<', '>', '"', '\\', '/', 't', 'é', '😀'), maxLength: 8 });
  const thinking = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '<', '<tool_call>', '"'), maxLength: 6 });
  const code = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '</tool_call>', 'THINK_END', '<', ' '), maxLength: 6 });
  const readable = fc.oneof(
    text,
    thinking.map((inner) => `<think>${inner}</think>`),
    code.map((inner) => call('python', { inner })),
  );
  const broken = fc.oneof(
    text,
    fc.constantFrom(
      '<tool_call>',
      '</tool_call>',
      '<tool_call>{"name": 1}</tool_call>',
      '<tool_call>{"name": "x", "arguments": {"a": "</tool_call> b</tool_call>',
    ),
  );
  // A `</think>` that nothing opened, or after a call that cannot be read, cannot be foreseen: there is none in these.
  const turn = fc
    .tuple(fc.array(readable, { maxLength: 5 }), fc.array(broken, { maxLength: 4 }), fc.constantFrom('', '<think>a <tool_call>', '<thin'))
    .map(([first, then, last]) => [...first, ...then, last].join(''));

  it.each([true, false])('is the answer that the whole turn gives (calls taken: %s)', (takesCalls) => {
    fc.assert(
      fc.property(
        turn,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (text, lengths, atLimit) => {
          const shape = shapeOf({ takesCalls });
          // Where calls are text, this too would end a thinking that nothing opened.
          const written = text.replaceAll('THINK_END', takesCalls ? '</think>' : '');
          expect(answerIn(streamed(written, lengths, shape, atLimit))).toEqual(whole(written, shape, atLimit));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('gives text before the end, and never half a tag', () => {
    const deltas = streamed(`Let me see.\n${call('python', { code: '1' })}`, [1]);
    expect(deltas.filter(({ kind }) => kind === 'content').length).toBeGreaterThan(3);
    expect(answerIn(deltas)).toEqual({
      reasoning: '',
      content: 'Let me see.',
      calls: [{ id: 'call_0', name: 'python', arguments: { code: '1' } }],
    });
  });

  it('gives a call that cannot be read as text, as it was written', () => {
    const text = 'So:\n<tool_call>\n{"name": python}\n</tool_call>';
    expect(answerIn(streamed(text, [3]))).toEqual({ reasoning: '', content: text, calls: [] });
  });

  it('leaves out calls beyond those allowed', () => {
    const text = call('a', {}) + call('b', {});
    const shape = shapeOf({ callsPerTurn: 1 });
    expect(answerIn(streamed(text, [5], shape)).calls.map(({ name }) => name)).toEqual(['a']);
    expect(whole(text, shape).calls.map(({ name }) => name)).toEqual(['a']);
  });
});

describe('the text of tokens that come one by one', () => {
  const read = (text: string, stops: readonly string[] = [], step = 1): string[] => {
    const tokens = [...format.encode(text), format.stopTokenIds[0]!];
    const turn = new TurnText(format, stops);
    const parts: string[] = [];
    for (let at = 0; at < tokens.length; at += step) parts.push(turn.push(tokens.slice(at, at + step)));
    parts.push(turn.end(turnTextOf(format, tokens, stops)));
    return parts.filter((part) => part !== '');
  };

  it('is whole, and never has half a character', () => {
    // the mark of half a character may be written as such, too: see below
    const texts = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\uFFFD'));
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 4 }), (text, step) => {
        const parts = read(text, [], step);
        expect(parts.join('')).toBe(text);
        expect(parts.join('|')).not.toContain('\uFFFD');
      }),
    );
  });

  it('has the mark of half a character where the text itself has it', () => {
    for (const step of [1, 2, 3]) expect(read('a\uFFFDb \uFFFD\uFFFD', [], step).join('')).toBe('a\uFFFDb \uFFFD\uFFFD');
  });

  it('ends before a stop string, of which no part is given', () => {
    expect(read('one END two', ['END']).join('')).toBe('one ');
    expect(read('one EN two', ['END', 'ENTER']).join('')).toBe('one EN two');
  });
});
