import { defineConfig } from 'vite';

/**
 * The page that draws diagrams, in a frame without an origin. It is a build of its own, so that it shares no file with the
 * client: neither runs or loads a line of the other, and its folder of assets can be given headers of its own.
 */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  build: {
    outDir: '../dist/web',
    emptyOutDir: false,
    assetsDir: 'assets/diagram',
    target: 'es2023',
    modulePreload: false,
    reportCompressedSize: false,
    // The library's own parts are this large; each loads when a diagram of its kind is drawn.
    chunkSizeWarningLimit: 4_000,
    rolldownOptions: { input: 'diagram.html' },
  },
});
