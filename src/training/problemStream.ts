/** Which problems a step trains on: the set in a seeded order, reshuffled for each pass. Depends on nothing but seed, set and place. */
import type { Problem } from '../domain/problem.js';
import { deriveSeed, Random } from '../random.js';

/**
 * Problems of one step. The same problem may come twice in a step where the set is smaller than the step.
 *
 * @param step 0-based
 */
export function problemsOfStep<P extends Problem>(problems: readonly P[], seed: number, step: number, perStep: number): P[] {
  return problemsAt(
    problems,
    seed,
    Array.from({ length: perStep }, (_, i) => step * perStep + i),
  );
}

/** Problems at places of the endless stream, 0-based. */
export function problemsAt<P extends Problem>(problems: readonly P[], seed: number, places: readonly number[]): P[] {
  const orders = new Map<number, P[]>();
  return places.map((place) => {
    const pass = Math.floor(place / problems.length);
    let order = orders.get(pass);
    if (!order) {
      order = new Random(deriveSeed(seed, 'problem order', pass)).shuffle(problems);
      orders.set(pass, order);
    }
    return order[place % problems.length]!;
  });
}
