/**
 * How a token is coloured and what is said of it. A colour is one of a few steps of a scale; the steps' colours stand in the style sheet,
 * so this knows numbers and words only. Pure.
 */
import type { Num, TokenLine, TokensView } from '../../api.js';

/** One line of tokens with the rollout's advantage. */
export type Scaled = TokenLine & Pick<TokensView, 'advantage'>;

export type Measure = 'mask' | 'logProb' | 'probability' | 'ratio' | 'advantage';

export const MEASURES: Readonly<Record<Measure, { readonly label: string; readonly title: string }>> = {
  mask: { label: 'mask', title: 'Whether the model wrote the token (trained) or we did (not trained)' },
  logProb: { label: 'log-prob', title: 'Log-probability when it was sampled, in nats, at temperature 1' },
  probability: { label: 'probability', title: 'Probability when it was sampled, at temperature 1' },
  ratio: { label: 'ratio', title: 'Probability under the policy at its last update over that when it was sampled' },
  advantage: { label: 'advantage', title: 'One for all tokens of the rollout (Eq. 3); positive: made likelier' },
};

export interface Token {
  readonly index: number;
  readonly id: number;
  readonly text?: string;
  readonly special: boolean;
  /** `prompt` and `given` (results, headers) are not trained. */
  readonly from: 'prompt' | 'model' | 'given';
  /** Nats; only of the model's tokens. */
  readonly logProb?: number;
  readonly ratio?: number;
  readonly advantage?: number;
}

/** All tokens in order; `prompt` counts from 0 by itself, so an index names a place in its list. */
export function tokensOf(view: Scaled): { readonly prompt: readonly Token[]; readonly response: readonly Token[] } {
  const { prompt, response, advantage } = view;
  const plain = (list: TokensView['prompt'], index: number): Pick<Token, 'index' | 'id' | 'special'> & { text?: string } => ({
    index,
    id: list.ids[index]!,
    special: list.special?.[index] ?? false,
    ...(list.texts?.[index] === undefined ? {} : { text: list.texts[index] }),
  });
  return {
    prompt: prompt.ids.map((_, i) => ({ ...plain(prompt, i), from: 'prompt' as const })),
    response: response.ids.map((_, i) => {
      if (response.mask[i] !== 1) return { ...plain(response, i), from: 'given' as const };
      return {
        ...plain(response, i),
        from: 'model' as const,
        ...number('logProb', response.logProbs[i]),
        ...number('ratio', response.ratios?.[i]),
        ...number('advantage', advantage),
      };
    }),
  };
}

const number = <Name extends string>(name: Name, value: Num | undefined): { readonly [key in Name]?: number } =>
  (value === null || value === undefined ? {} : { [name]: value }) as { readonly [key in Name]?: number };

/** Measures that this rollout has values of. */
export function measuresOf(view: Scaled): Measure[] {
  const some = (values: readonly (Num | undefined)[] | undefined): boolean =>
    values?.some((value) => value !== null && value !== undefined) ?? false;
  return [
    'mask',
    ...(some(view.response.logProbs) ? (['logProb', 'probability'] as const) : []),
    ...(some(view.response.ratios) ? (['ratio'] as const) : []),
    ...(some([view.advantage]) ? (['advantage'] as const) : []),
  ];
}

/** A step of a scale: `s0` (nothing to see) to `s5` on one-sided scales, `n5` to `n1`, `z`, `p1` to `p5` on two-sided ones. */
export type Swatch = 'none' | 'model' | 'given' | 'prompt' | 'z' | `${'s' | 'n' | 'p'}${0 | 1 | 2 | 3 | 4 | 5}`;

/** Upper bounds of the steps of surprise, in nats: e^-0.05 is 95 %, then 78 %, 50 %, 14 %, 1.8 %. */
const SURPRISE = [0.05, 0.25, 0.7, 2, 4] as const;
/** |log2| of the ratio: below 1 % away from 1, then 5 %, 15 %, 40 %, twice. */
const RATIO = [0.0144, 0.0704, 0.2016, 0.4854, 1] as const;
const ADVANTAGE = [0.05, 0.5, 1, 1.5, 2] as const;
const PROBABILITY = [0.02, 0.14, 0.5, 0.78, 0.95] as const;

export function swatchOf(token: Token, measure: Measure): Swatch {
  if (measure === 'mask') return token.from;
  const value = measured(token, measure);
  if (value === undefined) return 'none';
  switch (measure) {
    case 'logProb':
      return `s${stepOf(-value, SURPRISE)}`;
    case 'probability':
      return `s${(5 - stepOf(value, PROBABILITY)) as Step}`;
    case 'ratio':
      return twoSided(value > 0 ? Math.log2(value) : Number.NEGATIVE_INFINITY, RATIO);
    case 'advantage':
      return twoSided(value, ADVANTAGE);
  }
}

/** The steps of a token on every scale that it has values of, as classes: `logProb-s3 ratio-n1`. The style sheet shows one scale at a time. */
export const scaleClasses = (token: Token): string =>
  (['logProb', 'probability', 'ratio', 'advantage'] as const)
    .map((measure) => [measure, swatchOf(token, measure)] as const)
    .filter(([, swatch]) => swatch !== 'none')
    .map(([measure, swatch]) => `${measure}-${swatch}`)
    .join(' ');

type Step = 0 | 1 | 2 | 3 | 4 | 5;

/** How many of the five bounds the value is above. */
const stepOf = (value: number, bounds: readonly number[]): Step => bounds.filter((bound) => value > bound).length as Step;

function twoSided(value: number, bounds: readonly number[]): Swatch {
  const step = stepOf(Math.abs(value), bounds);
  return step === 0 ? 'z' : `${value < 0 ? 'n' : 'p'}${step}`;
}

