/**
 * What the texts of a source share without being the same problem: instructions around every question, the fixed words of a template. Learnt
 * from a sample; left out before texts are compared, since it would make all of them alike.
 */
import { runsOf } from './hash.js';
import { isNumber, isSign, type Words } from './words.js';

export interface BoilerplateOptions {
  /** Words of a run. */
  readonly run: number;
  /** A run is shared when it stands in at least so many different texts of the sample… */
  readonly leastTexts: number;
  /** …and in at least this share of them. */
  readonly leastShare: number;
}

const DEFAULTS: BoilerplateOptions = { run: 8, leastTexts: 10, leastShare: 0.05 };
/** Words other than numbers that must remain: else a text is compared whole. */
const LEAST_LEFT = 6;

export class Boilerplate {
  readonly #run: number;
  readonly #shared: ReadonlySet<number>;

  private constructor(run: number, shared: ReadonlySet<number>) {
    this.#run = run;
    this.#shared = shared;
  }

  static readonly none = new Boilerplate(DEFAULTS.run, new Set());

  /** Equal texts of the sample count once. */
  static learn(sample: Iterable<Words>, options: Partial<BoilerplateOptions> = {}): Boilerplate {
    const { run, leastTexts, leastShare } = { ...DEFAULTS, ...options };
    const texts = new Set<string>();
    const counts = new Map<number, number>();
    for (const words of sample) {
      const text = words.join(' ');
      if (texts.has(text)) continue;
      texts.add(text);
      for (const hash of new Set(runsOf(words, run))) counts.set(hash, (counts.get(hash) ?? 0) + 1);
    }
    const least = Math.max(leastTexts, leastShare * texts.size);
    return new Boilerplate(run, new Set([...counts].filter(([, count]) => count >= least).map(([hash]) => hash)));
  }

  /** Which words belong to a shared run; undefined where none does. */
  covered(words: Words): Uint8Array | undefined {
    if (this.#shared.size === 0) return undefined;
    let covered: Uint8Array | undefined;
    runsOf(words, this.#run).forEach((hash, at) => {
      if (!this.#shared.has(hash)) return;
      covered ??= new Uint8Array(words.length);
      covered.fill(1, at, at + this.#run);
    });
    return covered;
  }

  /**
   * The words without what is shared, numbers excepted; all of them where too little would be left to tell problems apart.
   */
  strip(words: Words): Words {
    const covered = this.covered(words);
    if (covered === undefined) return words;
    const left = words.filter((word, index) => covered[index] === 0 || isNumber(word));
    return left.filter((word) => !isNumber(word) && !isSign(word)).length < LEAST_LEFT ? words : left;
  }
}
