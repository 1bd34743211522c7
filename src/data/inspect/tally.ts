/** Counts by name, bounded: a column of a million different values does not become a million names. */

export interface Count {
  readonly name: string;
  readonly count: number;
}

const LONGEST_NAME = 120;

export class Tally {
  readonly #counts = new Map<string, number>();
  #others = 0;

  /** @param most names that are told apart; what comes after them counts as others */
  constructor(private readonly most = 1000) {}

  add(name: string, by = 1): void {
    const short = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
    const before = this.#counts.get(short);
    if (before !== undefined || this.#counts.size < this.most) this.#counts.set(short, (before ?? 0) + by);
    else this.#others += by;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** The most frequent first; the rest as one count named `(others)`. */
  list(most = Number.POSITIVE_INFINITY): Count[] {
    const sorted = [...this.#counts]
      .map(([name, count]) => ({ name, count }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
    const others = this.#others + sorted.slice(most).reduce((sum, { count }) => sum + count, 0);
    return [...sorted.slice(0, most), ...(others > 0 ? [{ name: '(others)', count: others }] : [])];
  }
}
