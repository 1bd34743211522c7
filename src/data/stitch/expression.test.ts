import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readExpression } from './expression.js';

const python = (text: string): string | undefined => {
  const read = readExpression(text, 0);
  return read === undefined || read.end < text.length ? undefined : read.python;
};

describe('an expression', () => {
  it.each([
    ['48/2', '48 / 2'],
    ['0.2 x 50', '0.2 * 50'],
    ['$12 × 3 ÷ 4', '12 * 3 / 4'],
    ['1,000 + 2{,}500', '1000 + 2500'],
    ['+30+46', '30 + 46'],
    ['10 - -3', '10 - -3'],
    ['20%*50', '(20 / 100) * 50'],
    ['007 * .5', '7 * .5'],
    ['2^{3}', '2**(3)'],
    ['5! / 3!', 'math.factorial(5) / math.factorial(3)'],
    ['13 * 13 mod 7', '13 * 13 % 7'],
    ['3 + 4 mod 5', '(3 + 4) % 5'],
    ['3(4+5)', '3 * (4 + 5)'],
    ['6 \\times 7', '6 * 7'],
    ['\\frac{1}{2} \\cdot 10', '(1 / 2) * 10'],
    ['\\dfrac12', '(1 / 2)'],
    ['\\left(3+4\\right)^2', '(3 + 4)**2'],
    ['\\sqrt{16} + \\sqrt[3]{8}', 'math.sqrt(16) + (8)**(1 / 3)'],
    ['\\binom{5}{2}', 'math.comb(5, 2)'],
    ['gcd(12, 18)', 'math.gcd(12, 18)'],
    ['6\\,\\% \\cdot 50', '(6 / 100) * 50'],
  ])('%s is %s', (text, expected) => {
    expect(python(text)).toBe(expected);
  });

  it.each(['2x', '17 % 5', '2\\frac{1}{2}', '1 1/2', '(1+2', '\\pi', 'x + 1', '__import__("os")', '3 people', '2 + y', '4!!', ''])(
    '%j is not read to its end',
    (text) => {
      expect(python(text)).toBeUndefined();
    },
  );

  it('is made of nothing but arithmetic, whatever the text', () => {
    const allowed = /^(?:[\d.+\-*/%(), ]|math\.(?:sqrt|comb|factorial|gcd|lcm)\()*$/;
    const pieces = [
      '1',
      '23',
      '.5',
      '+',
      '-',
      '*',
      '/',
      '^',
      '(',
      ')',
      '{',
      '}',
      '\\frac',
      '\\sqrt',
      '[',
      ']',
      '!',
      '%',
      ' mod ',
      'gcd(',
      ', ',
      '$',
      'x',
      'os',
      '"',
    ];
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (given) => allowed.test(readExpression(given, 0)?.python ?? '')),
      { numRuns: 3000 },
    );
  });

  it('ends where it becomes too long or too deep, in little time', () => {
    for (const text of ['('.repeat(1e5), '1+'.repeat(1e5), '-'.repeat(1e5), '2^'.repeat(1e5), '3('.repeat(1e5), '\\frac{'.repeat(1e5)]) {
      expect(readExpression(text, 0)?.end ?? 0).toBeLessThan(700);
    }
  });

  it('has the value of what was written, in plain text and in LaTeX', () => {
    const tree = fc.letrec<{ node: Node }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.integer({ min: 1, max: 99 }).map((value): Node => ({ value })),
        fc.record({ operator: fc.constantFrom('+', '-', '*', '/', '^'), left: tie('node'), right: tie('node') }).map((node): Node => node),
      ),
    })).node;
    const trees = fc
      .sample(tree, { numRuns: 400, seed: 7 })
      .map((node) => (node.operator === '^' ? { ...node, right: { value: 2 } } : node));
    const asked = trees.flatMap((node) => [plain, latex].map((write) => ({ text: write(node), truth: full(node) })));
    const values = inPython(asked.flatMap(({ text, truth }) => [python(text) ?? 'None', truth]));
    const wrong = asked.filter((_, i) => {
      const [read, truth] = [values[2 * i]!, values[2 * i + 1]!];
      return read !== truth && !(Math.abs(Number(read) - Number(truth)) <= 1e-9 * Math.abs(Number(truth)));
    });
    expect(wrong).toEqual([]);
    expect(values.filter((value) => value !== 'error').length).toBeGreaterThan(values.length / 2);
  });
});

interface Node {
  readonly value?: number;
  readonly operator?: string;
  readonly left?: Node;
  readonly right?: Node;
}

const RANK: Readonly<Record<string, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, '^': 3 };
const rank = (node: Node): number => (node.operator === undefined ? 4 : RANK[node.operator]!);
const exponent = (node: Node): Node => (node.operator === undefined ? { value: (node.value! % 3) + 1 } : { value: 2 });

/** With brackets only where they are needed. */
function plain(node: Node): string {
  if (node.operator === undefined) return String(node.value);
  const left =
    rank(node.left!) < rank(node) || (node.operator === '^' && node.left!.operator !== undefined)
      ? `(${plain(node.left!)})`
      : plain(node.left!);
  if (node.operator === '^') return `${left}^${plain(exponent(node.right!))}`;
  const right = rank(node.right!) <= rank(node) ? `(${plain(node.right!)})` : plain(node.right!);
  return `${left} ${node.operator} ${right}`;
}

function latex(node: Node): string {
  if (node.operator === undefined) return String(node.value);
  if (node.operator === '/') return `\\frac{${latex(node.left!)}}{${latex(node.right!)}}`;
  const wrap = (inner: Node, strict: boolean): string =>
    rank(inner) < rank(node) || (strict && rank(inner) === rank(node)) || inner.operator === '/'
      ? `\\left(${latex(inner)}\\right)`
      : latex(inner);
  if (node.operator === '^') return `${wrap(node.left!, true)}^{${latex(exponent(node.right!))}}`;
  return `${wrap(node.left!, false)} ${node.operator === '*' ? '\\cdot' : node.operator} ${wrap(node.right!, true)}`;
}

/** As Python, with brackets everywhere. */
function full(node: Node): string {
  if (node.operator === undefined) return String(node.value);
  if (node.operator === '^') return `(${full(node.left!)}**${full(exponent(node.right!))})`;
  return `(${full(node.left!)}${node.operator}${full(node.right!)})`;
}

function inPython(expressions: readonly string[]): string[] {
  const script = `
import json, math, sys
values = []
for expression in json.load(sys.stdin):
    try:
        values.append(repr(float(eval(expression))))
    except Exception:
        values.append('error')
print(json.dumps(values))`;
  return JSON.parse(execFileSync('python3', ['-c', script], { input: JSON.stringify(expressions), encoding: 'utf8' })) as string[];
}
