/**
 * Arithmetic as people write it, plain or in LaTeX, translated into a Python expression. An allow-list: numbers, + - * / ^ !, percent,
 * brackets, fractions, roots, binomials, gcd, lcm and remainders; whatever else stands there ends the reading. Evaluates nothing.
 */

export interface Expression {
  /** For example `(3 + 4) * math.sqrt(2)`. */
  readonly python: string;
  /** Where it ends in the text. */
  readonly end: number;
  /** How many things are computed: 0 is a plain number. */
  readonly operations: number;
  /** Whether Python has to import math. */
  readonly math: boolean;
}

/** Longer ones, and such nested deeper, are no calculation of a solution. */
const LONGEST = 600;
const DEEPEST = 30;

/** The longest expression that begins here; undefined where none does. */
export function readExpression(text: string, start: number): Expression | undefined {
  const reader = new Reader(text, start);
  const python = reader.remainder();
  return python === undefined ? undefined : { python, end: reader.end, operations: reader.operations, math: reader.math };
}

const NUMBER = /(?:\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+/y;
const SPACE = /(?:[ \t\u00a0]|\\[,;:! ]|\\q?quad\b|~)*/y;
const CURRENCY = /(?:\\?\$|[€£])(?=[\d.])/y;
const SUM = /\+|-(?!>)|\u2212/y;
const PRODUCT = /\*(?!\*)|×|·|\\times(?![A-Za-z])|\\cdot(?![A-Za-z])|\/\/?|÷|\\div(?![A-Za-z])|[xX](?=[ ]?[\d(.$])/y;
const POWER = /\*\*|\^/y;
const REMAINDER = /\\?b?mod\b/y;
const PERCENT = /\\?%/y;
const FRACTION = /\\[dt]?frac(?![A-Za-z])/y;
const ROOT = /\\sqrt(?![A-Za-z])|sqrt(?=\()/y;
const BINOMIAL = /\\[dt]?binom(?![A-Za-z])/y;
const FUNCTION = /\\?(gcd|lcm)(?=[ ]?(?:\\left)?\()/y;
const OPEN = /(?:\\left)?([([{])/y;
const CLOSING: Readonly<Record<string, RegExp>> = {
  '(': /(?:\\right)?\)/y,
  '[': /(?:\\right)?\]/y,
  '{': /\}/y,
};

class Reader {
  operations = 0;
  math = false;
  /** Behind the last thing that was read whole. */
  end: number;
  #at: number;
  #depth = 0;
  readonly #text: string;
  readonly #limit: number;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
    this.end = start;
    this.#limit = start + LONGEST;
  }

  /** sum ['mod' sum] */
  remainder(): string | undefined {
    if (this.#depth >= DEEPEST) return undefined;
    this.#depth++;
    try {
      const left = this.#sum();
      if (left === undefined) return undefined;
      const right = this.#operand(REMAINDER, () => this.#sum());
      return right === undefined ? left : `${/[-+]/.test(left) ? `(${left})` : left} % ${/[-+*/]/.test(right) ? `(${right})` : right}`;
    } finally {
      this.#depth--;
    }
  }

  /** product {('+' | '-') product} */
  #sum(): string | undefined {
    let left = this.#product();
    while (left !== undefined) {
      const minus = this.#next(/-|\u2212/y);
      const right = this.#operand(SUM, () => this.#product());
      if (right === undefined) break;
      left = `${left} ${minus ? '-' : '+'} ${right}`;
    }
    return left;
  }

  /** factor {('*' | '/') factor | factor in brackets} */
  #product(): string | undefined {
    let left = this.#factor();
    while (left !== undefined) {
      const divides = this.#next(/\/|÷|\\div(?![A-Za-z])/y);
      const floors = this.#next(/\/\//y);
      const right = this.#operand(PRODUCT, () => this.#factor());
      if (right !== undefined) left = `${left} ${floors ? '//' : divides ? '/' : '*'} ${right}`;
      else {
        const bracket = this.#adjacentBracket();
        if (bracket === undefined) break;
        left = `${left} * ${bracket}`;
      }
    }
    return left;
  }

  /** {'-' | '+'} power */
  #factor(): string | undefined {
    this.#skip();
    if (this.#next(/\+[\d.(]/y)) this.#take(/\+/y);
    if (this.#take(/-|\u2212/y) === undefined) return this.#power();
    if (this.#depth >= DEEPEST) return undefined;
    this.#depth++;
    const inner = this.#factor();
    this.#depth--;
    return inner === undefined ? undefined : `-${inner}`;
  }

  /** postfix ['^' factor] */
  #power(): string | undefined {
    const base = this.#postfix();
    if (base === undefined) return undefined;
    const exponent = this.#operand(POWER, () => this.#factor());
    return exponent === undefined ? base : `${base}**${exponent}`;
  }

  /** atom {'!' | '%'} */
  #postfix(): string | undefined {
    let value = this.#atom();
    while (value !== undefined) {
      const before = this.#at;
      this.#skip();
      if (this.#take(/!(?![=!])/y) !== undefined) {
        this.math = true;
        value = `math.factorial(${value})`;
      } else if (this.#take(PERCENT) !== undefined) {
        // A number behind it makes it a remainder, or it is no arithmetic.
        if (this.#next(/[\d(.]/y)) {
          this.#at = before;
          return value;
        }
        value = `(${value} / 100)`;
      } else {
        this.#at = before;
        return value;
      }
      this.operations++;
      this.end = this.#at;
    }
    return value;
  }

  #atom(): string | undefined {
    this.#skip();
    this.#take(CURRENCY);
    const number = this.#take(NUMBER);
    if (number !== undefined) return this.#whole(plainNumber(number));
    if (this.#take(FRACTION) !== undefined) {
      const [above, below] = [this.#argument(), this.#argument()];
      return above === undefined || below === undefined ? undefined : this.#computed(`(${bracketed(above)} / ${bracketed(below)})`);
    }
    if (this.#take(BINOMIAL) !== undefined) {
      const [above, below] = [this.#argument(), this.#argument()];
      return above === undefined || below === undefined ? undefined : this.#computed(`math.comb(${above}, ${below})`, true);
    }
    if (this.#take(ROOT) !== undefined) return this.#root();
    const name = this.#take(FUNCTION);
    if (name !== undefined) return this.#call(name.replace('\\', ''));
    return this.#brackets();
  }

  #root(): string | undefined {
    let degree: string | undefined;
    if (this.#take(/\[/y) !== undefined) {
      degree = this.remainder();
      if (degree === undefined || this.#take(/\]/y) === undefined) return undefined;
    }
    const inner = this.#argument();
    if (inner === undefined) return undefined;
    return degree === undefined ? this.#computed(`math.sqrt(${inner})`, true) : this.#computed(`(${inner})**(1 / ${bracketed(degree)})`);
  }

  #call(name: string): string | undefined {
    this.#skip();
    if (this.#take(/(?:\\left)?\(/y) === undefined) return undefined;
    const values: string[] = [];
    do {
      const value = this.remainder();
      if (value === undefined) return undefined;
      values.push(value);
      this.#skip();
    } while (this.#take(/,/y) !== undefined);
    if (values.length < 2 || this.#take(CLOSING['(']!) === undefined) return undefined;
    return this.#computed(`math.${name}(${values.join(', ')})`, true);
  }

  #brackets(): string | undefined {
    this.#skip();
    const open = this.#take(OPEN);
    if (open === undefined) return undefined;
    const inner = this.remainder();
    if (inner === undefined) return undefined;
    this.#skip();
    return this.#take(CLOSING[open.at(-1)!]!) === undefined ? undefined : this.#whole(`(${inner})`);
  }

  /** What LaTeX takes as an argument: braces, or one digit. */
  #argument(): string | undefined {
    this.#skip();
    const digit = this.#take(/\d/y);
    if (digit !== undefined) return this.#whole(digit);
    const open = this.#take(/[{(]/y);
    if (open === undefined) return undefined;
    const inner = this.remainder();
    if (inner === undefined) return undefined;
    this.#skip();
    return this.#take(CLOSING[open]!) === undefined ? undefined : this.#whole(inner);
  }

  /** `3(4 + 5)`: a product without a sign, with nothing in between. */
  #adjacentBracket(): string | undefined {
    if (!this.#next(/(?:\\left)?\(|\\sqrt\b/y, false)) return undefined;
    return this.#operand(/(?=.)/y, () => this.#power(), false);
  }

  /** What stands behind an operator; where it cannot be read, the operator is not read either. */
  #operand(operator: RegExp, read: () => string | undefined, spaced = true): string | undefined {
    const before = { at: this.#at, end: this.end, operations: this.operations, math: this.math };
    if (spaced) this.#skip();
    if (this.#take(operator) !== undefined) {
      const value = read();
      if (value !== undefined) {
        this.operations++;
        return value;
      }
    }
    this.#at = before.at;
    this.end = before.end;
    this.operations = before.operations;
    this.math = before.math;
    return undefined;
  }

  #computed(python: string, math = false): string {
    this.operations++;
    this.math ||= math;
    return this.#whole(python);
  }

  #whole(python: string): string {
    this.end = this.#at;
    return python;
  }

  #skip(): void {
    this.#take(SPACE);
  }

  #next(pattern: RegExp, spaced = true): boolean {
    const before = this.#at;
    if (spaced) this.#skip();
    const found = this.#take(pattern) !== undefined;
    this.#at = before;
    return found;
  }

  #take(pattern: RegExp): string | undefined {
    if (this.#at > this.#limit) return undefined;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

/** Without thousands marks and leading zeros, which Python refuses. */
export function plainNumber(text: string): string {
  const digits = text.replace(/\{,\}|\\,|,/g, '');
  return digits.replace(/^0+(?=\d)/, '');
}

const bracketed = (python: string): string => (/^[\w.]+$/.test(python) ? python : `(${python})`);
