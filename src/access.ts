/** What every server on this machine asks of a request, and every client of an address: is the name this machine's own, is the secret the one. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** @param host a name without port and brackets: see `hostName` */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** A host as a header or an address has it, without its port and brackets. */
export function hostName(host: string): string {
  const bracketed = /^\[([0-9a-fA-F:]+)\](?::\d+)?$/.exec(host);
  return bracketed?.[1] ?? host.replace(/:\d+$/, '');
}

/** Takes the same time whatever differs. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
