/** A limit on the work of one comparison, counted and not timed, so that every machine gives the same verdict. */
export class OutOfBudget extends Error {}

export class Budget {
  #left: number;

  /** @param units about 10 ns each */
  constructor(units: number) {
    this.#left = units;
  }

  /** @throws OutOfBudget when there is nothing left; whoever began the work catches it and calls it undecided. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new OutOfBudget();
  }

  get left(): number {
    return this.#left;
  }
}
