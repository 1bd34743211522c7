import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CodePiece, highlightJson, highlightPython } from './highlight.js';
import { HOSTILE_TEXTS } from './hostileTexts.js';

const joined = (pieces: readonly CodePiece[]): string => pieces.map((piece) => piece.text).join('');
const of = (pieces: readonly CodePiece[], kind: CodePiece['kind']): string[] =>
  pieces.filter((piece) => piece.kind === kind).map((piece) => piece.text);

const codeLike = fc
  .array(
    fc.constantFrom('"', "'", '"""', "'''", '#', '\n', '\\', 'f', 'rb', 'def ', 'x', '1e', '.5', '@', ' ', '{', ':', '\ud800', '\u00e4'),
  )
  .map((parts) => parts.join(''));

describe('highlighting', () => {
  it('keeps every character, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(codeLike, fc.string({ unit: 'binary' })), (text) => {
        expect(joined(highlightPython(text))).toBe(text);
        expect(joined(highlightJson(text))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it.each(HOSTILE_TEXTS)('keeps every character of: $name', ({ text }) => {
    expect(joined(highlightPython(text)) === text).toBe(true);
    expect(joined(highlightJson(text)) === text).toBe(true);
  });

  it('knows the parts of Python', () => {
    const pieces = highlightPython('@cache\ndef area(r: float):  # circle\n    return 3.14e0 * r**2 + 0x1F + len("a # b")\n');
    expect(of(pieces, 'keyword')).toEqual(['def', 'return']);
    expect(of(pieces, 'name')).toEqual(['@cache', 'area']);
    expect(of(pieces, 'number')).toEqual(['3.14e0', '2', '0x1F']);
    expect(of(pieces, 'string')).toEqual(['"a # b"']);
    expect(of(pieces, 'comment')).toEqual(['# circle']);
    expect(of(pieces, 'builtin')).toEqual(['float', 'len']);
  });

  it('reads strings to their end: prefixes, triple quotes over lines, escapes; an unclosed one ends with its line', () => {
    expect(of(highlightPython(`rb'\\'' + f"""a\n"b" c""" + u"x`), 'string')).toEqual([`rb'\\''`, `f"""a\n"b" c"""`, 'u"x']);
    expect(of(highlightPython(`a = 'open\nb = 1`), 'string')).toEqual([`'open`]);
    expect(of(highlightPython(`a = '' + ""`), 'string')).toEqual([`''`, `""`]);
    expect(of(highlightPython(`'''never closed\nx`), 'string')).toEqual([`'''never closed\nx`]);
  });

  it('does not take a method or a longer word for a builtin or a keyword', () => {
    const pieces = highlightPython('a.sum() + printer + iff');
    expect(of(pieces, 'builtin')).toEqual([]);
    expect(of(pieces, 'keyword')).toEqual([]);
  });

  it('tells keys, strings, numbers and words of JSON apart', () => {
    const pieces = highlightJson('{"a" : "b\\"c", "n": -1.5e3, "t": [true, null]}');
    expect(of(pieces, 'key')).toEqual(['"a"', '"n"', '"t"']);
    expect(of(pieces, 'string')).toEqual(['"b\\"c"']);
    expect(of(pieces, 'number')).toEqual(['-1.5e3']);
    expect(of(pieces, 'keyword')).toEqual(['true', 'null']);
  });
});
