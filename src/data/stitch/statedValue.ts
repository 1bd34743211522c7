/** The value that a solution states for a calculation, and whether a program's output is that value. */
import { plainNumber } from './expression.js';

export interface StatedValue {
  /** As it stands in the text. */
  readonly text: string;
  readonly above: string;
  /** Of a fraction. */
  readonly below?: string;
  readonly percent: boolean;
  /** Where it ends in the text. */
  readonly end: number;
}

/**
 * - `rounded`: equal in the decimals that the solution gives.
 * - `cut`: decimals left out without rounding.
 * - `wholeNumber`: the solution gives a whole number where the program does not.
 * - `scaled`: off by a power of ten, as where percent are left out.
 */
export type Agreement = 'equal' | 'rounded' | 'cut' | 'wholeNumber' | 'scaled' | 'different' | 'noNumber';

const SPACE = String.raw`(?:[ \t\u00a0]|\\[,;:! ]|~){0,4}`;
const NUMBER = String.raw`(?:\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+`;
const VALUE = new RegExp(
  `${SPACE}([-\u2212]?)${SPACE}(?:\\\\?\\$|[€£])?([-\u2212]?)(?:\\\\[dt]?frac\\{(\\d+)\\}\\{(\\d+)\\}|(${NUMBER})(?:\\/(\\d+)(?!\\.?\\d))?)(${SPACE}\\\\?%)?`,
  'y',
);

/** The number, fraction or percentage that begins here. */
export function readStated(text: string, start: number): StatedValue | undefined {
  VALUE.lastIndex = start;
  const found = VALUE.exec(text);
  if (found === null) return undefined;
  const [whole, minus, innerMinus, latexAbove, latexBelow, number, below, percent] = found;
  if (minus !== '' && innerMinus !== '') return undefined;
  const digits = plainNumber(latexAbove ?? number!);
  const divisor = latexBelow ?? below;
  if (divisor !== undefined && Number(divisor) === 0) return undefined;
  return {
    text: whole.trim(),
    above: minus === '' && innerMinus === '' ? digits : `-${digits}`,
    ...(divisor !== undefined && { below: divisor }),
    percent: percent !== undefined,
    end: start + whole.length,
  };
}

/** @param output what the program printed for one expression */
export function agreement(output: string, stated: StatedValue): Agreement {
  const printed = output.trim();
  if (!/^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(printed)) return 'noNumber';
  const { above, below, percent } = stated;
  if (below === undefined && !percent && /^-?\d+$/.test(printed) && /^-?\d+$/.test(above)) {
    return BigInt(printed) === BigInt(above) ? 'equal' : 'different';
  }
  const value = Number(printed);
  const wanted = Number(above) / (below === undefined ? 1 : Number(below));
  // "0.5 = 50%" and "0.5 * 100 = 50%" are both written.
  const scales = percent ? [1, 100] : [1];
  if (scales.some((scale) => isClose(value, wanted / scale))) return 'equal';
  if (below === undefined) {
    const decimals = decimalsOf(above);
    const unit = 10 ** -decimals;
    const nearest = Math.min(...scales.map((scale) => Math.abs(value * scale - wanted)));
    if (decimals > 0 && nearest <= 0.5 * unit * (1 + 1e-9)) return 'rounded';
    if (nearest < unit && !percent) return decimals > 0 ? 'cut' : 'wholeNumber';
  }
  return [10, 100, 1000].some((scale) => isClose(value * scale, wanted) || isClose(value, wanted * scale)) ? 'scaled' : 'different';
}

/** Whether a call with this outcome shows what the solution says. */
export const agrees = (agreement: Agreement): boolean => agreement === 'equal' || agreement === 'rounded';

const isClose = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(1e-300, Math.abs(a), Math.abs(b));

const decimalsOf = (number: string): number => (number.includes('.') ? number.length - number.indexOf('.') - 1 : 0);
