/**
 * Cuts a plain form into tokens: numbers (exact, thousands joined), letters, functions, words, signs. LaTeX and plain spellings become the
 * same tokens. One pass, linear. What is no mathematics (an unknown command, a control character) gives undefined.
 */
import type { FunctionName } from './node.js';
import { ACCENTS, CHARACTERS, COMMANDS, CURRENCIES, GREEK_NAMES, type Meaning, NAMES, RAISED, TEXT_COMMANDS, VULGAR } from './notation.js';
import { isDigit, readNumber } from './numberToken.js';
import { THIN_SPACE } from './plainText.js';
import { fromDigits, type Rational } from './rational.js';
import { UNIT_LETTERS } from './unitNames.js';
import { SHORT_WORDS } from './words.js';

export type Token = { readonly spaceBefore: boolean } & (
  | { readonly type: 'number'; readonly value: Rational; readonly digits: string; readonly exponent?: bigint }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'constant'; readonly name: 'pi' | 'e' | 'i' | 'infinity' }
  | { readonly type: 'function'; readonly name: FunctionName }
  | { readonly type: 'word'; readonly text: string }
  | { readonly type: 'currency'; readonly name: string }
  /** Brackets, operators and the commands that stand for them, in one spelling. */
  | { readonly type: 'sign'; readonly sign: string }
);

const MAX_TOKENS = 20_000;
const asSign = (text: string): Meaning => ({ type: 'sign', sign: text });

/** `1,000` is one number outside brackets, and inside where other commas have a space behind them. */
export function tokenize(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  let at = 0;
  let depth = 0;
  let spaceBefore = false;
  const spacedCommas = text.includes(', ');
  const push = (meaning: Meaning): void => {
    tokens.push({ ...meaning, spaceBefore });
  };
  while (at < text.length) {
    if (tokens.length > MAX_TOKENS) return undefined;
    const char = text[at]!;
    if (char === ' ' || char === THIN_SPACE || char === '\n' || char === '\t') {
      spaceBefore = true;
      at++;
      continue;
    }
    if (isDigit(char) || (char === '.' && isDigit(text[at + 1] ?? ''))) {
      const read = readNumber(text, at, depth === 0 || spacedCommas);
      tokens.push({ ...read.token, spaceBefore });
      at = read.end;
    } else if (char === '\\') {
      const end = readCommand(text, at, tokens, spaceBefore);
      if (end === undefined) return undefined;
      at = end;
    } else if (char === '*' && text[at + 1] === '*') {
      push(asSign('^'));
      at += 2;
    } else if ((char === '<' || char === '>') && text[at + 1] === '=') {
      push(asSign(char === '<' ? '≤' : '≥'));
      at += 2;
    } else if (char === '!' && text[at + 1] === '=') {
      push(asSign('≠'));
      at += 2;
    } else if (isLetter(char)) {
      let end = at + 1;
      while (end < text.length && isLetter(text[end]!)) end++;
      splitLetters(text.slice(at, end), tokens, spaceBefore);
      at = end;
    } else {
      const end = readCharacter(text, at, tokens, spaceBefore);
      if (end === undefined) return undefined;
      at = end;
      if ('([{'.includes(char)) depth++;
      else if (')]}'.includes(char)) depth--;
    }
    const last = tokens[tokens.length - 1];
    if (last?.type === 'sign' && last.sign === '\\{') depth++;
    else if (last?.type === 'sign' && last.sign === '\\}') depth--;
    spaceBefore = false;
  }
  return tokens;
}

const isLetter = (char: string): boolean =>
  (char >= 'a' && char <= 'z') || (char >= 'A' && char <= 'Z') || (char > '\u007f' && /[\p{L}]/u.test(char) && !CHARACTERS.has(char));

const COMMAND = /\\([A-Za-z]+)\*?/y;

