/** The figures of the reasoning modes as lines over the steps of one stage and split. Pure. */
import type { ModeFigures, ModesView, Num } from '../../api.js';

export type ModeName = ModeFigures['mode'];

export const MODES: readonly ModeName[] = ['deliberative', 'reactive', 'withoutCall'];

export const MODE_NAMES: Readonly<Record<ModeName, string>> = {
  deliberative: 'deliberative',
  reactive: 'reactive',
  withoutCall: 'no executed call',
};

export type Moment = ModesView['rows'][number];

/** What is compared; `withoutCall` has no calls to speak of. */
export const FIGURES = {
  share: { title: 'Share of rollouts', share: true, modes: MODES },
  accuracy: { title: 'Accuracy by mode', share: true, modes: MODES },
  toolSuccess: { title: 'Tool success', share: true, modes: ['deliberative', 'reactive'] },
  callsPerRollout: { title: 'Calls a rollout', share: false, modes: ['deliberative', 'reactive'] },
  tokensPerTurn: { title: 'Tokens a round', share: false, modes: MODES },
} as const satisfies Readonly<Record<string, { title: string; share: boolean; modes: readonly ModeName[] }>>;
export type FigureName = keyof typeof FIGURES;

export interface Choice {
  readonly stage: Moment['stage'];
  readonly split: string;
  readonly moments: number;
}

/** Stages and splits that there are figures of, those with most moments first; training before evaluations of as many. */
export function choicesOf(rows: readonly Moment[]): Choice[] {
  const found = new Map<string, Choice>();
  for (const { stage, split } of rows) {
    const key = `${stage} ${split}`;
    found.set(key, { stage, split, moments: (found.get(key)?.moments ?? 0) + 1 });
  }
  return [...found.values()].sort((a, b) => b.moments - a.moments || Number(b.split === 'train') - Number(a.split === 'train'));
}

export const figuresOf = (moment: Moment, mode: ModeName): ModeFigures | undefined => moment.modes.find((figures) => figures.mode === mode);

export const rolloutsOf = (moment: Moment): number => moment.modes.reduce((sum, { rollouts }) => sum + rollouts, 0);

/** Undefined where there is none: a mode without rollouts has no accuracy. */
export function figureOf(moment: Moment, mode: ModeName, name: FigureName): number | undefined {
  const figures = figuresOf(moment, mode);
  if (name === 'share') {
    const all = rolloutsOf(moment);
    return all === 0 ? undefined : (figures?.rollouts ?? 0) / all;
  }
  if (figures === undefined || figures.rollouts === 0) return undefined;
  if (name === 'accuracy') return figures.right / figures.rollouts;
  return known(figures[name]);
}

const known = (value: Num): number | undefined => (value === null ? undefined : value);

/** One line: moments without a value are left out. */
export function lineOf(moments: readonly Moment[], mode: ModeName, name: FigureName): { readonly x: number[]; readonly y: number[] } {
  const x: number[] = [];
  const y: number[] = [];
  for (const moment of moments) {
    const value = figureOf(moment, mode, name);
    if (value === undefined) continue;
    x.push(moment.step);
    y.push(value);
  }
  return { x, y };
}
