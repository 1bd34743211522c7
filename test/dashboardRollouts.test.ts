/** The dashboard's views of rollouts, groups, problems, modes and reports in a real browser, over a run in which every text is hostile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HOSTILE_TEXTS, TRIPWIRE } from '../src/dashboard/web/trajectories/hostileTexts.js';
import { browserPath, DashboardInBrowser, LOOKS, NEEDS_BROWSER, type OpenPage } from './support/browser.js';
import { LONG, writeHostileRun } from './support/hostileRun.js';

/** Milliseconds for tests that open many views on a busy machine. */
const LENGTHY = 240_000;

let folder: string;
let ids: ReadonlyMap<string, number>;
let dashboard: DashboardInBrowser;

describe.skipIf(browserPath === undefined)(`rollouts in a browser${NEEDS_BROWSER}`, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hostile-'));
    ids = writeHostileRun(join(folder, 'run'));
    dashboard = await DashboardInBrowser.open(folder);
  });
  afterAll(async () => {
    await dashboard?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => dashboard.closePages());

  const fresh = (options: Parameters<DashboardInBrowser['page']>[0] = {}): Promise<OpenPage> => dashboard.page(options);
  const tripped = (page: OpenPage): Promise<unknown> =>
    page.page.evaluate(`['${TRIPWIRE}' in window, document.title.includes('${TRIPWIRE}')]`);

  /** The rollout that the address names, once it is there. */
  const rolloutOf = (page: OpenPage): string => `[aria-label="Rollout ${/trajectories\/(\d+)/.exec(page.hash())?.[1]}"]:not(.stale)`;

  it(
    'shows every hostile text as text: in a conversation, with its problem, and beside others of its group',
    async () => {
      const page = await fresh();
      for (const [i, { name }] of HOSTILE_TEXTS.entries()) {
        await page.show(`#/run/run/trajectories/${ids.get(name)}`, `[aria-label="Rollout ${ids.get(name)}"] .said-question`);
        expect(await page.overflows(), name).toBe(false);
        if (i % 4 === 0)
          await page.show(`#/run/run/groups/${encodeURIComponent(`group/${i / 4}`)}`, `[aria-label="Group group/${i / 4}"] .diff-text`);
      }
      await page.show('#/run/run/problems', '.table-row');
      await page.show('#/run/run/groups', '.table-row');
      await page.show('#/run/run/trajectories', '.table-row');
      expect(await page.page.locator('main script, main iframe, main img, main object, main form').count()).toBe(0);
      expect(await tripped(page)).toEqual([false, false]);
      expect(page.faults).toEqual([]);
    },
    LENGTHY,
  );

  it('shows what is hidden: marks of direction, controls and half characters are signs', async () => {
    const page = await fresh();
    await page.show(`#/run/run/trajectories/${ids.get('direction turned')}`, '.said-answer');
    expect(await page.page.locator('.said-question .sign').allTextContents()).toContain('\u27e8RLO\u27e9');
    const text = (await page.page.locator('main').textContent()) ?? '';
    expect(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(text)).toBe(false);
  });

  it('cuts a megabyte, says so, and loads it whole when asked', async () => {
    const page = await fresh();
    await page.show(`#/run/run/trajectories/${ids.get('one line of a megabyte')}`, '.note');
    await page.page.getByRole('button', { name: 'Load whole' }).click();
    const more = page.page.locator('.said-question button', { hasText: 'show all' });
    await expect.poll(() => more.textContent()).toContain('1,04');
    await more.click();
    await expect.poll(async () => (await page.page.locator('.said-question .safe-block').textContent())?.length).toBe(1_048_580);
    expect(page.faults).toEqual([]);
  });

  it('is walked by keyboard: from the list into a rollout, to its tokens, and back to where one was', async () => {
    const page = await fresh();
    const { keyboard } = page.page;
    await page.show('#/run/run/trajectories?correct=true', '.table-row');
    for (const key of ['j', 'j', 'Enter']) await keyboard.press(key);
    await expect.poll(() => page.hash()).toMatch(/trajectories\/\d+/);
    await page.page.waitForSelector(rolloutOf(page));
    const first = page.hash();
    expect(first).toMatch(/trajectories\/\d+\?correct=true$/);
    await keyboard.press('j');
    await expect.poll(() => page.hash()).not.toBe(first);
    await page.page.waitForSelector(rolloutOf(page));
    await keyboard.press('k');
    await expect.poll(() => page.hash()).toBe(first);
    await page.page.waitForSelector(rolloutOf(page));
    await keyboard.press('v');
    await page.page.waitForSelector('.tok-list');
    await page.page.getByRole('listbox', { name: 'Tokens of the response' }).focus();
    await keyboard.press('Home');
    await keyboard.press('ArrowRight');
    await expect
      .poll(() => page.page.locator('.tok-frame > [role=status]').textContent())
      .toMatch(/place 1, from the model \(mask 1\), log-prob \u22123 nats/);
    expect(await page.page.locator('.tok-inspector').textContent()).toContain('\u22123 nats');
    await keyboard.press('Escape');
    await keyboard.press('Escape');
    await page.page.waitForSelector('.table-row.active');
    expect(page.hash()).toBe('#/run/run/trajectories?correct=true');
    expect(await page.page.locator('.table-row.active').getAttribute('aria-rowindex')).toBe('3');
    expect(page.faults).toEqual([]);
  });

  it('keeps the filter in the address, and a chip goes on and off', async () => {
    const page = await fresh();
    await page.show('#/run/run/trajectories', '.table-row');
    const chip = page.page.getByRole('button', { name: 'tool failed' });
    await chip.click();
    await expect.poll(() => page.hash()).toContain('flags=toolFailed');
    await expect.poll(() => page.page.locator('.list-head strong').textContent()).toBe(`${Math.floor(HOSTILE_TEXTS.length / 2)} rollouts`);
    expect(await page.page.getByRole('link', { name: 'JSON Lines' }).getAttribute('href')).toContain('flags=toolFailed');
    await chip.click();
    await expect.poll(() => page.page.locator('.list-head strong').textContent()).toBe(`${HOSTILE_TEXTS.length + 1} rollouts`);
    await page.page.goBack();
    await expect.poll(() => chip.getAttribute('aria-pressed')).toBe('true');
  });

  it('shows thousands of tokens, jumps to the least likely, and changes what the colour says', async () => {
    const page = await fresh();
    await page.show(`#/run/run/trajectories/${ids.get('long')}?view=tokens`, '.tok');
    await expect.poll(() => page.page.locator('.tok').count()).toBe(LONG);
    await page.page.getByText('least likely tokens').click();
    await page.page.locator('.least button').first().click();
    await expect.poll(() => page.page.locator('.tok-current').getAttribute('data-i')).toBe('7000');
    await expect.poll(() => page.hash()).toContain('token=7000');
    expect(await page.page.locator('.tok-current').getAttribute('class')).toContain('logProb-s5');
    await page.page.getByRole('button', { name: 'mask' }).click();
    await expect.poll(() => page.page.locator('.tok-list').getAttribute('data-measure')).toBe('mask');
    await page.page.getByLabel('show numbers').check();
    await expect.poll(() => page.page.locator('[data-i="7000"] .tok-value').textContent()).toBe('1');
    expect(page.faults).toEqual([]);
  });

  it('says plainly where a group gives no gradient, and compares any two', async () => {
    const page = await fresh();
    await page.show('#/run/run/groups/group%2F0?stage=rl', '.diff-text');
    expect(await page.page.locator('.note-warn').textContent()).toContain('no gradient');
    await page.page.getByLabel('Compare rollout 4').check();
    await expect.poll(() => page.hash()).toMatch(/a=2&b=4$/);
    await expect.poll(() => page.page.locator('.group-diff h3').textContent()).toBe('Rollout 2 beside 4');
    expect(await page.page.locator('.diff-text del, .diff-text ins').count()).toBeGreaterThan(1);
  });

  it('goes to the turn that an address names', async () => {
    const page = await fresh();
    await page.show(`#/run/run/trajectories/${ids.get('many short lines')}?turn=2`, '.turn-named');
    expect(await page.page.locator('.turn-named').getAttribute('aria-label')).toBe('Turn 2');
    await expect.poll(async () => (await page.page.locator('.turn-named').boundingBox())?.y).toBeLessThan(900);
  });

  it('shows a report in a frame in which nothing runs, and notes as text', async () => {
    const page = await fresh();
    await page.show('#/run/run/reports', 'iframe');
    const frame = page.page.frameLocator('iframe');
    await expect.poll(() => frame.locator('p').textContent()).toBe('It says something.');
    expect(await tripped(page)).toEqual([false, false]);
    // the browser tells that it refused to run the report's script
    expect(page.faults.filter((fault) => !/sandbox|Content Security Policy/.test(fault))).toEqual([]);
    page.faults.length = 0;
    await page.page.getByRole('link', { name: /notes\.md/ }).click();
    await expect.poll(() => page.page.locator('.report-text').textContent()).toContain('<img src=x onerror=');
    expect(await tripped(page)).toEqual([false, false]);
    expect(page.faults).toEqual([]);
  });

  const VIEWS = (): [name: string, hash: string, selector: string][] => [
    ['list', '#/run/run/trajectories', '.table-row'],
    ['rollout', `#/run/run/trajectories/${ids.get('special tokens')}`, '.said-answer'],
    ['tokens', `#/run/run/trajectories/${ids.get('special tokens')}?view=tokens&numbers=1`, '.tok'],
    ['groups', '#/run/run/groups', '.table-row'],
    ['group', '#/run/run/groups/group%2F4', '.diff-text'],
    ['problems', '#/run/run/problems', '.table-row'],
    ['problem', '#/run/run/problems/long', '.meetings-chart'],
    ['modes', '#/run/run/modes', '.mode-table'],
    ['reports', '#/run/run/reports/notes.md', '.report-text'],
    ['data reports', '#/reports', 'main h1'],
  ];

  it.each(LOOKS)(
    'is accessible, and no wider than its window: %s',
    async (_, options) => {
      const page = await fresh(options);
      for (const [name, hash, selector] of VIEWS()) {
        await page.show(hash, selector);
        expect(await page.axe(), name).toEqual([]);
        expect(await page.overflows(), name).toBe(false);
      }
      expect(page.faults).toEqual([]);
    },
    LENGTHY,
  );
});
