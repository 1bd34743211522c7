/**
 * Whole numbers as data sets write their right answers: with commas, as decimals, in LaTeX. What the number is stays as it is; only a grader
 * that compares texts tells them apart. Does not grade.
 */
import { deriveSeed, Random } from '../random.js';

/** Share of answers that are not written plainly. */
const VARIED_SHARE = 0.5;

/** Ways to write one; undefined where a number cannot be written so. */
export const ANSWER_FORMS: Readonly<Record<string, (whole: string) => string | undefined>> = {
  commas: (whole) => (/\d{4}/.test(whole) ? whole.replace(/\B(?=(\d{3})+$)/g, ',') : undefined),
  point: (whole) => `${whole}.0`,
  plus: (whole) => (/^[1-9]/.test(whole) ? `+${whole}` : undefined),
  dollars: (whole) => `$${whole}$`,
  fraction: (whole) => `\\frac{${2n * BigInt(whole)}}{2}`,
  power: (whole) => {
    const [, digits, zeros] = /^(-?[1-9]\d*?)(0{2,})$/.exec(whole) ?? [];
    return zeros === undefined ? undefined : `${digits} \\times 10^{${zeros.length}}`;
  },
  text: (whole) => `\\text{${whole}}`,
  named: (whole) => `x = ${whole}`,
};

/**
 * An answer as it is, or in one of the forms: drawn by the problem's id, so that a problem's right answer is written the same way everywhere.
 *
 * @param whole digits, with a minus or without
 */
export function variedAnswer(whole: string, id: string): string {
  const random = new Random(deriveSeed('answer form', id));
  if (!random.chance(VARIED_SHARE)) return whole;
  return random.pick(Object.values(ANSWER_FORMS).flatMap((write) => write(whole) ?? []));
}
