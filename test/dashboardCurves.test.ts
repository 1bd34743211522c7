/** The dashboard's list of runs, curves, comparison and overview in a real browser, over runs of which one is being written. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RunWriter } from '../src/runs/writer.js';
import { browserPath, DashboardInBrowser, NEEDS_BROWSER, type OpenPage } from './support/browser.js';
import { someInfo } from './support/someRun.js';

/** Milliseconds for tests that open many views on a busy machine. */
const LENGTHY = 240_000;
const soon = { timeout: 30_000 };

const HOSTILE = '<img src=x onerror="window.tripped=1">\u202e\u0007';
const SPIKE = 1234;
const LONG_STEPS = 6_000;

const metricsOf = (step: number) => ({
  'reward/total': step / 10,
  'reward/outcome': step / 20,
  'rollout/accuracy': Math.min(1, step / 20),
  'train/gradNorm': 1,
  'train/tokens': 100,
  'seconds/step': 2,
  'seconds/generation': 1.5,
  'seconds/training': 0.5,
});

describe.skipIf(browserPath === undefined)(`runs and curves in a browser${NEEDS_BROWSER}`, () => {
  let folder: string;
  let dashboard: DashboardInBrowser;
  /** Of the run that goes on while it is looked at. */
  let writer: RunWriter;
  let steps = 0;

  const nextStep = (): void => {
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: steps, metrics: metricsOf(steps) });
    steps++;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'curves-'));
    writer = RunWriter.create(join(folder, 'demo', 'live'), someInfo());
    writer.sink({ kind: 'stageStarted', stage: 'rl', steps: 40 });
    for (let i = 0; i < 20; i++) nextStep();

    const ended = RunWriter.create(join(folder, 'demo', 'ended'), someInfo());
    ended.sink({ kind: 'stageStarted', stage: 'base', steps: 0 });
    ended.sink({ kind: 'evaluation', record: { name: 'main', stage: 'base', step: 0, metrics: { accuracy: 0.1 } } });
    ended.sink({ kind: 'stageEnded', stage: 'base', seconds: 1 });
    ended.sink({ kind: 'stageStarted', stage: 'rl', steps: 10 });
    for (let step = 0; step < 10; step++) {
      const checkpoint = {
        path: `tinker://m/weights/${step}`,
        stage: 'rl',
        step: 5,
        policyVersion: 5,
        optimizer: true,
        reason: 'best',
      } as const;
      ended.sink({ kind: 'stepEnded', stage: 'rl', step, metrics: metricsOf(step), ...(step === 4 && { checkpoint }) });
    }
    const metrics = { accuracy: 0.5, intervalLow: 0.4, intervalHigh: 0.6, problems: 64 };
    ended.sink({ kind: 'evaluation', record: { name: 'main', stage: 'rl', step: 10, metrics } });
    ended.sink({ kind: 'note', level: 'warning', text: `collapse ${HOSTILE}` });
    ended.sink({ kind: 'stageEnded', stage: 'rl', seconds: 60 });
    ended.close();

    const long = RunWriter.create(join(folder, '<i>long</i>'), someInfo());
    long.sink({ kind: 'stageStarted', stage: 'rl', steps: LONG_STEPS });
    for (let step = 0; step < LONG_STEPS; step++)
      long.sink({ kind: 'stepEnded', stage: 'rl', step, metrics: { 'reward/total': step === 3_333 ? SPIKE : step % 3 } });
    long.close();

    mkdirSync(join(folder, 'broken'));
    writeFileSync(join(folder, 'broken', 'run.sqlite'), 'this is no database');
    dashboard = await DashboardInBrowser.open(folder);
  }, LENGTHY);
  afterAll(async () => {
    await dashboard?.close();
    writer?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => dashboard.closePages());

  const fresh = (options: Parameters<DashboardInBrowser['page']>[0] = {}): Promise<OpenPage> => dashboard.page(options);
  const plot = (page: OpenPage, title: string) =>
    page.page.locator('.chart', { has: page.page.getByRole('heading', { name: title, exact: true }) });
  const told = (page: OpenPage, title: string) => plot(page, title).locator('.chart-plot').getAttribute('aria-label');
  const names = (page: OpenPage) => page.page.locator('.run-name').allTextContents();

  it('lists runs with their state and how far they are, broken ones with the reason', async () => {
    const page = await fresh();
    await page.show('#/?sort=name&order=up', '.run-name');
    expect(await names(page)).toEqual(['<i>long</i>', 'broken', 'demo/ended', 'demo/live']);
    const rows = page.page.locator('.table-row');
    const texts = await rows.allTextContents();
    expect(texts[1]).toMatch(/unreadable.*broken.run\.sqlite/s);
    expect(texts[2]).toMatch(/ended.*RL 10\/10.*45\.0 %.*50\.0 %.*40\.0 – 60\.0 %/s);
    expect(texts[3]).toMatch(/running.*RL 20\/40.*left.*95\.0 %/s);
    await expect.poll(() => rows.nth(3).locator('.spark').getAttribute('aria-label'), soon).toBe('accuracy from 0.0 % to 95.0 %');
    expect(page.faults).toEqual([]);
  });

  it('does not promise curves of a run that cannot be read', async () => {
    const page = await fresh();
    await page.show('#/run/broken/curves', '.state-title');
    expect(await page.page.locator('.state-title').textContent()).toBe('There is nothing to read.');
  });

  it('is searched, opened, left and compared by keyboard; the address keeps all of it', async () => {
    const page = await fresh();
    const { keyboard } = page.page;
    await page.show('#/?sort=name&order=up', '.run-name');
    await keyboard.press('/');
    await keyboard.type('demo');
    await expect.poll(() => names(page), soon).toEqual(['demo/ended', 'demo/live']);
    expect(page.hash()).toContain('q=demo');
    await page.page.getByRole('searchbox').blur();
    for (const key of ['j', 'x', 'j', 'x', 'k', 'Enter']) await keyboard.press(key);
    await page.page.waitForSelector('.uplot');
    expect(page.hash()).toBe('#/run/demo/ended');
    await keyboard.press('Escape');
    await page.page.waitForSelector('.run-name');
    await page.page.reload();
    await page.page.waitForSelector('.run-name');
    expect(await names(page)).toEqual(['demo/ended', 'demo/live']);
    expect(await page.page.locator('.table-row input:checked').count()).toBe(2);
    await keyboard.press('c');
    await page.page.waitForSelector('.run-legend');
    expect(page.hash()).toBe('#/compare?run=demo/ended&run=demo/live');
    await expect
      .poll(() => plot(page, 'Accuracy').locator('.legend-value').allTextContents(), soon)
      .toEqual(['45.0 %', expect.stringContaining('%')]);
    await page.page.locator('.run-legend').getByRole('button', { name: 'ended', exact: true }).click();
    await expect.poll(() => plot(page, 'Accuracy').locator('.legend-value').count(), soon).toBe(1);
    await keyboard.press('?');
    await page.page.waitForSelector('dialog[open]');
    expect(await page.page.locator('dialog').textContent()).toContain('go to the runs');
    await keyboard.press('Escape');
    await expect.poll(() => page.page.locator('dialog').count(), soon).toBe(0);
    for (const key of ['g', 'r']) await keyboard.press(key);
    await page.page.waitForSelector('.run-name');
    expect(page.faults).toEqual([]);
  });

  it('draws a step that is written while it is looked at, in the curves and in the list', async () => {
    const page = await fresh();
    const list = await fresh();
    await page.show('#/run/demo%2Flive', '.uplot');
    await list.show('#/?q=live', '.run-name');
    const before = steps;
    await expect.poll(() => page.page.locator('.live').textContent(), soon).toContain('Live');
    await expect.poll(() => list.page.locator('.live').textContent(), soon).toContain('Live');
    nextStep();
    nextStep();
    const last = `last ${((before + 1) / 10).toString()}`;
    await expect.poll(() => told(page, 'Reward'), soon).toContain(last);
    await expect.poll(() => list.page.locator('.table-row').textContent(), soon).toContain(`RL ${before + 2}/40`);
    await expect.poll(() => page.page.locator('.stages').textContent(), soon).toContain(`RL ${before + 2}/40`);
    expect(page.faults).toEqual([]);
  });

  it('says when the connection is lost, and when it is there again', async () => {
    const page = await fresh();
    await page.page.route('**/api/events', (route) => route.abort());
    await page.show('#/', '.run-name');
    await expect.poll(() => page.page.locator('.live').textContent(), soon).toContain('Connection lost');
    await page.page.unroute('**/api/events');
    await expect.poll(() => page.page.locator('.live').textContent(), soon).toMatch(/Connected again|Live/);
  });

  it('is zoomed and read by keyboard, all charts together, and keeps range and smoothing through a reload', async () => {
    const page = await fresh();
    await page.show('#/run/demo%2Fended?smooth=0.5', '.uplot');
    await plot(page, 'Reward').locator('.chart-plot').focus();
    const { keyboard } = page.page;
    await keyboard.press('End');
    await keyboard.press('ArrowLeft');
    await expect.poll(() => plot(page, 'Accuracy').locator('[data-x]').textContent(), soon).toBe('step 9');
    expect(await plot(page, 'Reward').locator('[aria-live]').textContent()).toMatch(/^step 9: total 0\.\d+, outcome 0\.\d+$/);
    await keyboard.press('+');
    await expect.poll(() => page.hash(), soon).toBe('#/run/demo/ended?smooth=0.5&from=4.5&to=9.5');
    await page.page.reload();
    await page.page.waitForSelector('.uplot');
    expect(await page.page.locator('.bar').textContent()).toContain('show all');
    expect(await page.page.locator('.smoothing-value').textContent()).toBe('0.50');
    await page.page.mouse.click(5, 300);
    await keyboard.press('r');
    await expect.poll(() => page.hash(), soon).toBe('#/run/demo/ended?smooth=0.5');
    expect(page.faults).toEqual([]);
  });

  it('is zoomed by a drag, and shown whole by a double click', async () => {
    const page = await fresh();
    await page.show('#/run/demo%2Fended', '.uplot');
    const box = (await plot(page, 'Reward').locator('.u-over').boundingBox())!;
    const { mouse } = page.page;
    await mouse.move(box.x + box.width * 0.3, box.y + 20);
    await mouse.down();
    await mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 3 });
    await mouse.up();
    await expect.poll(() => page.hash(), soon).toMatch(/from=(2\.9|3)\d*&to=(4\.9|5)\d*/);
    await plot(page, 'Accuracy').locator('.u-over').dblclick();
    await expect.poll(() => page.hash(), soon).toBe('#/run/demo/ended');
  });

  it('switches lines off, changes axis and scale, and tells the values', async () => {
    const page = await fresh();
    await page.show('#/run/demo%2Fended', '.uplot');
    await plot(page, 'Reward').getByRole('button', { name: 'outcome' }).click();
    await expect.poll(() => page.hash(), soon).toContain('off=reward/outcome');
    expect(await plot(page, 'Reward').locator('.legend-value').count()).toBe(1);
    await page.page.getByRole('button', { name: 'Time', exact: true }).click();
    await plot(page, 'Accuracy').getByRole('button', { name: 'More: Accuracy' }).click();
    await page.page.getByRole('button', { name: 'Logarithmic scale' }).click();
    await expect.poll(() => page.hash(), soon).toMatch(/x=time.*log=accuracy/);
    await plot(page, 'Accuracy').getByRole('button', { name: 'More: Accuracy' }).click();
    await page.page.getByRole('button', { name: 'Show the values' }).click();
    expect(await plot(page, 'Accuracy').locator('tbody tr').last().textContent()).toBe('20.0 s45.0 %');
    expect(page.faults).toEqual([]);
  });

  it('marks evaluations and checkpoints with links to their rollouts', async () => {
    const page = await fresh();
    await page.show('#/run/demo%2Fended', '.uplot');
    const marks = plot(page, 'Reward').locator('.mark');
    await expect.poll(() => marks.count(), soon).toBe(3);
    expect(await marks.first().getAttribute('title')).toContain('evaluation main after nothing (base): accuracy 10.0 %');
    await page.page.locator('.mark-list summary').click();
    await page.page.locator('.mark-list').getByRole('link', { name: 'main after step 10 of RL: accuracy 50.0 %' }).click();
    expect(page.hash()).toBe('#/run/demo/ended/trajectories?stage=rl&fromStep=10&toStep=10&split=main');
  });

  it('loses no spike of a long run', async () => {
    const page = await fresh();
    await page.show(`#/run/${encodeURIComponent('<i>long</i>')}`, '.uplot');
    expect(await told(page, 'Reward')).toContain(`most ${SPIKE.toLocaleString('en')}`);
    await page.show(`#/run/${encodeURIComponent('<i>long</i>')}?from=3300&to=3400`, '.uplot');
    await plot(page, 'Reward').getByRole('button', { name: 'More: Reward' }).click();
    await page.page.getByRole('button', { name: 'Show the values' }).click();
    await expect.poll(() => plot(page, 'Reward').locator('tbody tr').count(), soon).toBe(101);
    expect(await plot(page, 'Reward').locator('tbody').textContent()).toContain('3,3341,234');
    expect(page.faults).toEqual([]);
  });

  it('saves a chart as a picture, as CSV and as JSON Lines', async () => {
    const page = await fresh();
    await page.show('#/run/demo%2Fended', '.uplot');
    const saved = async (name: string): Promise<Buffer> => {
      await plot(page, 'Reward').getByRole('button', { name: 'More: Reward' }).click();
      const [download] = await Promise.all([page.page.waitForEvent('download'), page.page.getByRole('button', { name }).click()]);
      return readFileSync((await download.path())!);
    };
    expect((await saved('Save as PNG')).subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
    const csv = (await saved('Save as CSV')).toString().trim().split('\r\n');
    expect(csv.slice(0, 3)).toEqual(['series,step,value', 'total,1,0', 'total,2,0.1']);
    const rows = (await saved('Save as JSON Lines')).toString().trim().split('\n');
    expect(JSON.parse(rows.at(-1)!)).toEqual({ series: 'outcome', step: 10, value: 0.45 });
    expect(page.faults).toEqual([]);
  });

  it('tells in the overview what a run is and came to, its texts as text', async () => {
    const page = await fresh();
    await page.show('#/run/demo%2Fended/overview', '.overview');
    const text = await page.page.locator('.overview').textContent();
    expect(text).toMatch(/50\.0 %.*40\.0 – 60\.0 %/s);
    expect(text).toContain('tinker://m/weights/4');
    expect(text).toContain('collapse <img src=x onerror="window.tripped=1">⟨RLO⟩␇');
    expect(await page.page.evaluate('"tripped" in window')).toBe(false);
    await page.page.locator('.recipe summary').click();
    expect(await page.page.locator('.recipe').textContent()).toContain('groupsPerStep');
    expect(page.faults).toEqual([]);
  });

  it.each([
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
  ] as const)(
    'is accessible, and no wider than its window: %s',
    async (_, options) => {
      const page = await fresh(options);
      for (const [hash, selector] of [
        ['#/?group=folder&sel=demo/ended', '.run-name'],
        ['#/run/demo%2Fended?smooth=0.5', '.uplot'],
        ['#/compare?run=demo%2Fended&run=demo%2Flive', '.uplot'],
        ['#/run/demo%2Fended/overview', '.overview'],
        ['#/run/broken/overview', '.overview'],
        ['#/nowhere', '.state'],
      ] as const) {
        await page.show(hash, selector);
        expect(await page.overflows(), hash).toBe(false);
        expect(await page.axe(), hash).toEqual([]);
      }
      expect(page.faults).toEqual([]);
    },
    LENGTHY,
  );
});
