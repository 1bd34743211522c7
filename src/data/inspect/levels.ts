/** The histogram of a difficulty profile, counted row by row: problems with 0/n ... n/n right. */
import { certaintyOf, difficultyOf, levelOf } from '../difficulty/labels.js';
import type { DifficultySummary } from './inspection.js';

export class LevelCounter {
  /** By right and valid rollouts, so that the number of bars can follow at the end. */
  readonly #accuracies = new Map<number, number>();
  #most = 1;
  #unlabelled = 0;
  #rows = 0;

  add({ accuracy, n }: Readonly<Record<string, unknown>>): void {
    this.#rows++;
    if (typeof n === 'number' && n <= 1000) this.#most = Math.max(this.#most, n);
    if (typeof accuracy !== 'number' || !(accuracy >= 0 && accuracy <= 1)) this.#unlabelled++;
    else this.#accuracies.set(accuracy, (this.#accuracies.get(accuracy) ?? 0) + 1);
  }

  /** Undefined where nothing was added. */
  summary(): DifficultySummary | undefined {
    if (this.#rows === 0) return undefined;
    const levels = new Array<number>(this.#most + 1).fill(0);
    const labels: Record<string, number> = { hard: 0, medium: 0, easy: 0, 'never solved': 0, 'always solved': 0 };
    for (const [accuracy, count] of this.#accuracies) {
      levels[levelOf(accuracy, this.#most)]! += count;
      const certainty = certaintyOf(accuracy);
      labels[certainty === undefined ? difficultyOf(accuracy) : certainty === 'solved' ? 'always solved' : 'never solved']! += count;
    }
    return { levels, unlabelled: this.#unlabelled, labels };
  }
}