/** Pushes what stands at a backslash, and gives the index after it; undefined for what is no mathematics. */
function readCommand(text: string, at: number, tokens: Token[], spaceBefore: boolean): number | undefined {
  const push = (meaning: Meaning): void => {
    tokens.push({ ...meaning, spaceBefore });
  };
  COMMAND.lastIndex = at;
  const name = COMMAND.exec(text)?.[1];
  if (name === undefined) {
    const next = text[at + 1];
    if (next === '{' || next === '}') push(asSign(`\\${next}`));
    else if (next === '%') push(asSign('%'));
    else if (next === '|') push(asSign('|'));
    else if (next === '\\') push(asSign('\\\\'));
    else if (next === '$') tokens.push({ type: 'currency', name: 'dollar', spaceBefore });
    else return undefined;
    return at + 2;
  }
  const end = COMMAND.lastIndex;
  if (TEXT_COMMANDS.has(name) || ACCENTS.has(name)) {
    const group = readGroup(text, end);
    if (group === undefined) return undefined;
    return (
      TEXT_COMMANDS.has(name)
        ? pushText(name, group.content, tokens, spaceBefore)
        : pushAccent(name, group.content, tokens, spaceBefore)
    )
      ? group.end
      : undefined;
  }
  if (name === 'begin' || name === 'end') {
    const group = readGroup(text, end);
    if (group === undefined) return undefined;
    push(asSign(`\\${name} ${group.content}`));
    if (name === 'begin' && group.content === 'array') {
      const columns = readGroup(text, group.end);
      return columns?.end ?? group.end;
    }
    return group.end;
  }
  if (name === 'pmod' || name === 'bmod' || name === 'mod') return undefined;
  if (name === 'mathrm' || name === 'cdots' || name === 'ldots' || name === 'dots') return undefined;
  if ((name === 'imath' || name === 'jmath') && text.includes('\\imath') && text.includes('\\jmath')) {
    // Beside each other they are unit vectors.
    push({ type: 'name', name: `\\mathbf{${name[0]}}` });
    return end;
  }
  const meaning = COMMANDS.get(name) ?? (GREEK_NAMES.has(name) ? ({ type: 'name', name: `\\${name}` } as const) : undefined);
  if (meaning === undefined) return undefined;
  push(meaning);
  return end;
}

function readGroup(text: string, from: number): { readonly content: string; readonly end: number } | undefined {
  let at = from;
  while (text[at] === ' ') at++;
  if (text[at] !== '{') return undefined;
  let depth = 1;
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return { content: text.slice(at + 1, i), end: i + 1 };
  }
  return undefined;
}

/** `\text{…}` and `\mathrm{…}`: words, a letter, or a function's name. */
function pushText(command: string, content: string, tokens: Token[], spaceBefore: boolean): boolean {
  const text = content.replaceAll(THIN_SPACE, ' ').trim();
  const known = NAMES.get(text);
  if (command !== 'text' && known !== undefined) tokens.push({ ...known, spaceBefore });
  else if (command === 'mathrm' && UNIT_LETTERS.has(text) && endsNumber(tokens.at(-1))) tokens.push({ type: 'word', text, spaceBefore });
  else if (command === 'mathrm' && /^[A-Za-z]$/.test(text)) pushLetter(text, tokens, spaceBefore);
  else if (/^\d+$/.test(text)) tokens.push({ type: 'number', value: fromDigits(text, ''), digits: text, spaceBefore });
  else if (/[\\{}$]/.test(text)) return false;
  else if (text !== '') tokens.push({ type: 'word', text, spaceBefore });
  return true;
}

/** Whether an upright letter behind it is a unit. */
const endsNumber = (token: Token | undefined): boolean =>
  token?.type === 'number' || token?.type === 'constant' || (token?.type === 'sign' && ['}', ')', ']'].includes(token.sign));

/** `\vec{v}` and the like; bold letters are the letters, but for the unit vectors i, j and k and for e. */
function pushAccent(command: string, content: string, tokens: Token[], spaceBefore: boolean): boolean {
  const text = content.replace(/\\([ij])math(?![A-Za-z])/g, '$1').replace(/\s/g, '');
  if (text === '' || text.length > 20 || /[\\{}]/.test(text)) return false;
  if (command === 'mathbb' && /^[RZ]$/.test(text)) tokens.push({ type: 'name', name: text === 'R' ? 'ℝ' : 'ℤ', spaceBefore });
  else if ((command === 'mathbf' || command === 'boldsymbol') && /^\d+$/.test(text)) {
    tokens.push({ type: 'number', value: fromDigits(text, ''), digits: text, spaceBefore });
  } else if ((command === 'mathbf' || command === 'boldsymbol') && /^[A-Za-z]$/.test(text) && !'ijke'.includes(text)) {
    tokens.push({ type: 'name', name: text, spaceBefore });
  } else tokens.push({ type: 'name', name: `\\${command}{${text}}`, spaceBefore });
  return true;
}

