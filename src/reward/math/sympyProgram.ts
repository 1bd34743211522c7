/**
 * A Python program that lets SymPy decide whether pairs of expressions are equal. It is made from trees alone: names become v0, v1, …, and
 * no text of a model's ever reaches it. Runs nothing: see `gradeMath.ts`.
 */
import type { Node } from './node.js';

export interface Pair {
  readonly a: Node;
  readonly b: Node;
}

/** What the program prints as its last line. */
export const ANSWERS = { equal: 'toolwise: equal', different: 'toolwise: different', missing: 'toolwise: no sympy' } as const;

const MAX_PROGRAM = 60_000;

const FUNCTIONS: Readonly<Record<Extract<Node, { kind: 'call' }>['name'], string>> = {
  sin: 'sin',
  cos: 'cos',
  tan: 'tan',
  cot: 'cot',
  sec: 'sec',
  csc: 'csc',
  arcsin: 'asin',
  arccos: 'acos',
  arctan: 'atan',
  sinh: 'sinh',
  cosh: 'cosh',
  tanh: 'tanh',
  ln: 'log',
  log: 'log',
  exp: 'exp',
  abs: 'Abs',
  floor: 'floor',
  ceil: 'ceiling',
  factorial: 'factorial',
  doubleFactorial: 'factorial2',
  binomial: 'binomial',
  gcd: 'gcd',
  lcm: 'lcm',
  max: 'Max',
  min: 'Min',
};

/** Undefined where an expression has no counterpart in SymPy, or the program would be too long. */
export function sympyProgram(pairs: readonly Pair[]): string | undefined {
  const names = new Map<string, string>();
  const written = pairs.map(({ a, b }) => {
    const [left, right] = [toPython(a, names), toPython(b, names)];
    return left === undefined || right === undefined ? undefined : `    lambda: (${left}, ${right}),`;
  });
  if (written.length === 0 || written.some((pair) => pair === undefined)) return undefined;
  const program = `try:
    from sympy import *
except ImportError:
    print("${ANSWERS.missing}")
    raise SystemExit
${[...names.values()].map((name) => `${name} = Symbol("${name}")`).join('\n')}
pairs = [
${written.join('\n')}
]

def same(a, b):
    a, b = a.doit(), b.doit()
    if a.has(nan, zoo, oo, -oo) or b.has(nan, zoo, oo, -oo):
        return False
    rest = simplify(a - b)
    return rest == 0 or rest.equals(0) is True

print("${ANSWERS.equal}" if all(same(*map(sympify, pair())) for pair in pairs) else "${ANSWERS.different}")
`;
  return program.length > MAX_PROGRAM ? undefined : program;
}

function nameFor(name: string, names: Map<string, string>): string {
  let found = names.get(name);
  if (found === undefined) {
    found = `v${names.size}`;
    names.set(name, found);
  }
  return found;
}

function toPython(node: Node, names: Map<string, string>): string | undefined {
  const all = (nodes: readonly Node[]): string[] | undefined => {
    const parts = nodes.map((part) => toPython(part, names));
    return parts.every((part) => part !== undefined) ? parts : undefined;
  };
  const call = (name: string, nodes: readonly Node[]): string | undefined => {
    const parts = all(nodes);
    return parts && `${name}(${parts.join(', ')})`;
  };
  switch (node.kind) {
    case 'number':
      return node.value.denominator === 1n
        ? `Integer(${node.value.numerator})`
        : `Rational(${node.value.numerator}, ${node.value.denominator})`;
    case 'name':
      return nameFor(node.name, names);
    case 'constant':
      return { pi: 'pi', e: 'E', i: 'I', infinity: 'oo' }[node.name];
    case 'sum':
      return call('Add', node.terms);
    case 'product':
      return call('Mul', node.factors);
    case 'quotient': {
      const parts = all([node.numerator, node.denominator]);
      return parts && `Mul(${parts[0]}, Pow(${parts[1]}, Integer(-1)))`;
    }
    case 'power':
      return call('Pow', [node.base, node.exponent]);
    case 'root': {
      const radicand = toPython(node.radicand, names);
      return (
        radicand &&
        (node.degree % 2 === 1 ? `real_root(${radicand}, Integer(${node.degree}))` : `root(${radicand}, Integer(${node.degree}))`)
      );
    }
    case 'call': {
      const bare = node.name === 'log' && node.args.length === 1;
      return call(FUNCTIONS[node.name], bare ? [...node.args, { kind: 'number', value: { numerator: 10n, denominator: 1n } }] : node.args);
    }
    case 'series':
    case 'integral': {
      const parts = all([node.body, node.from, node.to]);
      const [bound, name] = node.kind === 'integral' ? [node.variable, 'Integral'] : [node.index, node.of === 'sum' ? 'Sum' : 'Product'];
      return parts && `${name}(${parts[0]}, (${nameFor(bound, names)}, ${parts[1]}, ${parts[2]}))`;
    }
    default:
      return undefined;
  }
}
