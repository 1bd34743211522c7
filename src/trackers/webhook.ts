/**
 * A POST of JSON when a run ends, fails, is interrupted, or collapses. `text` is a sentence, so chat services take it as it is. A secret in
 * TOOLWISE_WEBHOOK_TOKEN goes along as a bearer token.
 */
import { basename } from 'node:path';
import { addressOf, sendJson } from './http.js';
import { type RunOutcome, type TrackedRun, type Tracker, TrackerGone } from './tracker.js';

export interface WebhookOptions {
  /** May hold a path and a query. */
  readonly url: string;
}

/** What is posted. */
export interface WebhookBody {
  readonly event: 'ended' | 'failed' | 'interrupted' | 'alarm';
  readonly text: string;
  readonly run: string;
  readonly recipe: string;
  readonly model: string;
  readonly seed: number;
  /** Of an alarm: what is wrong, for example `noToolCalls`. */
  readonly alarm?: string;
  /** Of the last evaluation, in [0, 1]. */
  readonly accuracy?: number;
  readonly error?: string;
}

/** @throws UserError for an address that is none, or a token that would travel in the open */
export function webhook({ url }: WebhookOptions): Tracker {
  const token = process.env.TOOLWISE_WEBHOOK_TOKEN || undefined;
  addressOf(url, token, 'the webhook');
  let about: Pick<WebhookBody, 'run' | 'recipe' | 'model' | 'seed'>;
  const post = async (body: Omit<WebhookBody, 'run' | 'recipe' | 'model' | 'seed'>, signal: AbortSignal): Promise<void> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { status } = await sendJson({ method: 'POST', url, body: { ...body, ...about } satisfies WebhookBody, headers, signal });
    if (status >= 400) throw new TrackerGone(`${new URL(url).host} refuses the message (status ${status})`);
  };
  return {
    name: 'webhook',
    async start({ folder, info }: TrackedRun) {
      about = { run: basename(folder), recipe: info.recipe.name, model: info.model.name, seed: info.seed };
    },
    async alarm({ kind, text }, signal) {
      await post({ event: 'alarm', alarm: kind, text: `${about.run}: ${text}` }, signal);
    },
    async end(outcome, signal) {
      await post({ event: outcome.kind, ...said(outcome, about.run) }, signal);
    },
  };
}

function said(outcome: RunOutcome, run: string): Pick<WebhookBody, 'text' | 'accuracy' | 'error'> {
  if (outcome.kind === 'failed') return { text: `${run} failed: ${outcome.error}`, error: outcome.error };
  if (outcome.kind === 'interrupted') return { text: `${run} was interrupted; --resume goes on with it` };
  const { accuracy } = outcome;
  if (accuracy === undefined) return { text: `${run} has ended` };
  return { text: `${run} has ended: ${(100 * accuracy).toFixed(1)} % right in its last evaluation`, accuracy };
}
