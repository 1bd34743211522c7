/**
 * The dashboard's page in a real browser, for tests: finds Chromium, builds the page once, serves a folder of runs, opens pages and keeps
 * what went wrong in them. Nothing is downloaded: where no browser is found, tests that need one are skipped.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { type Served, serveDashboard } from '../../src/dashboard/server/serve.js';

const PLACES = [
  process.env.TOOLWISE_BROWSER,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Absent where there is none. `TOOLWISE_BROWSER` names another one. */
export const browserPath = PLACES.find((path) => path !== undefined && existsSync(path));

/** To be part of a test's name, so that a skipped one says why. */
export const NEEDS_BROWSER = browserPath === undefined ? ' (skipped: no Chromium found; name one by TOOLWISE_BROWSER)' : '';

/** By name, how a page may be looked at. */
export const LOOKS = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['on a phone', { colorScheme: 'light', viewport: { width: 390, height: 844 } }],
] as const satisfies readonly (readonly [string, BrowserContextOptions])[];

const FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-sync',
  '--no-first-run',
  // a browser of root has no sandbox of its own
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

const axeSource = (): string => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The page built, a server over a folder, and a browser: closed together. */
export class DashboardInBrowser {
  readonly #assets: string;
  readonly #served: Served;
  readonly #browser: Browser;
  #pages: OpenPage[] = [];

  private constructor(assets: string, served: Served, browser: Browser) {
    this.#assets = assets;
    this.#served = served;
    this.#browser = browser;
  }

  static async open(folder: string): Promise<DashboardInBrowser> {
    const assets = mkdtempSync(join(tmpdir(), 'dashboard-page-'));
    await build({
      configFile: fileURLToPath(new URL('../../vite.config.ts', import.meta.url)),
      root: fileURLToPath(new URL('../../src/dashboard/web', import.meta.url)),
      build: { outDir: assets },
      logLevel: 'silent',
    });
    const served = await serveDashboard({ folder, assets });
    const browser = await chromium.launch({ executablePath: browserPath!, args: FLAGS });
    return new DashboardInBrowser(assets, served, browser);
  }

  async page(options: BrowserContextOptions = {}): Promise<OpenPage> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options });
    const page = new OpenPage(await context.newPage(), this.#served.address);
    this.#pages.push(page);
    return page;
  }

  /** After each test. */
  async closePages(): Promise<void> {
    for (const page of this.#pages) await page.close();
    this.#pages = [];
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.#served.close();
    rmSync(this.#assets, { recursive: true, force: true });
  }
}

export class OpenPage {
  /** Errors of the page and of its policy, dialogs, and requests that went elsewhere. */
  readonly faults: string[] = [];

  constructor(
    readonly page: Page,
    readonly address: string,
  ) {
    page.on('pageerror', (error) => this.faults.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') this.faults.push(`console: ${message.text()}`);
    });
    page.on('dialog', (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(address)) this.faults.push(`request: ${request.url()}`);
    });
  }

  /** Goes to a view by its hash, for example `#/run/demo/trajectories`, and waits for something that is on it. */
  async show(hash: string, selector: string): Promise<void> {
    if (this.page.url().startsWith(this.address)) await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    else await this.page.goto(`${this.address}${hash}`);
    await this.page.waitForSelector(selector, { state: 'attached' });
  }

  hash(): string {
    return decodeURIComponent(new URL(this.page.url()).hash);
  }

  /** What axe finds, a line each; frames of reports are not looked into. */
  async axe(): Promise<string[]> {
    await this.page.evaluate(axeSource());
    const { violations } = (await this.page.evaluate('axe.run(document, { iframes: false })')) as AxeResults;
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  }

  /** Whether the page is wider than its window. */
  overflows(): Promise<boolean> {
    return this.page.evaluate('document.documentElement.scrollWidth > innerWidth') as Promise<boolean>;
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
