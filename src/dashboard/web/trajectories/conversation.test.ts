import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallSegment } from '../../../domain/segment.js';
import type { Reply, Turn } from '../../../domain/turn.js';
import { lastBoxed } from '../../../reward/extract.js';
import { callParts, cutWords, markBox, partsOf, plainText, strayReplies } from './conversation.js';
import { HOSTILE_TEXTS } from './hostileTexts.js';

const call = (args: Record<string, unknown>): CallSegment => ({ kind: 'call', name: 'code_interpreter', arguments: args, repairs: [] });
const executed = (text: string, own = call({})): Reply => ({ kind: 'executed', call: own, success: true, text, seconds: 0.1 });
const turn = (over: Partial<Turn>): Turn => ({ text: '', segments: [], stop: 'stop', tokens: 1, policyVersion: 0, replies: [], ...over });
const box = (text: string): string | undefined => markBox(text).find(({ boxed }) => boxed)?.text;

describe('a turn for reading', () => {
  it('puts each reply beside its call, in order', () => {
    const refused: Reply = { kind: 'refused', problem: 'malformed', text: 'not JSON' };
    const own = turn({
      segments: [
        { kind: 'thinking', text: 'hm' },
        call({ code: '1' }),
        { kind: 'text', text: 'and' },
        { kind: 'malformedCall', raw: '{', problem: 'not JSON' },
        { kind: 'cutOffCall', raw: '{"na' },
      ],
      replies: [executed('1'), refused],
    });
    expect(partsOf(own).map((part) => [part.kind, 'reply' in part ? part.reply?.text : undefined])).toEqual([
      ['thinking', undefined],
      ['call', '1'],
      ['text', undefined],
      ['malformed', 'not JSON'],
      ['cutOff', undefined],
    ]);
    expect(strayReplies(own)).toEqual([]);
  });

  it('loses no reply that no call stands for', () => {
    expect(strayReplies(turn({ segments: [call({})], replies: [executed('a'), executed('b')] })).map(({ text }) => text)).toEqual(['b']);
  });

  it('takes a program out of the arguments, and leaves the rest', () => {
    expect(callParts(call({ code: 'print(1)', timeout: 3 }))).toEqual({
      code: { argument: 'code', language: 'python', text: 'print(1)' },
      others: { timeout: 3 },
    });
    expect(callParts(call({ query: 'SELECT 1' })).code?.language).toBe('text');
    expect(callParts(call({ code: 1, city: 'Bern' }))).toEqual({ others: { code: 1, city: 'Bern' } });
  });

  it('joins what was written and read', () => {
    expect(plainText([turn({ text: 'a', replies: [executed('b')] }), turn({ text: 'c' })])).toBe('a\n[result]\nb\n\nc');
  });
});

const boxLike = fc.array(fc.constantFrom('\\boxed{', '\\boxed {', '{', '}', '\\', 'x', '\\}')).map((parts) => parts.join(''));

it('says which text was cut', () => {
  expect(cutWords('segmentsOf.0.replies.1.text')).toBe('result 2 of turn 1');
  expect(cutWords('segmentsOf.2.segments.0.text')).toBe('part 1 of turn 3');
  expect(cutWords('segmentsOf.2.text')).toBe('turn 3');
  expect(cutWords('branches.0.turns.1.replies.0.text')).toBe('result 1 of turn 2 of line 2');
  expect(cutWords('finalText')).toBe('the final text');
  expect(cutWords('question')).toBe('question');
});

describe('the box', () => {
  it('is the last complete one, with braces within it', () => {
    expect(box('first \\boxed{1}, then \\boxed{\\frac{1}{2}}.')).toBe('\\boxed{\\frac{1}{2}}');
    expect(box('\\boxed{\\{1, 2\\}}')).toBe('\\boxed{\\{1, 2\\}}');
  });

  it('is not marked where none closes after the last that opens', () => {
    expect(box('no box')).toBeUndefined();
    expect(box('\\boxed{1} and \\boxed{2')).toBeUndefined();
  });

  it('is the one that is graded', () => {
    fc.assert(
      fc.property(boxLike, (value) => {
        expect(box(value)?.replace(/^\\boxed\s*\{|\}$/g, '')).toBe(lastBoxed(value));
      }),
      { numRuns: 500 },
    );
  });

  it('keeps every character', () => {
    fc.assert(
      fc.property(boxLike, (value) => {
        expect(
          markBox(value)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(value);
      }),
    );
    for (const { text: hostile } of HOSTILE_TEXTS)
      expect(
        markBox(hostile)
          .map((piece) => piece.text)
          .join('') === hostile,
      ).toBe(true);
  });
});
