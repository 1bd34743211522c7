// Builds the project where its build is missing or older than its sources, then runs the golden vectors: see src/golden/main.ts.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const main = join(root, 'dist', 'golden', 'main.js');

/** The newest change of a source file below a folder. */
const newest = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(entry.name))
    .reduce((latest, entry) => Math.max(latest, statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs), 0);

if (!existsSync(main) || statSync(main).mtimeMs < newest(join(root, 'src'))) {
  const build = spawnSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (build.status !== 0) {
    console.error('The build failed; no vector was run.');
    process.exit(1);
  }
}
const run = spawnSync(process.execPath, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(run.status ?? 1);
