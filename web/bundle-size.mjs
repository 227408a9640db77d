// Fails when the files that the first page load needs grow past the budget: gzip level 9, each file by itself.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const budget = { js: 187_000, css: 13_000 };
const out = process.argv[2] ?? join(import.meta.dirname, '../dist/web');
const manifest = JSON.parse(readFileSync(join(out, '.vite/manifest.json'), 'utf8'));

const chunks = new Map(Object.values(manifest).map((chunk) => [chunk.file, chunk]));
const files = new Set();
const visit = (file) => {
  if (files.has(file)) return;
  files.add(file);
  const chunk = chunks.get(file);
  for (const css of chunk?.css ?? []) files.add(css);
  for (const key of chunk?.imports ?? []) visit(manifest[key].file);
};
const page = readFileSync(join(out, 'index.html'), 'utf8');
for (const [, file] of page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)) visit(file);

const total = { js: 0, css: 0 };
for (const file of files) {
  const kind = file.endsWith('.css') ? 'css' : 'js';
  const bytes = gzipSync(readFileSync(join(out, file)), { level: 9 }).length;
  total[kind] += bytes;
  console.log(`${String(bytes).padStart(8)}  ${file}`);
}
console.log(`initial JS ${total.js} of ${budget.js}, CSS ${total.css} of ${budget.css} bytes gzip`);
if (total.js === 0 || total.css === 0) throw new Error('index.html names no script or no style sheet');
if (total.js > budget.js || total.css > budget.css) {
  console.error('The first page load is over its budget.');
  process.exit(1);
}
