/** Which metrics stand on which chart, and in which order: first what tells whether a run learns, then everything else under its own name. Pure. */
import type { Stage } from '../../../domain/event.js';
import { isShare } from '../format.js';

export interface Panel {
  /** In addresses. */
  readonly key: string;
  readonly title: string;
  /** What it tells, in a sentence. */
  readonly hint?: string;
  readonly lines: readonly PanelLine[];
  /** On top of one another, where one run is shown. */
  readonly stack?: boolean;
  readonly unit: 'number' | 'share' | 'seconds';
  /** Shares begin at 0, others where their values are. */
  readonly fromZero?: boolean;
}

export interface PanelLine {
  readonly metric: string;
  readonly label: string;
}

interface Rule {
  readonly key: string;
  readonly title: string;
  readonly hint?: string;
  /** Metrics in this order, or all that match, by name. */
  readonly metrics: readonly (string | RegExp)[];
  readonly stages?: readonly Stage[];
  readonly unit?: Panel['unit'];
  readonly stack?: boolean;
  readonly fromZero?: boolean;
}

const RULES: readonly Rule[] = [
  {
    key: 'reward',
    title: 'Reward',
    hint: 'Mean over the rollouts of a step: the total, and each part of it',
    metrics: ['reward/total', 'reward/outcome', /^reward\//],
  },
  {
    key: 'accuracy',
    title: 'Accuracy',
    hint: 'Share of graded rollouts with a right answer; dots are evaluations with their intervals',
    metrics: ['rollout/accuracy'],
    unit: 'share',
    fromZero: true,
  },
  {
    key: 'entropy',
    title: 'Entropy',
    hint: 'Nats a token the model wrote; near 0 it tries nothing new',
    metrics: ['rollout/entropy', 'train/entropy'],
    fromZero: true,
  },
  { key: 'calls', title: 'Tool calls a rollout', metrics: ['rollout/calls', 'rollout/turns'], fromZero: true },
  {
    key: 'tools',
    title: 'Tool use',
    hint: 'Shares: calls that succeeded; rollouts without a call, with a malformed one',
    metrics: ['rollout/toolSuccess', 'rollout/withoutCall', 'rollout/malformed'],
    unit: 'share',
    fromZero: true,
  },
  {
    key: 'tokens',
    title: 'Tokens',
    hint: 'Written by the model a turn and a rollout; the response counts the tools’ as well',
    metrics: ['rollout/tokensPerTurn', 'rollout/modelTokens', 'rollout/responseTokens'],
    fromZero: true,
  },
  {
    key: 'endings',
    title: 'How rollouts end',
    metrics: ['rollout/answered', 'rollout/truncated'],
    unit: 'share',
    fromZero: true,
  },
  { key: 'loss', title: 'Loss', metrics: ['train/loss'] },
  {
    key: 'clip',
    title: 'Clipped tokens',
    hint: 'Shares of trained tokens whose ratio was beyond the bounds',
    metrics: ['train/clipLow', 'train/clipHigh', 'train/clipDual'],
    unit: 'share',
    fromZero: true,
  },
  { key: 'gradient', title: 'Gradient norm', hint: 'Before clipping', metrics: ['train/gradNorm'], fromZero: true },
  {
    key: 'kl',
    title: 'KL and distance',
    hint: 'kl: from the reference policy; policyMoved: from the policy that sampled, nats a token',
    metrics: ['train/kl', 'train/policyMoved'],
  },
  {
    key: 'gap',
    title: 'Sampler gap',
    hint: 'Mean absolute difference of the trainer’s and the sampler’s log-probs, nats a token',
    metrics: [/samplerGap/i],
    fromZero: true,
  },
  {
    key: 'groups',
    title: 'Groups',
    hint: 'Shares of groups that teach nothing (equal rewards) and that are all wrong',
    metrics: ['groups/zeroVariance', 'groups/allWrong'],
    unit: 'share',
    fromZero: true,
  },
  {
    key: 'seconds',
    title: 'Seconds a step by phase',
    // the tools' seconds are summed over calls that run side by side: they are no phase
    metrics: ['seconds/generation', 'seconds/training', 'seconds/publish', 'seconds/checkpoint', /^seconds\/(?!step$|tools$)/],
    unit: 'seconds',
    stack: true,
    fromZero: true,
  },
];

/** Charts for the metrics of a stage. Every metric stands on at least one. */
export function panelsFor(names: readonly string[]): readonly Panel[] {
  const left = new Set(names);
  const panels: Panel[] = [];
  for (const { key, title, hint, metrics, unit, stack, fromZero } of RULES) {
    const found = new Set<string>();
    for (const rule of metrics) {
      if (typeof rule === 'string') {
        if (left.has(rule)) found.add(rule);
      } else for (const name of [...left].sort()) if (rule.test(name)) found.add(name);
    }
    if (found.size === 0) continue;
    for (const name of found) left.delete(name);
    panels.push({
      key,
      title,
      ...(hint !== undefined && { hint }),
      lines: [...found].map((metric) => ({ metric, label: found.size === 1 && metric !== 'train/kl' ? metric : shortName(metric) })),
      unit: unit ?? 'number',
      ...(stack && found.size > 1 && { stack }),
      ...(fromZero && { fromZero }),
    });
  }
  for (const name of [...left].sort()) {
    panels.push({ key: name, title: name, lines: [{ metric: name, label: name }], unit: unitOf(name) });
  }
  return panels;
}

export const shortName = (metric: string): string => metric.slice(metric.indexOf('/') + 1);

const unitOf = (name: string): Panel['unit'] => (isShare(name) ? 'share' : /^seconds\//.test(name) ? 'seconds' : 'number');

/** How many of the panels are the ones above the fold. */
export const isMain = (panel: Panel): boolean => RULES.some(({ key }) => key === panel.key);
