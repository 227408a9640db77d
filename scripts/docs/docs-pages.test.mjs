import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { checkDocumentation, readMenu, readPages } from './docs-pages.mjs';
import { buildDocs } from './docs-site.mjs';

const root = join(import.meta.dirname, '../..');
let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-docs-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const write = (files) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
};
beforeEach(() => {
  rmSync(join(folder, 'docs'), { recursive: true, force: true });
  write({
    'docs/README.md': '# Start\n\n## For people\n\n- [Install it](install.md): how\n- [Reasons](decisions/)\n',
    'docs/install.md':
      '# Install\n\nGo [on](#the-second-step) or [back](README.md#for-people), see `<id>` and <id>.\n\n## The "second" step\n\n```sh\nnpm start\n```\n',
    'docs/decisions/0001-first.md': '# 0001: The first\n\n[Install](../install.md#the-second-step)\n',
  });
});

const messages = () => checkDocumentation(folder).map(({ file, message }) => `${file} ${message}`);

test('accepts listed pages with valid links, and names menu entries after the list', () => {
  assert.deepEqual(messages(), []);
  const [group] = readMenu(readPages(folder));
  assert.equal(group.title, 'For people');
  assert.deepEqual(
    group.entries.map(({ page, label }) => [label, page.address]),
    [
      ['Install it', '/docs/install'],
      ['Reasons', '/docs/decisions'],
    ],
  );
});

test('reports dead links, missing headings, unlisted pages and code without a language', () => {
  write({
    'docs/lost.md': '# Lost\n\n[gone](gone.md) [part](install.md#third) ![picture](images/none.png)\n\n    npm start\n',
  });
  assert.deepEqual(messages(), [
    'docs/lost.md docs/README.md does not list it',
    'docs/lost.md gone.md leads nowhere',
    'docs/lost.md install.md#third: there is no such heading',
    'docs/lost.md images/none.png leads nowhere',
    'docs/lost.md code without a language: npm start',
  ]);
});

test('builds a site with working links, placeholders as text, and no external requests', async () => {
  const out = join(folder, 'site');
  await buildDocs(folder, out, '1.2.3', root);
  const page = readFileSync(join(out, 'install.html'), 'utf8');
  assert.match(page, /<a href="\/docs#for-people">back<\/a>/);
  assert.match(page, /<h2 id="the-second-step">/);
  assert.match(page, /&lt;id&gt;<\/code> and &lt;id&gt;/);
  assert.match(page, /Homeport 1\.2\.3/);
  const assets = readdirSync(join(out, 'assets'));
  for (const name of readdirSync(out).filter((each) => each.endsWith('.html'))) {
    const html = readFileSync(join(out, name), 'utf8');
    for (const [, address] of html.matchAll(/(?:src|href|data-index)="([^"]+)"/g)) {
      assert.ok(/^[/#]/.test(address), `${name}: ${address}`);
      if (address.startsWith('/docs/assets/'))
        assert.ok(assets.includes(address.slice('/docs/assets/'.length)), address);
    }
    // Its policy allows nothing inline.
    assert.doesNotMatch(html, /<script>|<style|style=|onclick/);
  }
  const index = JSON.parse(
    readFileSync(
      join(
        out,
        'assets',
        assets.find((name) => /^search-.*json$/.test(name)),
      ),
      'utf8',
    ),
  );
  assert.ok(index.sections.some(([, heading, id]) => heading === 'The "second" step' && id === 'the-second-step'));
});
