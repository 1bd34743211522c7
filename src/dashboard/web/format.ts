/** Numbers, times and sizes as a person reads them: the same everywhere on the page. Null, undefined and what is not finite is a dash. */
import type { Stage } from '../../domain/event.js';
import type { Num } from '../api.js';

type MaybeNumber = Num | undefined;

export const NONE = '–';
const MINUS = '−';

const isNumber = (value: MaybeNumber): value is number => typeof value === 'number' && Number.isFinite(value);

/** About four significant digits: `0.4219`, `−3.1`, `1,204`, `3.1e−7`. */
export function number(value: MaybeNumber, digits = 4): string {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return withMinus(value.toExponential(2).replace('e+', 'e'));
  if (Number.isInteger(value) || size >= 10 ** digits) return withMinus(Math.round(value).toLocaleString('en'));
  return withMinus(String(Number(value.toPrecision(digits))));
}

/** With its sign: `+0.25`, `−1`, `0`. */
export const signed = (value: MaybeNumber, digits = 3): string =>
  isNumber(value) && value > 0 ? `+${number(value, digits)}` : number(value, digits);

/** Always the same number of decimals, for columns. */
export const fixed = (value: MaybeNumber, decimals = 3): string => {
  if (!isNumber(value)) return NONE;
  const text = value.toFixed(decimals);
  return withMinus(Number(text) === 0 ? text.replace('-', '') : text);
};

/** A share in [0, 1]: `42.2 %`. */
export const percent = (value: MaybeNumber, decimals = 1): string => (isNumber(value) ? `${fixed(value * 100, decimals)} %` : NONE);

/** Whole numbers with separators. */
export const count = (value: MaybeNumber): string => (isNumber(value) ? withMinus(Math.round(value).toLocaleString('en')) : NONE);

/** `1.2 k`, `3.4 M`: for axes and tight places. */
export function compact(value: MaybeNumber): string {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  for (const [unit, letter] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (size >= unit * (unit === 1e3 ? 10 : 1)) return withMinus(`${Number((value / unit).toPrecision(3))} ${letter}`);
  }
  return number(value, 3);
}

/** Seconds as `0.42 s`, `12.3 s`, `4 min 05 s`, `3 h 12 min`, `2 d 4 h`. */
export function duration(seconds: MaybeNumber): string {
  if (!isNumber(seconds)) return NONE;
  if (seconds < 0) return `${MINUS}${duration(-seconds)}`;
  if (seconds < 1) return `${Number(seconds.toPrecision(2))} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  const hours = Math.round(seconds / 3600);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `just now`, `5 min ago`, `3 h ago`, `4 days ago`. */
export function ago(iso: string | undefined, now: number = Date.now()): string {
  const at = iso === undefined ? Number.NaN : Date.parse(iso);
  if (!Number.isFinite(at)) return NONE;
  const seconds = (now - at) / 1000;
  if (seconds < 45) return 'just now';
  if (seconds < 3600 * 1.5) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 86_400 * 1.5) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}

/** In the reader's time zone: `2026-11-30 12:59:39`. */
export function dateTime(iso: string | undefined): string {
  const at = new Date(iso ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return NONE;
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export function bytes(value: MaybeNumber): string {
  if (!isNumber(value)) return NONE;
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = value;
  let unit = 0;
  while (Math.abs(size) >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${unit === 0 ? size : Number(size.toPrecision(3))} ${units[unit]}`;
}

/** `1 rollout`, `12 rollouts`. */
export const counted = (value: number, one: string, many = `${one}s`): string => `${count(value)} ${value === 1 ? one : many}`;

/** Steps are kept from 0 and told from 1, as the terminal does. */
export const stepLabel = (step: number): string => count(step + 1);

export const STAGE_NAMES: Readonly<Record<Stage, string>> = { base: 'base', sft: 'SFT', rl: 'RL' };

const PERCENT =
  /^(rollout\/(accuracy|answered|malformed|toolSuccess|truncated|withoutCall)|groups\/(allWrong|zeroVariance)|train\/(clip\w+|importanceCapped)|accuracy\w*|intervalLow|intervalHigh|majority|deliberative|reactive|toolSuccess|malformed|truncated|withoutCall|(pass|maj|avg)@\d+)$/;

/** Whether the metric of this name is a share. */
export const isShare = (name: string): boolean => PERCENT.test(name);

/** A metric's value as its name asks. */
export function metric(name: string, value: MaybeNumber): string {
  if (isShare(name)) return percent(value);
  if (/^seconds(\/|$)/.test(name)) return duration(value);
  return number(value);
}

const withMinus = (text: string): string => text.replace('-', MINUS).replace('e-', `e${MINUS}`);
