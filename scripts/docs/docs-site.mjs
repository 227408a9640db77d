// Builds the pages that every installation serves at /docs from the Markdown files of docs/, without external files.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { build as bundle } from 'esbuild';
import { Marked } from 'marked';
import { plainText, readMenu, readPages, resolveLink } from './docs-pages.mjs';

/**
 * Writes the site into `out`, the folder behind /docs; resolves with the files that went into it. Tests use other
 * pages.
 */
export async function buildDocs(root, out, version, sources = root) {
  await rm(out, { recursive: true, force: true });
  const pages = readPages(root);
  const menu = readMenu(pages);
  const index = JSON.stringify(searchIndex(pages.filter(({ file }) => !/^docs\/(decisions|spec)\//.test(file))));
  const { assets, inputs } = await buildAssets(sources, out);
  await mkdir(join(out, 'assets'), { recursive: true });
  const indexName = `search-${hashOf(index)}.json`;
  await writeFile(join(out, 'assets', indexName), index);
  const site = {
    root,
    pages,
    menu,
    assets: { ...assets, index: `/docs/assets/${indexName}` },
    version,
    pictures: new Map(),
  };
  const order = [
    pages.find(({ address }) => address === '/docs'),
    ...menu.flatMap(({ entries }) => entries.map((entry) => entry.page)),
  ];
  for (const page of pages) {
    await write(out, page.address, layout(site, page, article(site, page), neighbours(order, page)));
  }
  const missing = { address: '/docs/404', title: 'There is no such page', headings: [], tokens: [] };
  const words = '<h1>There is no such page</h1><p>Search above, or begin at <a href="/docs">the start page</a>.</p>';
  await write(out, missing.address, layout(site, missing, words, {}));
  for (const [source, name] of site.pictures) await copyFile(join(root, source), join(out, 'assets', name));
  return inputs;
}

async function write(out, address, html) {
  const file = join(out, `${address === '/docs' ? '/index' : address.slice('/docs'.length)}.html`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, html);
}

/** One script and one style sheet, named by their content hash. */
async function buildAssets(root, out) {
  const source = (name) => join(root, 'web/src/docs', name);
  const { metafile } = await bundle({
    metafile: true,
    entryPoints: { site: source('site.ts'), theme: source('theme.ts'), style: source('site.css') },
    entryNames: '[name]-[hash]',
    outdir: join(out, 'assets'),
    bundle: true,
    minify: true,
    target: ['es2023', 'chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  const named = Object.keys(metafile.outputs).map((path) => basename(path));
  const address = (name) => `/docs/assets/${named.find((file) => file.startsWith(`${name}-`))}`;
  const assets = { script: address('site'), theme: address('theme'), style: address('style') };
  return { assets, inputs: Object.keys(metafile.inputs).map((file) => join(root, file)) };
}

const hashOf = (content) => createHash('sha256').update(content).digest('hex').slice(0, 10);

function article(site, page) {
  const { pages } = site;
  const ids = new Map(page.headings.map(({ token, id }) => [token, id]));
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading(token) {
        const inner = this.parser.parseInline(token.tokens);
        const id = escaped(ids.get(token) ?? '');
        if (token.depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${token.depth} id="${id}">${inner}${anchor}</h${token.depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = resolveLink(page, href, pages);
        if (target.page)
          return `<a href="${target.page.address}${target.anchor ? `#${escaped(target.anchor)}` : ''}">${inner}</a>`;
        // A file of the sources, which an installation does not have.
        if (target.file) return `<span class="source">${inner}</span>`;
        return `<a href="${escaped(target.outside)}" rel="noreferrer">${inner}</a>`;
      },
      image({ href, text }) {
        const { file } = resolveLink(page, href, pages);
        const name = `${hashOf(readFileSync(join(site.root, file)))}-${basename(file)}`;
        site.pictures.set(file, name);
        return `<img src="/docs/assets/${name}" alt="${escaped(text)}" loading="lazy">`;
      },
      code({ text, lang }) {
        return `<pre tabindex="0" data-language="${escaped(lang ?? '')}"><code>${escaped(text)}\n</code></pre>\n`;
      },
      table(token) {
        const cells = (row, word) =>
          row.map(({ tokens }) => `<${word}>${this.parser.parseInline(tokens)}</${word}>`).join('');
        const head = `<tr>${cells(token.header, 'th')}</tr>`;
        const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        return `<div class="table" tabindex="0"><table><thead>${head}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      // Markup in the text is a placeholder, such as <id>.
      html: ({ text }) => escaped(text),
    },
  });
  return marked.parser(page.tokens);
}

/** Search index: `{pages: [[address, title]], sections: [[page, heading, id, text]]}`. */
function searchIndex(pages) {
  const sections = pages.flatMap((page, index) => {
    const found = [];
    for (const token of page.tokens) {
      const heading = page.headings.find((known) => known.token === token);
      if (heading !== undefined) found.push([index, heading.depth === 1 ? '' : heading.text, heading.id, '']);
      else if (found.length > 0) found.at(-1)[3] += ` ${textOf(token)}`;
    }
    return found;
  });
  const tidy = sections.map(([page, heading, id, text]) => [page, heading, id, text.replace(/\s+/g, ' ').trim()]);
  return { pages: pages.map(({ address, title }) => [address, title]), sections: tidy };
}

function textOf(token) {
  if (token.type === 'code') return token.text;
  if (token.type === 'table') {
    return [token.header, ...token.rows].map((row) => row.map(({ tokens }) => plainText(tokens)).join(' ')).join(' ');
  }
  if (token.type === 'list') return token.items.map((item) => item.tokens.map(textOf).join(' ')).join(' ');
  return plainText(token.tokens);
}

function neighbours(order, page) {
  const at = order.indexOf(page);
  return at < 0 ? {} : { before: order[at - 1], after: order[at + 1] };
}

function layout({ menu, assets, version }, page, content, { before, after }) {
  const isStart = page.address === '/docs';
  const title = isStart ? 'Homeport documentation' : `${page.title} · Homeport documentation`;
  const groups = menu.map((group) => {
    const items = group.entries.map(({ page: other, label }) => {
      const isHere =
        other === page || (other.address === '/docs/decisions' && page.address.startsWith('/docs/decisions/'));
      return `<li><a href="${other.address}"${isHere ? ' aria-current="page"' : ''}>${escaped(label)}</a></li>`;
    });
    return `<section><h2>${escaped(group.title)}</h2><ul>${items.join('')}</ul></section>`;
  });
  const places = page.headings.filter(({ depth }) => depth === 2);
  const contents = places.map(({ id, text }) => `<li><a href="#${escaped(id)}">${escaped(text)}</a></li>`).join('');
  const step = (word, other, label) =>
    other === undefined
      ? ''
      : `<a class="${word}" href="${other.address}"><span>${label}</span>${escaped(other.title)}</a>`;
  return `<!doctype html>
<html lang="en" data-mantine-color-scheme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.theme}"></script>
<script type="module" src="${assets.script}" data-index="${assets.index}"></script>
</head>
<body>
<a class="skip-link" href="#content">Skip to the content</a>
<header>
<button type="button" class="menu-button" aria-expanded="false" aria-controls="menu" hidden>Menu</button>
<a class="brand" href="/docs" aria-label="Homeport documentation"><img src="/favicon.svg" alt="" width="24" height="24"><span>Homeport <span class="word">documentation</span></span></a>
<div class="search" role="search" hidden>
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" role="combobox" aria-expanded="false" aria-controls="hits" aria-autocomplete="list" autocomplete="off" spellcheck="false" maxlength="200">
<kbd aria-hidden="true">/</kbd>
<div class="found" hidden><p role="status"></p><ul id="hits" role="listbox" aria-label="Results"></ul></div>
</div>
<a class="app" href="/">Open the app</a>
</header>
<div class="frame">
<nav id="menu" aria-label="Documentation">${groups.join('')}</nav>
<main id="content" tabindex="-1"><article>
${content}
</article>
<div class="steps">${step('before', before, 'Previous')}${step('after', after, 'Next')}</div>
<footer>Homeport ${escaped(version)}</footer>
</main>
<aside aria-label="On this page">${places.length < 2 ? '' : `<h2>On this page</h2><ul>${contents}</ul>`}</aside>
</div>
</body>
</html>
`;
}

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => escapes[letter]);
