/**
 * Colours code for reading: Python and JSON, cut into pieces by kind. Reads any text in one pass and never fails: what it does not know is
 * plain. Does not parse (an f-string is one string), does not run, and makes no markup.
 */
export type CodeKind = 'plain' | 'keyword' | 'builtin' | 'string' | 'comment' | 'number' | 'name' | 'key';

export interface CodePiece {
  readonly kind: CodeKind;
  readonly text: string;
}

const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case'.split(
    ' ',
  ),
);
const BUILTINS = new Set(
  'abs all any bin bool bytes chr complex dict divmod enumerate eval exec filter float format frozenset hash hex input int isinstance iter len list map max min next object oct open ord pow print range repr reversed round set sorted str sum super tuple type zip'.split(
    ' ',
  ),
);

/** The pieces in order; joined they are the code. Neighbours differ in kind. */
export function highlightPython(code: string): CodePiece[] {
  return scan(code, (at) => {
    const char = code[at]!;
    if (char === '#') return { kind: 'comment', end: lineEnd(code, at) };
    const quote = pythonQuote(code, at);
    if (quote !== undefined) return { kind: 'string', end: pythonStringEnd(code, quote) };
    if (isDigit(char) || (char === '.' && isDigit(code[at + 1]))) return { kind: 'number', end: match(PYTHON_NUMBER, code, at) };
    if (char === '@' && /^[ \t]*$/.test(code.slice(Math.max(code.lastIndexOf('\n', at - 1) + 1, at - 200), at)))
      return { kind: 'name', end: Math.max(at + 1, match(DECORATOR, code, at)) };
    const end = match(WORD, code, at);
    if (end === at) return undefined;
    const word = code.slice(at, end);
    if (KEYWORDS.has(word)) return { kind: 'keyword', end };
    if (BUILTINS.has(word) && code[at - 1] !== '.') return { kind: 'builtin', end };
    return { kind: DEFINES.test(code.slice(Math.max(0, at - 40), at)) ? 'name' : 'plain', end };
  });
}

/** As `highlightPython`, for JSON: names of fields are keys. */
export function highlightJson(text: string): CodePiece[] {
  return scan(text, (at) => {
    const char = text[at]!;
    if (char === '"') {
      const end = stringEnd(text, at + 1, '"', true);
      return { kind: text[match(SPACE, text, end)] === ':' ? 'key' : 'string', end };
    }
    if (isDigit(char) || (char === '-' && isDigit(text[at + 1]))) return { kind: 'number', end: match(JSON_NUMBER, text, at) };
    const end = match(WORD, text, at);
    if (end === at) return undefined;
    return { kind: JSON_WORDS.has(text.slice(at, end)) ? 'keyword' : 'plain', end };
  });
}

const WORD = /[\p{L}_][\p{L}\p{N}_]*/uy;
const PYTHON_NUMBER =
  /0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?[jJ]?/y;
const JSON_NUMBER = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const DECORATOR = /@[\p{L}_][\p{L}\p{N}_.]*/uy;
const SPACE = /\s*/y;
const JSON_WORDS = new Set(['true', 'false', 'null']);
/** What stands before a name that is defined. */
const DEFINES = /(?:^|[^\w])(?:def|class)[ \t]+$/;

interface Found {
  readonly kind: CodeKind;
  readonly end: number;
}

/** Walks over the text; where `at` finds nothing, one character is plain. */
function scan(text: string, at: (index: number) => Found | undefined): CodePiece[] {
  const pieces: CodePiece[] = [];
  let start = 0;
  let kind: CodeKind = 'plain';
  let index = 0;
  while (index < text.length) {
    const found = at(index) ?? { kind: 'plain', end: index + 1 };
    if (found.kind !== kind) {
      if (index > start) pieces.push({ kind, text: text.slice(start, index) });
      start = index;
      kind = found.kind;
    }
    index = Math.max(found.end, index + 1);
  }
  if (index > start) pieces.push({ kind, text: text.slice(start) });
  return pieces;
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9';

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

interface Quote {
  /** After the opening quote. */
  readonly start: number;
  readonly close: string;
}

const PREFIXED = /(?:[rR][bBfFtT]?|[bBfFtT][rR]?|[uU])?(?:"""|'''|"|')/y;

function pythonQuote(code: string, at: number): Quote | undefined {
  const start = match(PREFIXED, code, at);
  if (start === at) return undefined;
  const char = code[start - 1]!;
  return { start, close: code.startsWith(char.repeat(3), start - 3) && start - 3 >= at ? char.repeat(3) : char };
}

const pythonStringEnd = (code: string, { start, close }: Quote): number => stringEnd(code, start, close, close.length === 1);

/** After the closing quote; where it is missing, the end of the line or of the text. A backslash takes the next character along. */
function stringEnd(text: string, start: number, close: string, oneLine: boolean): number {
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (char === '\\') i++;
    else if (oneLine && char === '\n') return i;
    else if (char === close[0] && text.startsWith(close, i)) return i + close.length;
  }
  return text.length;
}
