/** One JSON request to a tracker's server: no redirects, and an error that a person can read. */
import { checkAddress } from '../engine/transport.js';
import { TrackerGone } from './tracker.js';

export interface JsonRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** @throws Error where the server cannot be reached or fails; TrackerGone where it refuses, which no retry mends */
export async function sendJson({ method, url, body, headers, signal }: JsonRequest): Promise<{ status: number; body: unknown }> {
  const { host } = new URL(url);
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'manual',
    signal,
  }).catch((error: Error) => {
    throw new Error(`${host} cannot be reached: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  const text = await answer.text();
  const { status } = answer;
  if (status >= 300 && status < 400)
    throw new TrackerGone(`${host} answers with a redirect, which is not followed; give its final address`);
  if (status === 401 || status === 403) throw new TrackerGone(`${host} refuses the key (status ${status})`);
  if (status === 429 || status >= 500) throw new Error(`${host} answered with status ${status}`);
  return { status, body: parsed(text) };
}

/** The address without a slash at its end. @throws UserError where it is none, or a key would travel in the open */
export const addressOf = (address: string, key: string | undefined, what: string): string => checkAddress(address, key, what);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
