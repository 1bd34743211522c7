/**
 * Where a text solution calculates: GSM8K's marks (`<<48/2=24>>`), and formulae with a plain number behind the sign of equality, in text or
 * in LaTeX. A solution becomes pieces of text with a calculation between each two. Runs nothing.
 */
import { type Expression, readExpression } from './expression.js';
import { readStated, type StatedValue } from './statedValue.js';

export interface Step {
  readonly kind: 'mark' | 'formula';
  /** A Python expression. */
  readonly python: string;
  readonly math: boolean;
  readonly stated: StatedValue;
}

export interface SolutionSteps {
  /** One more than steps: what stands before each, and behind the last. The first text behind a step begins with its value. */
  readonly texts: readonly string[];
  readonly steps: readonly Step[];
  /** Marks that hold no arithmetic that can be read; they are left out of the text. */
  readonly unreadable: readonly string[];
}

/** A step with the part of the solution that it replaces, and what stays of that part behind the call. */
interface Found extends Step {
  readonly start: number;
  readonly end: number;
  readonly rest: string;
}

export function findSteps(solution: string): SolutionSteps {
  const unreadable: string[] = [];
  const marks = findMarks(solution, unreadable);
  const spans = mathSpans(solution);
  const found = [...marks, ...spans.flatMap((span) => inMath(solution, span) ?? []), ...inText(solution, [...marks, ...spans])];
  found.sort((a, b) => a.start - b.start || a.end - b.end);
  const texts: string[] = [];
  let text = '';
  let at = 0;
  for (const { start, end, rest } of found) {
    texts.push(withoutMarks(text + solution.slice(at, start)));
    text = rest;
    at = end;
  }
  texts.push(withoutMarks(text + solution.slice(at)));
  return { texts, steps: found.map(({ kind, python, math, stated }) => ({ kind, python, math, stated })), unreadable };
}

const MARK = /<<([^<>\n]*)>>/g;

const withoutMarks = (text: string): string => text.replaceAll(MARK, '');

/** `Ann has 48/2 = $<<48/2=24>>24 left.`: the call takes the place of `48/2 = <<48/2=24>>`. */
function findMarks(solution: string, unreadable: string[]): Found[] {
  const found: Found[] = [];
  for (const match of solution.matchAll(MARK)) {
    const body = match[1]!;
    const equals = body.lastIndexOf('=');
    const expression = readExpression(body, 0);
    const stated = readStated(body, equals + 1);
    if (equals === -1 || expression === undefined || stated === undefined || !isWhole(body, expression, equals, stated)) {
      unreadable.push(body);
      continue;
    }
    if (expression.operations === 0) continue;
    const end = match.index + match[0].length;
    const { start, currency } = beforeMark(solution.slice(found.at(-1)?.end ?? 0, match.index), found.at(-1)?.end ?? 0);
    const repeated = /^\s*\\?[$€£]?\s*-?[\d.]/.test(solution.slice(end, end + 12));
    const rest = currency + (repeated ? '' : stated.text);
    found.push({ kind: 'mark', python: expression.python, math: expression.math, stated, start, end, rest });
  }
  return found;
}

const isWhole = (body: string, expression: Expression, equals: number, stated: StatedValue): boolean =>
  body.slice(expression.end, equals).trim() === '' && body.slice(stated.end).trim() === '';

/** How much of the text in front of a mark says the same: the formula where it is one, the sign of equality. */
function beforeMark(whole: string, wholeOffset: number): { readonly start: number; readonly currency: string } {
  const text = whole.slice(-LONGEST_FORMULA);
  const offset = wholeOffset + whole.length - text.length;
  const tail = /=\s*(\\?[$€£]?)\s*$/.exec(text);
  if (tail === null) return { start: offset + text.length, currency: '' };
  const run = /[\d\s+\-*/x×÷·().,%$€£]*$/.exec(text.slice(0, tail.index))![0];
  const runStart = tail.index - run.length;
  for (const at of startsOf(run)) {
    const expression = readExpression(run, at);
    if (expression === undefined || run.slice(expression.end).trim() !== '') continue;
    if (expression.operations === 0 || !mayStartAt(text, runStart + at)) break;
    return { start: offset + runStart + at, currency: tail[1]! };
  }
  return { start: offset + text.length, currency: '' };
}

const LONGEST_FORMULA = 300;

