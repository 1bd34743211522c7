import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Segment } from '../domain/segment.js';
import { finalText, parseTurn } from './parseTurn.js';

const call = (body: string): string => `<tool_call>\n${body}\n</tool_call>`;
const code = (text: string): string => call(JSON.stringify({ name: 'code_interpreter', arguments: { code: text } }));
const kinds = (segments: readonly Segment[]): string[] => segments.map((segment) => segment.kind);
const codes = (segments: readonly Segment[]): unknown[] =>
  segments.flatMap((segment) => (segment.kind === 'call' ? [segment.arguments.code] : []));

describe('calls', () => {
  it('reads text, calls and text in order', () => {
    const segments = parseTurn(`First.\n${code('a')} then ${code('b')}\nDone.`);
    expect(segments).toEqual([
      { kind: 'text', text: 'First.' },
      { kind: 'call', name: 'code_interpreter', arguments: { code: 'a' }, repairs: [] },
      { kind: 'text', text: 'then' },
      { kind: 'call', name: 'code_interpreter', arguments: { code: 'b' }, repairs: [] },
      { kind: 'text', text: 'Done.' },
    ]);
  });

  it('reads compact calls, windows line ends, escapes and unicode', () => {
    expect(codes(parseTurn('<tool_call>{"name":"f","arguments":{"code":"π \\ud83d\\ude00 \\"q\\"\\n"}}</tool_call>'))).toEqual([
      'π 😀 "q"\n',
    ]);
    expect(codes(parseTurn('<tool_call>\r\n{"name":"f","arguments":{"code":"1"}}\r\n</tool_call>'))).toEqual(['1']);
  });

  it('lets the last of two equal keys win and ignores further keys', () => {
    const [segment] = parseTurn(call('{"id": 7, "name": "f", "arguments": {"x": 1, "x": 2}}'));
    expect(segment).toEqual({ kind: 'call', name: 'f', arguments: { x: 2 }, repairs: [] });
  });

  it('keeps tags inside strings as part of the string', () => {
    for (const text of ["print('</tool_call>')", "print('<tool_call>')", "'</think>'", "'<think>'", 'a"</tool_call>"b<tool_call>']) {
      expect(codes(parseTurn(`x ${code(text)} y`))).toEqual([text]);
    }
  });

  it('records the repair of raw line breaks and other control characters in strings', () => {
    const [segment] = parseTurn('<tool_call>{"name": "f", "arguments": {"code": "a = 1\nprint(a)\t# \\"q\\""}}</tool_call>');
    expect(segment).toEqual({
      kind: 'call',
      name: 'f',
      arguments: { code: 'a = 1\nprint(a)\t# "q"' },
      repairs: ['raw newline in a string', 'raw control character in a string'],
    });
  });

  it('reads arguments given as text and records it', () => {
    expect(parseTurn(call('{"name": "f", "arguments": "{\\"x\\": 1}"}'))).toEqual([
      { kind: 'call', name: 'f', arguments: { x: 1 }, repairs: ['arguments given as text'] },
    ]);
    expect(kinds(parseTurn(call('{"name": "f", "arguments": "x"}')))).toEqual(['malformedCall']);
  });

  it('keeps an odd quote in one call from swallowing the next', () => {
    const segments = parseTurn(`${call('{"name": "f", "arguments": {"code": "a}}')} "quoted" ${code('b')}`);
    expect(kinds(segments)).toEqual(['malformedCall', 'text', 'call']);
  });
});

describe('calls that cannot be read', () => {
  it.each([
    ['{"name": "f", "arguments": {"x": 1}', 'The tool call is not valid JSON.'],
    ['{oops}', 'The tool call is not valid JSON.'],
    ['', 'The tool call is not valid JSON.'],
    ["{'name': 'f', 'arguments': {}}", 'The tool call is not valid JSON.'],
    ['{"name": "f", "arguments": {"x": 1,}}', 'The tool call is not valid JSON.'],
    ['{"name": "f", "arguments": {"x": NaN}}', 'The tool call is not valid JSON.'],
    ['{"name": "f", "arguments": {}} extra', 'The tool call is not valid JSON.'],
    ['<tool_call>{"name": "f", "arguments": {}}', 'The tool call is not valid JSON.'],
    ['[1]', 'The tool call is not a JSON object.'],
    ['null', 'The tool call is not a JSON object.'],
    ['{"arguments": {}}', 'The tool call has no "name".'],
    ['{"name": 1, "arguments": {}}', 'The tool call has no "name".'],
    ['{"name": "f"}', 'The tool call has no "arguments" object.'],
    ['{"name": "f", "arguments": null}', 'The tool call has no "arguments" object.'],
    ['{"name": "f", "arguments": [1]}', 'The tool call has no "arguments" object.'],
  ])('tells the model what is wrong with %s', (body, problem) => {
    expect(parseTurn(call(body))).toEqual([{ kind: 'malformedCall', raw: body, problem }]);
  });

  it('goes on after a malformed call', () => {
    expect(kinds(parseTurn(`${call('{oops}')}${code('b')}`))).toEqual(['malformedCall', 'call']);
  });

  it('tells a call cut by the token limit from one that was never closed', () => {
    const open = 'x <tool_call>{"name": "f", "arguments": {"code": "pri';
    expect(parseTurn(open, true)).toEqual([
      { kind: 'text', text: 'x' },
      { kind: 'cutOffCall', raw: '{"name": "f", "arguments": {"code": "pri' },
    ]);
    expect(kinds(parseTurn(open))).toEqual(['text', 'malformedCall']);
    expect(kinds(parseTurn('<tool_call>{"name": "f", "arguments": {"code": "a </think> b', true))).toEqual(['cutOffCall']);
  });

  it('takes other spellings of the tag, and a closing tag alone, for text', () => {
    expect(kinds(parseTurn('<TOOL_CALL>{"name": "f", "arguments": {}}</TOOL_CALL>'))).toEqual(['text']);
    expect(kinds(parseTurn('{"name": "f", "arguments": {}}</tool_call>'))).toEqual(['text']);
  });
});

