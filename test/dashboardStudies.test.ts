/** The dashboard's page of studies in a real browser, over a large one that runs, whose plans' texts are hostile and whose folder holds a broken file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RunWriter } from '../src/runs/writer.js';
import { jobOf } from '../src/study/jobs.js';
import type { StudyPlan } from '../src/study/plan.js';
import { StudyFolder } from '../src/study/studyFolder.js';
import { madePlan, madeResults, PLAN } from '../src/study/testSupport.js';
import { browserPath, DashboardInBrowser, LOOKS, NEEDS_BROWSER, type OpenPage } from './support/browser.js';
import { someInfo } from './support/someRun.js';

/** Milliseconds for tests that open many views on a busy machine. */
const LENGTHY = 240_000;
const soon = { timeout: 60_000 };

const HOSTILE = '<img src=x onerror="window.tripped=1">\u202e\u0007';
const BLOCKS = 8;

/** 11 plans with 26 claims and 30 arms: 240 arm-runs in 8 blocks. */
const plans = Array.from({ length: 11 }, (_, p): StudyPlan => {
  const names = p < 8 ? ['narrow', 'wide', 'wider'] : ['narrow', 'wide'];
  const arms = names.map((name, i) => [name, { rl: { algorithm: { clipHigh: 0.2 + (3 * p + i) / 100 } } }]);
  const claims = Array.from({ length: p < 4 ? 3 : 2 }, (_, c) => ({
    ...PLAN.claims[0]!,
    ...{ id: `claim-${c}`, says: `claim ${c} ${HOSTILE}`, fair: HOSTILE },
    parts: [{ ...PLAN.claims[0]!.parts[0]!, above: c === 0 ? 'wide' : names.at(-1)! }],
  }));
  return madePlan({ name: `plan-${p}`, title: `Plan ${p} ${HOSTILE}`, blocks: BLOCKS, arms: Object.fromEntries(arms), claims });
});

describe.skipIf(browserPath === undefined)(`studies in a browser${NEEDS_BROWSER}`, () => {
  let root: string;
  let study: StudyFolder;
  let running: RunWriter;
  let dashboard: DashboardInBrowser;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'studies-'));
    study = StudyFolder.open(join(root, 'findings'), plans);
    const shares = Array.from({ length: BLOCKS }, (_, block) => 0.5 + block / 100);
    for (const result of madeResults(plans[0]!, 'narrow', shares)) study.keep(result);
    const wide = madeResults(
      plans[0]!,
      'wide',
      shares.slice(0, 7).map((share, block) => share + 0.2 + block / 500),
    );
    for (const result of wide) study.keep(result.block === 2 ? { ...result, diverged: HOSTILE } : result);
    writeFileSync(join(study.path, 'results', 'broken.json'), '{');
    running = RunWriter.create(study.runFolder(jobOf(plans[0]!, plans[0]!.arms[1]!, 7).key), someInfo());
    running.sink({ kind: 'stageStarted', stage: 'rl', steps: 3 });
    dashboard = await DashboardInBrowser.open(root);
  }, LENGTHY);
  afterAll(async () => {
    await dashboard?.close();
    running?.close();
    study?.close();
    rmSync(root, { recursive: true, force: true });
  });
  afterEach(() => dashboard.closePages());

  const fresh = async (options: Parameters<DashboardInBrowser['page']>[0] = {}): Promise<OpenPage> => {
    const page = await dashboard.page(options);
    await page.show('#/studies', '.study-item');
    return page;
  };
  const open = (page: OpenPage): Promise<void> => page.show('#/studies/findings', '.study-grid');

  it(
    'shows texts of plans as text, names a broken file, and is walked by keyboard to what runs',
    async () => {
      const page = await fresh();
      const main = page.page.locator('main');
      expect(await main.textContent()).toContain('15 of 240 arm-runs');
      await page.page.getByRole('link', { name: 'findings' }).press('Enter');
      await page.page.waitForSelector('.study-grid');
      expect(await page.page.locator('.study-grid').count()).toBe(11);
      expect(await page.page.locator('.claim').count()).toBe(26);
      expect(await page.page.locator('.note-warn').textContent()).toContain('results/broken.json is not JSON');
      expect(await page.page.locator('.claim .badge').first().textContent()).toBe('✓ supported');
      expect(await page.page.locator('.claim').first().textContent()).toMatch(/margin 5 points.*7 of 8 blocks/);
      expect(await page.page.getByText('diverged', { exact: true }).getAttribute('title')).toContain('<img');
      expect(await page.page.locator('main img, main script').count()).toBe(0);
      expect(
        await page.page.evaluate(`['tripped' in window, /[\\u202e\\u0007]/.test(document.querySelector('main').textContent)]`),
      ).toEqual([false, false]);
      await page.page.keyboard.press('2');
      await expect.poll(() => page.page.evaluate('document.activeElement.id')).toBe('study-blocks');
      await page.page.getByRole('link', { name: 'wide, block 8' }).press('Enter');
      await expect.poll(() => page.hash()).toMatch(/^#\/run\/findings\/runs\/[0-9a-f]{16}$/);
      expect(page.faults).toEqual([]);
    },
    LENGTHY,
  );

  it(
    'follows a study while it runs: its steps, and the result when it is there',
    async () => {
      const page = await fresh();
      await open(page);
      const cell = page.page.locator('.study-grid').first().locator('tbody tr').last().locator('td').nth(1);
      expect(await cell.textContent()).toContain('RL 0/3');
      for (const step of [0, 1]) running.sink({ kind: 'stepEnded', stage: 'rl', step, metrics: { 'reward/total': 1 } });
      await expect.poll(() => cell.textContent(), soon).toContain('RL 2/3');
      running.sink({ kind: 'stageEnded', stage: 'rl', seconds: 3 });
      running.close();
      study.keep(
        madeResults(
          plans[0]!,
          'wide',
          Array.from({ length: BLOCKS }, () => 0.77),
        )[7]!,
      );
      await expect.poll(() => cell.textContent(), soon).toContain('77');
      expect(await page.page.locator('.stats').textContent()).toContain('16 of 240');
      expect(page.faults).toEqual([]);
    },
    LENGTHY,
  );

  it.each(LOOKS)(
    'is accessible, and no wider than its window: %s',
    async (_, options) => {
      const page = await fresh(options);
      expect(await page.axe()).toEqual([]);
      expect(await page.overflows()).toBe(false);
      await open(page);
      await page.page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
      expect(await page.axe()).toEqual([]);
      expect(await page.overflows()).toBe(false);
      expect(page.faults).toEqual([]);
    },
    LENGTHY,
  );
});