const startsOf = (run: string): number[] => [...run.matchAll(/(?<![\d.,])(?:[$€£]?[\d.]|[(-])/g)].map(({ index }) => index);

interface Span {
  readonly start: number;
  readonly end: number;
  /** Within the delimiters. */
  readonly innerStart: number;
  readonly innerEnd: number;
}

/** `$...$`, `$$...$$`, `\(...\)`, `\[...\]`. A dollar sign in front of an amount opens none. */
function mathSpans(text: string): Span[] {
  const delimited =
    /\\\(([\s\S]{1,600}?)\\\)|\\\[([\s\S]{1,600}?)\\\]|\$\$([^$]{1,600})\$\$|(?<![\\$\d])\$(?![\s$])((?:[^$\n\\]|\\.){0,599}?(?:[^$\s\\]|\\.))\$(?![\d$])/g;
  return [...text.matchAll(delimited)].map(({ index, 0: whole, 3: display, 4: inline }) => {
    const width = inline !== undefined && display === undefined ? 1 : 2;
    return { start: index, end: index + whole.length, innerStart: index + width, innerEnd: index + whole.length - width };
  });
}

/** A span of mathematics stays whole: its one calculation goes in front of it, and its formula out of it. */
function inMath(text: string, { start, end, innerStart, innerEnd }: Span): Found | undefined {
  const formulae = [...formulaeIn(text, innerStart, innerEnd)];
  if (formulae.length !== 1) return undefined;
  const { expression, stated, start: from } = formulae[0]!;
  const rest = text.slice(start, from) + text.slice(stated.end - stated.text.length, end);
  return { kind: 'formula', python: expression.python, math: expression.math, stated, start, end, rest };
}

function inText(text: string, taken: readonly { readonly start: number; readonly end: number }[]): Found[] {
  const found: Found[] = [];
  let at = 0;
  for (const { start, end } of [...taken].sort((a, b) => a.start - b.start).concat({ start: text.length, end: text.length } as Span)) {
    for (const { expression, stated, start: from } of formulaeIn(text, at, start)) {
      found.push({
        kind: 'formula',
        python: expression.python,
        math: expression.math,
        stated,
        start: from,
        end: stated.end,
        rest: stated.text,
      });
    }
    at = Math.max(at, end);
  }
  return found;
}

interface Formula {
  readonly start: number;
  readonly expression: Expression;
  readonly stated: StatedValue;
}

const START = /[\d([{.$€£\\-]|\b(?:gcd|lcm|sqrt)\b/g;
const EQUALS = /\s*(?:=|≈|\\approx\b|&=)(?!=)/y;

/** Formulae between two places of the text. In a chain, `2 * 3 + 4 = 6 + 4 = 10`, the first expression and the last value count. */
function* formulaeIn(text: string, from: number, to: number): Generator<Formula, void, void> {
  const part = text.slice(0, to);
  for (let at = nextStart(part, from); at !== -1; ) {
    const formula = mayStartAt(text, at) ? readFormula(part, at) : undefined;
    if (formula !== undefined) yield formula;
    at = nextStart(part, formula?.stated.end ?? behindToken(part, at));
  }
}

function nextStart(text: string, from: number): number {
  START.lastIndex = from;
  return START.exec(text)?.index ?? -1;
}

/** A number is left behind as a whole: `48` is not tried at its `8`. */
function behindToken(text: string, at: number): number {
  const token = /\\[a-zA-Z]+|[\d.,]*\d|[\s\S]/y;
  token.lastIndex = at;
  return at + (token.exec(text)?.[0].length ?? 1);
}

function readFormula(text: string, start: number): Formula | undefined {
  const expression = readExpression(text, start);
  if (expression === undefined || expression.operations === 0) return undefined;
  let at = expression.end;
  for (let links = 0; links < 6; links++) {
    EQUALS.lastIndex = at;
    const equals = EQUALS.exec(text);
    if (equals === null) return undefined;
    const right = at + equals[0].length;
    const stated = readStated(text, right);
    const next = readExpression(text, skipSpace(text, right));
    if (stated !== undefined && isComplete(text, stated.end) && (next === undefined || next.end <= stated.end)) {
      return { start, expression, stated };
    }
    if (next === undefined) return undefined;
    at = next.end;
  }
  return undefined;
}

const skipSpace = (text: string, at: number): number => {
  const space = /[ \t]*/y;
  space.lastIndex = at;
  return at + space.exec(text)![0].length;
};

/** Whether the value ends here, not only a part of a longer expression or of another number. */
function isComplete(text: string, end: number): boolean {
  const after = text.slice(end, end + 8);
  if (/^[\p{L}\d^(!\\]/u.test(after)) return /^(?:\\(?:\)|\]|\\|\$|text|mathrm|,|;| |quad)|[\p{L}]{2})/u.test(after);
  if (/^[.,]\d/.test(after)) return false;
  return !/^\s*(?:[*×·÷^/]|\+|\\(?:times|cdot|div|frac|sqrt)|[-\u2212]\s?\d|[=≈]|x\s?\d)/.test(after);
}

/** Whether an expression may begin here, as no part of a longer one that cannot be read. */
function mayStartAt(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 24), start);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const lineIsWhole = before.includes('\n') || start <= 24;
  // "- 3 * 4 = 12" and "2) 3 * 4 = 12" are items of lists.
  if (lineIsWhole && /^\s*(?:[-*\u2022]|\(?\d+[.)])\s+$/.test(line)) return true;
  if (lineIsWhole && line.trim() === '' && text[start] === '-' && /\s/.test(text[start + 1] ?? '')) return false;
  if (/[\p{L}\d_)\]}.!%]$/u.test(before)) return false;
  return !/(?:[-+*/^×·÷\u2212]|\\(?:times|cdot|div|frac|sqrt|left)|[\d)\]}]|(?<![\p{L}'])(?![aAI]\b)\p{L})\s*$/u.test(before);
}
