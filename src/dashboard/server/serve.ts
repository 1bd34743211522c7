/** Listens: on this machine only, unless another address is asked for, and then with a token. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { serve as listen, type ServerType } from '@hono/node-server';
import { isLoopback } from '../../access.js';
import { UserError } from '../../userError.js';
import { dashboard } from './app.js';
import { assetsFolder } from './assets.js';

export interface ServeOptions {
  readonly folder: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port?: number;
  readonly assets?: string;
  /** Absent: made up where one is needed. */
  readonly token?: string;
}

export interface Served {
  /** To be opened in a browser; with the token where there is one. */
  readonly address: string;
  readonly port: number;
  readonly token?: string;
  close(): Promise<void>;
}

/** @throws UserError where the port is taken */
export async function serveDashboard({
  folder,
  host = '127.0.0.1',
  port = 0,
  assets = assetsFolder(),
  token: own,
}: ServeOptions): Promise<Served> {
  const token = own ?? (isLoopback(host) ? undefined : randomBytes(24).toString('base64url'));
  const { app, close } = dashboard({ folder, assets, token });
  const server = await new Promise<ServerType>((resolve, reject) => {
    const made = listen({ fetch: app.fetch, hostname: host, port }, () => {
      made.off('error', reject);
      resolve(made);
    });
    made.once('error', reject);
  }).catch((error: NodeJS.ErrnoException) => {
    close();
    if (error.code === 'EADDRINUSE')
      throw new UserError(`Port ${port} of ${host} is taken.`, 'Choose another one with --port, or 0 for any.');
    if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
      throw new UserError(`${host} is no address of this machine.`, 'Leave --host out.');
    if (error.code === 'EACCES') throw new UserError(`Port ${port} may not be used.`, 'Choose one above 1023 with --port.');
    throw error;
  });
  const bound = (server.address() as AddressInfo).port;
  // of all addresses of a machine the one that others know is its name
  const reached = host === '0.0.0.0' || host === '::' ? hostname() : host;
  const name = reached.includes(':') ? `[${reached}]` : reached;
  return {
    address: `http://${name}:${bound}/${token === undefined ? '' : `?token=${token}`}`,
    port: bound,
    ...(token !== undefined && { token }),
    close: () =>
      new Promise((resolve) => {
        close();
        server.close(() => resolve());
        (server as { closeAllConnections?: () => void }).closeAllConnections?.();
      }),
  };
}
