import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { catalogue } from './build/catalogue-plugin.ts';
import { pageChunk } from './build/page-chunk.ts';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), catalogue()],
  // The server puts a fresh nonce in place of this text in every index.html it sends.
  html: { cspNonce: '__CSP_NONCE__' },
  worker: { format: 'es' },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    manifest: true,
    target: 'es2023',
    // Below these Lightning CSS rewrites light-dark() to variables that Mantine's color scheme attribute does not set.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The initial chunks form one file: thirty small ones compress worse and cost a request each.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'initial', tags: ['$initial'], priority: 1 },
            { name: pageChunk('conversation', join(import.meta.dirname, 'src/chat/conversation-page.tsx')) },
          ],
        },
      },
    },
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(
      ['/api', '/docs'].map((path) => [path, process.env.HOMEPORT_API ?? 'http://127.0.0.1:3000']),
    ),
  },
});