export function measured(token: Token, measure: Exclude<Measure, 'mask'>): number | undefined {
  if (measure === 'probability') return token.logProb === undefined ? undefined : Math.exp(token.logProb);
  return token[measure];
}

/** The scale as a legend shows it, from least to most. */
export function legendOf(measure: Measure): readonly { readonly swatch: Swatch; readonly label: string }[] {
  switch (measure) {
    case 'mask':
      return [
        { swatch: 'model', label: 'written by the model: trained (1)' },
        { swatch: 'given', label: 'tool result or header: not trained (0)' },
        { swatch: 'prompt', label: 'prompt' },
      ];
    case 'logProb':
      return steps(
        (i) => `s${i}`,
        SURPRISE.map((x) => `\u2212${x}`),
        'to',
      );
    case 'probability':
      return steps(
        (i) => `s${i}`,
        [...PROBABILITY].reverse().map((x) => `${Math.round(x * 100)} %`),
        'to',
      );
    case 'ratio':
      return mirrored(['1 %', '5 %', '15 %', '40 %', '2\u00d7'], 'within 1 % of 1', ['less likely', 'likelier']);
    case 'advantage':
      return mirrored(ADVANTAGE.map(String), 'near 0', ['negative', 'positive']);
  }
}

function steps(swatch: (step: Step) => Swatch, bounds: readonly string[], word: string): { swatch: Swatch; label: string }[] {
  return Array.from({ length: bounds.length + 1 }, (_, i) => ({
    swatch: swatch(i as Step),
    label:
      i === 0
        ? `0 ${word} ${bounds[0]}`.replace(/^0 to (.*%)$/, '100 to $1')
        : i === bounds.length
          ? `below ${bounds.at(-1)}`
          : `${word} ${bounds[i]}`,
  }));
}

function mirrored(bounds: readonly string[], middle: string, [low, high]: readonly [string, string]): { swatch: Swatch; label: string }[] {
  const side = (sign: 'n' | 'p', step: Step, word: string) => ({
    swatch: `${sign}${step}` as Swatch,
    label: `${word}, above ${bounds[step - 1]}`,
  });
  const steps: Step[] = [1, 2, 3, 4, 5];
  return [
    ...steps.toReversed().map((step) => side('n', step, low)),
    { swatch: 'z', label: middle },
    ...steps.map((step) => side('p', step, high)),
  ];
}

/** White space is written out, so that it can be seen; what follows is still broken where a newline stands. */
export function shownText(token: Token): string {
  if (token.text === undefined) return `#${token.id}`;
  if (token.text === '') return '\u2205';
  if (token.special) return token.text;
  return token.text.replace(/[ \t\n\r\u00a0\u3000]/g, (char) => SPACES[char]!);
}

const SPACES: Readonly<Record<string, string>> = {
  ' ': '\u00b7',
  '\t': '\u21e5',
  '\n': '\u21b5',
  '\r': '\u240d',
  '\u00a0': '\u237d',
  '\u3000': '\u25a1',
};

/** Every exact value of a token, for a tooltip and for a screen reader. */
export function describeToken(token: Token): readonly (readonly [string, string])[] {
  const facts: (readonly [string, string])[] = [
    ['token', token.text === undefined ? 'text unknown' : JSON.stringify(token.text)],
    ['id', String(token.id)],
    ['place', `${token.index}${token.from === 'prompt' ? ' of the prompt' : ''}`],
    ['from', token.from === 'model' ? 'the model (mask 1)' : token.from === 'given' ? 'tool or template (mask 0)' : 'prompt'],
  ];
  if (token.special) facts.push(['kind', 'special token']);
  if (token.logProb !== undefined) {
    facts.push(['log-prob', `${exact(token.logProb)} nats`], ['probability', percent(Math.exp(token.logProb))]);
  } else if (token.from === 'model') facts.push(['log-prob', 'not a number']);
  if (token.ratio !== undefined) facts.push(['ratio', exact(token.ratio)]);
  if (token.advantage !== undefined) facts.push(['advantage', exact(token.advantage)]);
  return facts;
}

/** A value beside its token, short. */
export function shortValue(token: Token, measure: Measure): string {
  if (measure === 'mask') return token.from === 'model' ? '1' : '0';
  const value = measured(token, measure);
  if (value === undefined) return '';
  if (measure === 'probability') return percent(value);
  return minus(Math.abs(value) < 0.005 ? '0' : value.toFixed(Math.abs(value) < 10 ? 2 : 1));
}

const minus = (text: string): string => text.replace('-', '\u2212');
const exact = (value: number): string => minus(String(Number(value.toPrecision(6))));
const percent = (value: number): string =>
  value < 1e-6 ? value.toExponential(1) : `${Number((value * 100).toPrecision(value > 0.9995 ? 5 : 3))} %`;

/** Places in the response of the tokens with the least probability, least likely first; only the model's. */
export function leastLikely(response: readonly Token[], count: number): readonly Token[] {
  return response
    .filter((token) => token.logProb !== undefined)
    .sort((a, b) => a.logProb! - b.logProb! || a.index - b.index)
    .slice(0, count);
}

export interface TokenSummary {
  readonly tokens: number;
  readonly model: number;
  /** Mean over the model's tokens; absent where there is none. */
  readonly meanLogProb?: number;
  readonly perplexity?: number;
}

export function summaryOf(response: readonly Token[]): TokenSummary {
  const own = response.filter((token) => token.from === 'model');
  const known = own.flatMap((token) => token.logProb ?? []);
  const base = { tokens: response.length, model: own.length };
  if (known.length === 0) return base;
  const meanLogProb = known.reduce((sum, value) => sum + value, 0) / known.length;
  return { ...base, meanLogProb, perplexity: Math.exp(-meanLogProb) };
}
