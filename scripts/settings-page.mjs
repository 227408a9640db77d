// docs/settings.md from the table of settings. Run it after a change of server/src/config-table.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { version } from '../server/src/config.ts';
import { settingTable } from '../server/src/config-table.ts';

const root = dirname(import.meta.dirname);
const page = 'docs/settings.md';

const opening = `# Settings

Environment variables, read once at the start. A bad one stops the start; the message names every bad one, what it got and what it
takes. Empty counts as unset. Any setting may also come from a file: \`<NAME>_FILE\` holds its path, and the setting itself wins when
both are there. The value of a secret is never shown or logged.

This page is made by \`node scripts/settings-page.mjs\` from \`server/src/config-table.ts\`.
`;

function render(settings) {
  return [opening, ...Object.values(settings).map(section)].join('\n');
}

function section({ name, about, takes, defaultText, secret }) {
  return `## ${name}

${about}

- Takes: ${takes}${secret ? ' (a secret)' : ''}
- Default: ${defaultText}
`;
}

/** Problems, as text-rules report them: a page that is not what the table says, a release that is not package.json's. */
export function checkSettings() {
  const problems = [];
  const add = (file, rule, message) => problems.push({ file, line: 1, rule, message });
  if (readText(page) !== render(settingTable))
    add(page, 'settings-page', 'is stale: run node scripts/settings-page.mjs');
  for (const file of ['package.json', 'server/package.json']) {
    const found = JSON.parse(readText(file)).version;
    if (found !== version) add(file, 'release', `is ${found}, but server/src/config.ts says ${version}`);
  }
  return problems;
}

function readText(path) {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return '';
  }
}

if (process.argv[1] === import.meta.filename) writeFileSync(join(root, page), render(settingTable));
