/** The page itself: files that were built into `dist/dashboard/web`. Only files that are in that folder when the server looks are given. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { packageRoot } from '../../setup/paths.js';
import { Refusal } from './refusal.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

export const assetsFolder = (): string => join(packageRoot(), 'dist', 'dashboard', 'web');

export class Assets {
  constructor(readonly folder: string) {}

  get missing(): boolean {
    return !existsSync(join(this.folder, 'index.html'));
  }

  /** The file of a path; the page itself for every path that names no file, so that deep links work. */
  async answer(path: string): Promise<Response> {
    if (this.missing) {
      throw new Refusal(
        503,
        `The page has not been built: there is no index.html in ${this.folder}. Run "npm run build" in the folder of the sources.`,
      );
    }
    const known = path === '/' ? undefined : this.#files().get(path);
    if (known === undefined && extname(path) !== '') throw new Refusal(404, `there is no ${path}`);
    const file = known ?? join(this.folder, 'index.html');
    // names of built files carry a hash of what is in them
    const lasting = /[.-][\w-]{8,}\.(js|css|woff2|svg|png)$/.test(file);
    return new Response(await readFile(file), {
      headers: {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        'cache-control': lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    });
  }

  /** By the path that asks for them. */
  #files(): Map<string, string> {
    const files = new Map<string, string>();
    for (const name of readdirSync(this.folder, { recursive: true, encoding: 'utf8' })) {
      const file = join(this.folder, name);
      if (lstatSync(file).isFile() && extname(name) in TYPES) files.set(`/${name.split(sep).join('/')}`, file);
    }
    return files;
  }
}
