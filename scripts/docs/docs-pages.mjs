// Pages of the documentation, their order and contents.
import { basename, posix } from 'node:path';
import { Marked } from 'marked';
import { listFiles, readSource } from '../source-text.mjs';

/** The list of all pages, whose headings are the groups of the menu. */
const startFile = 'docs/README.md';
const marked = new Marked({ gfm: true });

/**
 * Every page: `{file, address, title, tokens, headings}`; a heading is `{depth, text, id}`. Ids are GitHub's, so a link
 * works in both places. The list of decisions exists only here.
 */
export function readPages(root) {
  const files = listFiles(root, 'docs')
    .filter((file) => file.endsWith('.md'))
    .sort();
  const pages = files.map((file) => pageOf(file, readSource(root, file)));
  const decisions = pages.filter(({ file }) => file.startsWith('docs/decisions/'));
  return [...pages, pageOf('docs/decisions/README.md', listOf(decisions))];
}

function listOf(decisions) {
  const lines = decisions.map(({ file, title }) => `- [${title}](${basename(file)})`);
  return `# Decisions\n\nDesign decisions that the specification leaves open or that would be expensive to change, with their reasons.\n\n${lines.join('\n')}\n`;
}

function pageOf(file, text) {
  const tokens = marked.lexer(text);
  const seen = new Map();
  const headings = tokens
    .filter(({ type }) => type === 'heading')
    .map((token) => {
      const plain = plainText(token.tokens);
      return { depth: token.depth, text: plain, id: uniqueId(slug(plain), seen), token };
    });
  return { file, address: addressOf(file), title: headings[0]?.text ?? file, tokens, headings };
}

/** `docs/install.md` is /docs/install, `docs/decisions/README.md` /docs/decisions. */
function addressOf(file) {
  return `/${file.replace(/(\/README)?\.md$/, '')}`;
}

/** Target of a link on a page: a page, optionally with an anchor, an image, or an external address. */
export function resolveLink(page, href, pages) {
  if (/^[a-z]+:/i.test(href) || href.startsWith('/')) return { outside: href };
  const [path, anchor = ''] = href.split('#');
  const target = path === '' ? page.file : posix.join(posix.dirname(page.file), path);
  const folder = target.replace(/\/$/, '');
  const found = pages.find(({ file }) => file === target || file === `${folder}/README.md`);
  return found === undefined ? { file: target } : { page: found, anchor };
}

/** The groups of the menu, from the start page: `{title, entries}`, an entry is a page and its name there. */
export function readMenu(pages) {
  const start = pages.find(({ file }) => file === startFile);
  const groups = [];
  for (const token of start.tokens) {
    if (token.type === 'heading' && token.depth === 2) groups.push({ title: plainText(token.tokens), entries: [] });
    if (token.type !== 'list') continue;
    for (const link of linksOf(token.items)) {
      const { page } = resolveLink(start, link.href, pages);
      if (page !== undefined) groups.at(-1)?.entries.push({ page, label: plainText(link.tokens) });
    }
  }
  return groups;
}

/** Every link and image below these tokens. */
function linksOf(tokens) {
  const found = [];
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') found.push(token);
  });
  return found;
}

export function plainText(tokens = []) {
  const parts = [];
  marked.walkTokens(tokens, ({ type, text, tokens: inner }) => {
    if (inner === undefined && (type === 'text' || type === 'codespan' || type === 'escape')) parts.push(text);
  });
  return decode(parts.join(''));
}

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const decode = (text) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name]);

/** Heading id as on GitHub: lower case, no punctuation, hyphens for spaces. */
function slug(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}

function uniqueId(id, seen) {
  const count = seen.get(id) ?? 0;
  seen.set(id, count + 1);
  return count === 0 ? id : `${id}-${count}`;
}

/**
 * Dead links, missing anchors and pictures, pages that the start page does not list, and code without a language, in
 * the form of text-rules.
 */
export function checkDocumentation(root) {
  const pages = readPages(root);
  const files = new Set(listFiles(root));
  const problems = [];
  const add = (file, message) => problems.push({ file, line: 1, rule: 'documentation', message });
  const listed = new Set(readMenu(pages).flatMap(({ entries }) => entries.map(({ page }) => page)));
  for (const page of pages) {
    const isListed = listed.has(page) || page.file === startFile || /^docs\/(decisions|spec)\//.test(page.file);
    if (!isListed) add(page.file, `${startFile} does not list it`);
    for (const { href } of linksOf(page.tokens)) {
      const target = resolveLink(page, href, pages);
      if (target.file !== undefined && !files.has(target.file)) add(page.file, `${href} leads nowhere`);
      if (target.anchor && !target.page.headings.some(({ id }) => id === target.anchor)) {
        add(page.file, `${href}: there is no such heading`);
      }
    }
    for (const { lang, codeBlockStyle, text } of codeOf(page.tokens)) {
      if (codeBlockStyle === 'indented' || !lang) add(page.file, `code without a language: ${text.split('\n', 1)[0]}`);
    }
  }
  return problems;
}

/** Every block of code, in lists too. */
function codeOf(tokens) {
  const found = [];
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'code') found.push(token);
  });
  return found;
}