function pushLetter(letter: string, tokens: Token[], spaceBefore: boolean): void {
  if (letter === 'μ' || letter === 'µ') tokens.push({ type: 'name', name: '\\mu', spaceBefore });
  else if (letter === 'e' || letter === 'i') tokens.push({ type: 'constant', name: letter, spaceBefore });
  else tokens.push({ type: 'name', name: letter, spaceBefore });
}

const LONGEST_NAME = 9;

/** A run of letters: a known name, a word, or a product of letters with known names in it. */
function splitLetters(run: string, tokens: Token[], spaceBefore: boolean): void {
  const whole = NAMES.get(run);
  if (whole !== undefined) tokens.push({ ...whole, spaceBefore });
  else if (run.length === 1) pushLetter(run, tokens, spaceBefore);
  else if (GREEK_NAMES.has(run) && run !== 'Pi') tokens.push({ type: 'name', name: `\\${run}`, spaceBefore });
  else if (isWord(run)) tokens.push({ type: 'word', text: run, spaceBefore });
  else {
    let space = spaceBefore;
    for (let i = 0; i < run.length; ) {
      const found = nameAt(run, i);
      if (found === undefined) pushLetter(run[i]!, tokens, space);
      else tokens.push({ ...NAMES.get(found)!, spaceBefore: space });
      i += found?.length ?? 1;
      space = false;
    }
  }
}

function isWord(run: string): boolean {
  if (SHORT_WORDS.has(run) || SHORT_WORDS.has(run.toLowerCase())) return true;
  if (run.length > 30 || /[^A-Za-z]/.test(run)) return true;
  if (run.length <= 3) return false;
  let [single, known] = [0, 0];
  for (let i = 0; i < run.length; ) {
    const found = nameAt(run, i);
    if (found === undefined) single++;
    else known++;
    i += found?.length ?? 1;
  }
  return known === 0 || single > 3;
}

/** The longest of the names that may stand inside a run, such as `sin` in `xsin`. */
function nameAt(run: string, from: number): string | undefined {
  for (let length = Math.min(LONGEST_NAME, run.length - from); length >= 2; length--) {
    const part = run.slice(from, from + length);
    if (part !== 'oo' && part !== 'inf' && part !== 'max' && part !== 'min' && NAMES.has(part)) return part;
  }
  return undefined;
}

/** Any other character; index after it. */
function readCharacter(text: string, at: number, tokens: Token[], spaceBefore: boolean): number | undefined {
  const char = text[at]!;
  const meaning = CHARACTERS.get(char);
  if (meaning !== undefined) {
    tokens.push({ ...meaning, spaceBefore });
    return at + 1;
  }
  const currency = CURRENCIES.get(char);
  if (currency !== undefined) {
    tokens.push({ type: 'currency', name: currency, spaceBefore });
    return at + 1;
  }
  const vulgar = VULGAR.get(char);
  if (vulgar !== undefined) {
    const part = (value: number): Token => ({ type: 'number', value: fromDigits(`${value}`, ''), digits: `${value}`, spaceBefore: false });
    tokens.push({ type: 'sign', sign: '\\frac', spaceBefore });
    for (const value of vulgar)
      tokens.push({ type: 'sign', sign: '{', spaceBefore: false }, part(value), { type: 'sign', sign: '}', spaceBefore: false });
    return at + 1;
  }
  if (RAISED.includes(char) || char === '⁻') {
    let end = at + 1;
    while (end < text.length && RAISED.includes(text[end]!)) end++;
    const digits = [...text.slice(char === '⁻' ? at + 1 : at, end)].map((raised) => RAISED.indexOf(raised)).join('');
    if (digits === '') return undefined;
    tokens.push({ type: 'sign', sign: '^', spaceBefore });
    if (char === '⁻') tokens.push({ type: 'sign', sign: '-', spaceBefore: false });
    tokens.push({ type: 'number', value: fromDigits(digits, ''), digits, spaceBefore: false });
    return end;
  }
  return undefined;
}
