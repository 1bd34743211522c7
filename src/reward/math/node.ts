/** The tree of one mathematical expression. Holds what was written, not what it is worth: see `exact.ts`, `canonical.ts`, `numeric.ts`. */
import type { Rational } from './rational.js';

export type Node =
  | { readonly kind: 'number'; readonly value: Rational }
  /** A variable, with its index or accent: `x`, `a_{1}`, `\vec{v}`. */
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'constant'; readonly name: 'pi' | 'e' | 'i' | 'infinity' }
  /** 1 in one reading and -1 in the other; `turned` for the lower sign first. */
  | { readonly kind: 'plusMinus'; readonly turned: boolean }
  | { readonly kind: 'sum'; readonly terms: readonly Node[] }
  | { readonly kind: 'product'; readonly factors: readonly Node[] }
  | { readonly kind: 'quotient'; readonly numerator: Node; readonly denominator: Node }
  | { readonly kind: 'power'; readonly base: Node; readonly exponent: Node }
  | { readonly kind: 'root'; readonly degree: number; readonly radicand: Node }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly args: readonly Node[] }
  /** A function that is only a letter, such as f in f(x). */
  | { readonly kind: 'apply'; readonly name: string; readonly args: readonly Node[] }
  | {
      readonly kind: 'series';
      readonly of: 'sum' | 'product';
      readonly index: string;
      readonly from: Node;
      readonly to: Node;
      readonly body: Node;
    }
  | { readonly kind: 'integral'; readonly variable: string; readonly from: Node; readonly to: Node; readonly body: Node };

/** Functions that are written by their own name. */
export const NAMED_FUNCTIONS = [
  'sin',
  'cos',
  'tan',
  'cot',
  'sec',
  'csc',
  'arcsin',
  'arccos',
  'arctan',
  'sinh',
  'cosh',
  'tanh',
  'ln',
  'log',
  'exp',
  'gcd',
  'lcm',
  'max',
  'min',
] as const;

/** `log` with one argument has no base of its own (see `equalNodes.ts`); with two, the second is its base. */
export type FunctionName = (typeof NAMED_FUNCTIONS)[number] | 'abs' | 'floor' | 'ceil' | 'factorial' | 'doubleFactorial' | 'binomial';

export const number = (value: Rational): Node => ({ kind: 'number', value });
export const MINUS_ONE: Node = number({ numerator: -1n, denominator: 1n });
export const negated = (node: Node): Node => product([MINUS_ONE, node]);
export const sum = (terms: readonly Node[]): Node => (terms.length === 1 ? terms[0]! : { kind: 'sum', terms });
export const product = (factors: readonly Node[]): Node => (factors.length === 1 ? factors[0]! : { kind: 'product', factors });
export const quotient = (numerator: Node, denominator: Node): Node => ({ kind: 'quotient', numerator, denominator });
export const power = (base: Node, exponent: Node): Node => ({ kind: 'power', base, exponent });
export const difference = (a: Node, b: Node): Node => sum([a, negated(b)]);

export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'sum':
      return node.terms;
    case 'product':
      return node.factors;
    case 'quotient':
      return [node.numerator, node.denominator];
    case 'power':
      return [node.base, node.exponent];
    case 'root':
      return [node.radicand];
    case 'call':
    case 'apply':
      return node.args;
    case 'series':
    case 'integral':
      return [node.from, node.to, node.body];
    default:
      return [];
  }
}

/** The same tree with other children, in the order of `childrenOf`. */
export function withChildren(node: Node, children: readonly Node[]): Node {
  switch (node.kind) {
    case 'sum':
      return { ...node, terms: children };
    case 'product':
      return { ...node, factors: children };
    case 'quotient':
      return { ...node, numerator: children[0]!, denominator: children[1]! };
    case 'power':
      return { ...node, base: children[0]!, exponent: children[1]! };
    case 'root':
      return { ...node, radicand: children[0]! };
    case 'call':
    case 'apply':
      return { ...node, args: children };
    case 'series':
    case 'integral':
      return { ...node, from: children[0]!, to: children[1]!, body: children[2]! };
    default:
      return node;
  }
}

/** Replaces every node that `replace` gives another for, from the leaves up. */
export function mapNodes(node: Node, replace: (node: Node) => Node | undefined): Node {
  const children = childrenOf(node);
  const mapped = children.map((child) => mapNodes(child, replace));
  const same = mapped.every((child, i) => child === children[i]);
  const rebuilt = same ? node : withChildren(node, mapped);
  return replace(rebuilt) ?? rebuilt;
}

export function someNode(node: Node, test: (node: Node) => boolean): boolean {
  return test(node) || childrenOf(node).some((child) => someNode(child, test));
}

/** The variables that are free in it; bound indices are none. */
export function variablesOf(node: Node, into: Set<string> = new Set()): Set<string> {
  if (node.kind === 'name') into.add(node.name);
  else if (node.kind === 'series' || node.kind === 'integral') {
    const bound = node.kind === 'series' ? node.index : node.variable;
    for (const name of variablesOf(node.body)) if (name !== bound) into.add(name);
    variablesOf(node.from, into);
    variablesOf(node.to, into);
  } else for (const child of childrenOf(node)) variablesOf(child, into);
  return into;
}

/** One text for one tree: two trees with the same key are the same. */
export function keyOf(node: Node): string {
  switch (node.kind) {
    case 'number':
      return node.value.denominator === 1n ? `${node.value.numerator}` : `${node.value.numerator}/${node.value.denominator}`;
    case 'name':
      return `'${node.name}'`;
    case 'constant':
      return node.name;
    case 'plusMinus':
      return node.turned ? '-+' : '+-';
    default: {
      const label =
        node.kind === 'call' || node.kind === 'apply'
          ? `${node.kind} ${node.name}`
          : node.kind === 'root'
            ? `root ${node.degree}`
            : node.kind === 'series'
              ? `${node.of} '${node.index}'`
              : node.kind === 'integral'
                ? `integral '${node.variable}'`
                : node.kind;
      return `(${label} ${childrenOf(node).map(keyOf).join(' ')})`;
    }
  }
}
