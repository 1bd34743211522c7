/** Builds the dashboard's page into dist/dashboard/web, and refuses one that has grown too large to be light. */
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const LIMIT_KB = 150;

export default defineConfig({
  root: 'src/dashboard/web',
  base: './',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/dashboard/web',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  plugins: [compressedSize()],
});

/** Prints the page's size as it travels, all parts together. */
function compressedSize(): Plugin {
  return {
    name: 'compressed-size',
    writeBundle(_options, bundle) {
      let total = 0;
      for (const part of Object.values(bundle)) total += gzipSync(part.type === 'chunk' ? part.code : part.source).length;
      const kilobytes = (total / 1000).toFixed(1);
      console.log(`dashboard: the page is ${kilobytes} kB compressed in ${Object.keys(bundle).length} files (limit ${LIMIT_KB} kB)`);
      if (total > LIMIT_KB * 1000) this.error(`the page is ${kilobytes} kB compressed, more than ${LIMIT_KB} kB`);
    },
  };
}
