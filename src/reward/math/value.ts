/** What an answer is: a quantity, a relation, a set of numbers, a tuple and so on. Reading is `readAnswer.ts`, comparing `sameValue.ts`. */
import type { Node } from './node.js';

export type Value =
  /** An expression with a unit; `label` is the x of `x = 5`. */
  | { readonly kind: 'quantity'; readonly node: Node; readonly unit: string; readonly label?: string }
  | { readonly kind: 'infinity'; readonly negative: boolean }
  /** One or more comparisons in a row: `1 < x < 3`. There is one operator less than sides. */
  | { readonly kind: 'relation'; readonly sides: readonly Node[]; readonly operators: readonly Operator[]; readonly label?: string }
  /** A union of intervals of one real unknown. */
  | { readonly kind: 'intervals'; readonly parts: readonly Interval[]; readonly label?: string }
  /** In brackets, in order: a point, a vector, or an interval where there are two. */
  | { readonly kind: 'tuple'; readonly open: string; readonly close: string; readonly items: readonly Value[]; readonly label?: string }
  | { readonly kind: 'set'; readonly items: readonly Value[]; readonly label?: string }
  /** Solutions beside each other, without order; `either` for conditions of which one holds, where others all hold. */
  | { readonly kind: 'list'; readonly items: readonly Value[]; readonly label?: string; readonly either?: true }
  | { readonly kind: 'matrix'; readonly rows: readonly (readonly Node[])[]; readonly label?: string };

export type Operator = '=' | '<' | '≤' | '≠' | '∈';

export interface Interval {
  /** Undefined for minus infinity. */
  readonly low: Node | undefined;
  /** Undefined for infinity. */
  readonly high: Node | undefined;
  readonly lowClosed: boolean;
  readonly highClosed: boolean;
}
