/**
 * The picture of the dashboard in the README, of real runs: `npx tsx scripts/screenshot.ts FOLDER HASH FILE` with the folder of runs, a view such
 * as `#/run/nano-seed-1`, and where the PNG goes. Needs a browser.
 */
import { browserPath, DashboardInBrowser } from '../test/support/browser.js';

const [folder, hash, file] = process.argv.slice(2);
if (folder === undefined || hash === undefined || file === undefined || browserPath === undefined)
  throw new Error('usage: npx tsx scripts/screenshot.ts FOLDER HASH FILE, with a browser on this machine');
const dashboard = await DashboardInBrowser.open(folder);
const open = await dashboard.page({ viewport: { width: 1200, height: 800 } });
await open.show(hash, 'h1');
await open.page.waitForTimeout(3000);
await open.page.screenshot({ path: file });
await open.close();
await dashboard.close();
