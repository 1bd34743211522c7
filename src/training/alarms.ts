/**
 * Watches a run's metrics for the ways in which RL dies: NaN, no more tool calls, entropy gone, every response truncated. Says so; what
 * is done about it is the trainer's business.
 */
import type { Metrics } from '../domain/event.js';

export interface Alarm {
  readonly kind: 'nan' | 'noToolCalls' | 'entropyGone' | 'allTruncated' | 'samplerGap' | 'offPolicy';
  readonly text: string;
}

/**
 * Mean absolute gap between sampler's and trainer's log-probs above which sampling and training no longer agree, nats. As much again is
 * allowed for each step that the policy has made since it sampled.
 */
const MAX_SAMPLER_GAP = 0.05;

/** Share of tokens with importance weights at their cap above which the rollouts are of another policy. */
const MAX_CAPPED = 0.1;

/** @param first metrics of the stage's first step, for what was normal here */
export function alarms(now: Metrics, first: Metrics): Alarm[] {
  const found: Alarm[] = [];
  const at = (name: string): number => now[name] ?? Number.NaN;
  const broken = Object.entries(now).find(([, value]) => !Number.isFinite(value));
  if (broken) found.push({ kind: 'nan', text: `${broken[0]} is ${broken[1]}: the update is not trusted` });
  if ((first['rollout/calls'] ?? 0) > 0.3 && at('rollout/calls') < 0.05) {
    found.push({
      kind: 'noToolCalls',
      text: `tool calls fell from ${first['rollout/calls']?.toFixed(2)} to ${at('rollout/calls').toFixed(2)} a rollout`,
    });
  }
  if (at('rollout/entropy') < 0.005 && (first['rollout/entropy'] ?? 0) > 0.05) {
    found.push({
      kind: 'entropyGone',
      text: `entropy fell from ${first['rollout/entropy']?.toFixed(3)} to ${at('rollout/entropy').toFixed(3)} nats a token`,
    });
  }
  if (at('rollout/truncated') > 0.95) found.push({ kind: 'allTruncated', text: 'nearly every response runs into a token limit' });
  const lag = now['async/lag'] ?? 0;
  if (at('train/samplerGap') > MAX_SAMPLER_GAP * (1 + lag)) {
    const behind = lag > 0 ? `, ${lag.toFixed(1)} steps apart` : '';
    found.push({
      kind: 'samplerGap',
      text: `sampler and trainer differ by ${at('train/samplerGap').toFixed(3)} nats a token on average${behind}`,
    });
  }
  if (at('train/importanceCapped') > MAX_CAPPED) {
    const share = Math.round(100 * at('train/importanceCapped'));
    found.push({
      kind: 'offPolicy',
      text: `the importance weights of ${share} % of the tokens are at their cap: the rollouts are too old`,
    });
  }
  return found;
}
