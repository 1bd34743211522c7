/**
 * Who may ask: a page in a browser may not, whatever name it reaches us by (DNS rebinding, cross-site posts), and where a token is set only
 * who has it. Knows nothing of what is asked.
 */
import { hostName, isLoopback, sameSecret } from '../access.js';
import type { Refusal } from '../completions/refusal.js';

export interface Access {
  /** Asked for as `Authorization: Bearer TOKEN`. */
  readonly token?: string | undefined;
}

/** Why a request is not let in; undefined where it is. */
export function refuseEntry(headers: Headers, { token }: Access): Refusal | undefined {
  const forbidden = (message: string): Refusal => ({ status: 403, type: 'permission_error', message });
  // Where a token is needed the name does not matter: a page has none.
  if (token === undefined && !isLoopback(hostName(headers.get('host') ?? '')))
    return forbidden('this server answers to its own address only');
  const site = headers.get('sec-fetch-site');
  if (headers.get('origin') !== null || (site !== null && site !== 'none' && site !== 'same-origin')) {
    return forbidden('this server takes no requests of pages in a browser; let your own server ask it');
  }
  if (token === undefined) return undefined;
  const given = /^Bearer\s+(.+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  if (given !== undefined && sameSecret(given.trim(), token)) return undefined;
  const message = given === undefined ? 'this server wants a token: Authorization: Bearer TOKEN' : "the token is not this server's";
  return { status: 401, type: 'authentication_error', message, code: 'invalid_api_key' };
}
