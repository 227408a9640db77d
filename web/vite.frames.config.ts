import { defineConfig } from 'vite';

/**
 * The pages that draw diagrams and show generated pages, in frames without an origin. They are a build of their own, so
 * that they share no file with the client: neither runs or loads a line of the other, and their assets can be given
 * headers of their own.
 */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  build: {
    outDir: '../dist/web',
    emptyOutDir: false,
    assetsDir: 'assets/frames',
    target: 'es2023',
    modulePreload: false,
    reportCompressedSize: false,
    // The libraries' own parts are this large; each loads when it is needed.
    chunkSizeWarningLimit: 4_000,
    rolldownOptions: { input: ['diagram.html', 'rendered.html'] },
  },
});
