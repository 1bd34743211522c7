/** Which of two real numbers is the larger, where that can be proven. */
import { type Budget, OutOfBudget } from './budget.js';
import { isReal, NoValue } from './complex.js';
import { equalNodes } from './equalNodes.js';
import { exactValue } from './exact.js';
import { difference, type Node, number } from './node.js';
import { Evaluator } from './numeric.js';
import { compare, ZERO } from './rational.js';
import { signOf, Uncertain } from './real.js';

const BITS = [200, 1000];
const NOWHERE = new Map();

/** The sign of a - b; undefined where it is not known, or one of them is no real number. Never throws. */
export function orderOf(a: Node, b: Node, budget: Budget): -1 | 0 | 1 | undefined {
  try {
    const [x, y] = [exactValue(a, budget), exactValue(b, budget)];
    if (typeof x !== 'string' && typeof y !== 'string') return Math.sign(compare(x, y)) as -1 | 0 | 1;
    const equal = equalNodes(a, b, budget);
    if (equal !== 'different') return equal === 'equal' ? 0 : undefined;
    for (const bits of BITS) {
      const value = new Evaluator(bits, budget).value(difference(a, b), NOWHERE);
      if (!isReal(value)) return undefined;
      const sign = signOf(value.re);
      if (sign !== undefined) return sign as -1 | 0 | 1;
    }
    return undefined;
  } catch (error) {
    if (error instanceof OutOfBudget || error instanceof NoValue || error instanceof Uncertain) return undefined;
    throw error;
  }
}

export const signOfNode = (node: Node, budget: Budget): -1 | 0 | 1 | undefined => orderOf(node, number(ZERO), budget);
