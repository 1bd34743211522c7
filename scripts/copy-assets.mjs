/** Copies what TypeScript does not compile (the Python of the sandbox, workers in plain JavaScript) from src/ to the same places in dist/. */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'src');

for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.(py|mjs)$/.test(entry.name)) continue;
  const from = join(entry.parentPath ?? entry.path, entry.name);
  const to = join(root, 'dist', relative(source, from));
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