describe('thinking', () => {
  it('does not run calls inside it', () => {
    expect(kinds(parseTurn(`<think>maybe ${code('a')}</think>${code('b')}`))).toEqual(['thinking', 'call']);
    expect(codes(parseTurn(`<think>maybe ${code('a')}</think>${code('b')}`))).toEqual(['b']);
  });

  it('takes all before a close tag alone as opened by the prompt, half calls included', () => {
    expect(kinds(parseTurn(`maybe ${code('a')} or <tool_call> "so </think>the answer`))).toEqual(['thinking', 'text']);
  });

  it('takes all after an open tag alone as thinking', () => {
    expect(parseTurn(`hm <think>so ${code('a')}`)).toEqual([
      { kind: 'text', text: 'hm' },
      { kind: 'thinking', text: `so ${code('a')}` },
    ]);
  });

  it('grades only what follows the last thinking and the last call', () => {
    expect(finalText(parseTurn('<think>a</think>one</think>two'))).toBe('two');
    expect(finalText(parseTurn('<think>a</think>one<think>b</think> two '))).toBe('two');
    expect(finalText(parseTurn(`one ${code('a')} two`))).toBe('two');
    expect(finalText(parseTurn(`one ${call('{oops}')}`))).toBe('');
    expect(finalText(parseTurn('<think>\\boxed{1}'))).toBe('');
    expect(finalText(parseTurn('plain'))).toBe('plain');
    expect(finalText([])).toBe('');
  });

  it('keeps calls between two thoughts', () => {
    expect(kinds(parseTurn(`<think>a</think>${code('x')}<think>b</think>`))).toEqual(['thinking', 'call', 'thinking']);
  });
});

describe('any input', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '<tool_call>',
      '</tool_call>',
      '<think>',
      '</think>',
      '"',
      '\\',
      '\\"',
      '{',
      '}',
      '\n',
      '{"name": "f", "arguments": {"a": "',
    ),
    fc.string({ unit: 'binary' }),
  );

  it('is read without throwing, and nothing but blanks and tags is lost', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.boolean(), (pieces, limit) => {
        const turn = pieces.join('');
        const segments = parseTurn(turn, limit);
        expect(kinds(segments).filter((kind) => kind === 'cutOffCall').length).toBeLessThanOrEqual(limit ? 1 : 0);
        const kept = segments.every(
          (segment) =>
            segment.kind === 'call' || turn.includes(segment.kind === 'text' || segment.kind === 'thinking' ? segment.text : segment.raw),
        );
        expect(kept).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('reads back every call that is written as JSON, whatever its strings hold', () => {
    const value = fc.string({ unit: 'grapheme' }).chain((text) => piece.map((tag) => `${text}${tag}${text}`));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (texts) => {
        expect(codes(parseTurn(texts.map(code).join('\n')))).toEqual(texts);
      }),
      { numRuns: 300 },
    );
  });

  const HOSTILE = [
    '<tool_call>{</think>',
    '<tool_call>{"a": "</think>',
    '<tool_call>"</tool_call>"',
    '<tool_call>"</tool_call><tool_call>\\"',
    '<tool_call>{"a": "\n</tool_call>',
    '<think>',
    '"',
    '\\',
    '\\boxed{',
  ];

  it('costs attempts at reading calls in proportion to its length', () => {
    const attempts = vi.spyOn(JSON, 'parse');
    try {
      for (const unit of HOSTILE) {
        for (const end of ['', '"}}</tool_call>', '}}</tool_call>']) {
          const turn = repeated(unit, 5e4) + end;
          attempts.mockClear();
          parseTurn(turn);
          const read = attempts.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
          expect(read, `${unit}… ${end}`).toBeLessThan(20 * turn.length);
        }
      }
    } finally {
      attempts.mockRestore();
    }
  });

  it('is read in one sweep at a megabyte of tags that never close', () => {
    for (const unit of HOSTILE.filter((one) => !one.includes('</tool_call>'))) expect(parseTurn(repeated(unit, 1e6))).not.toEqual([]);
  });
});

const repeated = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length));
