/**
 * Who may ask, and what a browser may do with the answer. A page elsewhere cannot read anything: the address it reaches us by must be ours
 * (against DNS rebinding), nothing is allowed across origins, and nothing but reading is offered.
 */
import { createHash } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { hostName, isLoopback, sameSecret } from '../../access.js';
import { Refusal } from './refusal.js';

export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

export interface Access {
  /** Asked for where others can reach the server. */
  readonly token?: string | undefined;
}

/** Host names are checked where no token is: only a name of this machine's own may lead here. */
export function guard({ token }: Access): MiddlewareHandler {
  return async (context, next) => {
    const host = context.req.header('host') ?? '';
    if (token === undefined && !isLoopback(hostName(host).toLowerCase()))
      throw new Refusal(403, 'this server answers to its own address only');
    const origin = context.req.header('origin');
    if (origin !== undefined && !isOf(origin, host)) throw new Refusal(403, 'this server takes no requests of other pages');
    if (context.req.method !== 'GET' && context.req.method !== 'HEAD') throw new Refusal(405, 'this server only shows: GET');
    if (token !== undefined) {
      const answer = checkToken(context, token);
      if (answer) return answer;
    }
    await next();
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
    if (!context.res.headers.has('content-security-policy')) context.header('content-security-policy', PAGE_POLICY);
    return undefined;
  };
}

/** Cookies know no port: two dashboards of one machine need two names. */
const cookieOf = (token: string): string => `toolwise_ui_${createHash('sha256').update(token).digest('hex').slice(0, 8)}`;

/** @returns an answer that takes the token out of the address once it is in a cookie */
function checkToken(context: Context, token: string): Response | undefined {
  const url = new URL(context.req.url);
  const given = url.searchParams.get('token');
  if (given !== null && sameSecret(given, token)) {
    setCookie(context, cookieOf(token), token, { httpOnly: true, sameSite: 'Strict', path: '/' });
    url.searchParams.delete('token');
    return context.redirect(`${url.pathname}${url.search}`, 303);
  }
  if (!sameSecret(getCookie(context, cookieOf(token)) ?? '', token)) {
    throw new Refusal(401, 'a token is needed: open the address that was printed when the server started');
  }
  return undefined;
}

/** Behind a proxy the scheme may differ; `null` is the origin of a page that has none. */
function isOf(origin: string, host: string): boolean {
  try {
    return new URL(origin).host === host.toLowerCase();
  } catch {
    return false;
  }
}
