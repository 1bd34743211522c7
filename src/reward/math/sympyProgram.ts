/**
 * A Python program that lets SymPy decide what the exact comparison leaves open. It is made from trees alone: names become v0, v1, …, and
 * no text of a model's ever reaches it. Runs nothing: see `gradeMath.ts`.
 */
import type { Node } from './node.js';
import { type Question, sizeOf } from './question.js';

/** What the program prints: that it has SymPy, and its verdict, as its last line. */
export const ANSWERS = {
  started: 'toolwise: started',
  equal: 'toolwise: equal',
  different: 'toolwise: different',
  missing: 'toolwise: no sympy',
} as const;

const MAX_PROGRAM = 60_000;
const MAX_PAIRS = 24;

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

/**
 * Undefined where an expression has no counterpart in SymPy, or the program would be too long.
 * @param seconds of the processor, from when SymPy is there; then the program ends by a signal, without a verdict
 */
export function sympyProgram(questions: readonly Question[], seconds: number): string | undefined {
  if (questions.length === 0 || sizeOf(questions) > MAX_PAIRS) return undefined;
  const names = new Map<string, string>();
  const asked = writtenAll(questions, names);
  if (asked === undefined) return undefined;
  const program = `try:
    from sympy import *
except ImportError:
    print("${ANSWERS.missing}")
    raise SystemExit
import signal
signal.signal(signal.SIGPROF, signal.SIG_DFL)
signal.setitimer(signal.ITIMER_PROF, ${seconds})
print("${ANSWERS.started}", flush=True)
${[...names.values()].map((name) => `${name} = Symbol("${name}")`).join('\n')}

def read(pair):
    a, b = (sympify(side).doit() for side in pair())
    return None if a.has(nan, zoo, oo, -oo) or b.has(nan, zoo, oo, -oo) else (a, b)

def is_zero(a):
    rest = simplify(a)
    return rest == 0 or rest.equals(0) is True

def same(pair):
    sides = read(pair)
    return sides is not None and is_zero(sides[0] - sides[1])

def proportional(pair, positive):
    sides = read(pair)
    if sides is None or is_zero(sides[0]) or is_zero(sides[1]):
        return False
    ratio = simplify(sides[0] / sides[1])
    if ratio == 0 or ratio.has(nan, zoo, oo, -oo):
        return False
    return not ratio.free_symbols and ratio.is_number and (ratio.is_positive is True or not positive)

def matching(cells, cover):
    known = {}
    def holds(i, j):
        if (i, j) not in known:
            known[i, j] = cells[i][j] if isinstance(cells[i][j], bool) else together(cells[i][j])
        return known[i, j]
    columns = range(len(cells[0]))
    if cover:
        rows = range(len(cells))
        return all(any(holds(i, j) for j in columns) for i in rows) and all(any(holds(i, j) for i in rows) for j in columns)
    def place(i, taken):
        return i == len(cells) or any(j not in taken and holds(i, j) and place(i + 1, taken | {j}) for j in columns)
    return place(0, frozenset())

def together(questions):
    return all(question() for question in questions)

print("${ANSWERS.equal}" if together(${asked}) else "${ANSWERS.different}")
`;
  return program.length > MAX_PROGRAM ? undefined : program;
}

function writtenAll(questions: readonly Question[], names: Map<string, string>): string | undefined {
  const parts = questions.map((question) => written(question, names));
  return parts.every((part) => part !== undefined) ? `[${parts.join(', ')}]` : undefined;
}

function written(question: Question, names: Map<string, string>): string | undefined {
  if (question.kind === 'matching') {
    const rows = question.cells.map((row) => {
      const cells = row.map((cell) => (typeof cell === 'boolean' ? (cell ? 'True' : 'False') : writtenAll(cell, names)));
      return cells.every((cell) => cell !== undefined) ? `[${cells.join(', ')}]` : undefined;
    });
    return rows.every((row) => row !== undefined)
      ? `lambda: matching([${rows.join(', ')}], ${question.cover ? 'True' : 'False'})`
      : undefined;
  }
  const [left, right] = [toPython(question.a, names), toPython(question.b, names)];
  if (left === undefined || right === undefined) return undefined;
  const pair = `lambda: (${left}, ${right})`;
  return question.kind === 'same' ? `lambda: same(${pair})` : `lambda: proportional(${pair}, ${question.positive ? 'True' : 'False'})`;
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
