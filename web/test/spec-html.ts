import type { Token, Tokens } from 'marked';
import { decodeEntities } from '../src/markdown/parser/entities.ts';
import { plainText, runningText } from '../src/markdown/parser/running-text.ts';
import { asMarkdownToken } from '../src/markdown/parser/tokens.ts';

/** HTML as in the examples of the CommonMark and GFM specifications, made from the tokens that the page renders. */
export function specHtml(tokens: readonly Token[]): string {
  return tokens.map((token) => block(token, true)).join('');
}

function block(token: Token, isLoose: boolean): string {
  const known = asMarkdownToken(token);
  switch (known.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return '';
    case 'hr':
      return '<hr />\n';
    case 'heading':
      return `<h${known.depth}>${inline(known.tokens)}</h${known.depth}>\n`;
    case 'paragraph':
      return `<p>${inline(known.tokens)}</p>\n`;
    case 'text':
      return isLoose ? `<p>${inline(known.tokens ?? [known])}</p>\n` : `${inline(known.tokens ?? [known])}\n`;
    case 'code':
      return code(known);
    case 'blockquote':
      return `<blockquote>\n${specHtml(known.tokens)}</blockquote>\n`;
    case 'list':
      return list(known);
    case 'table':
      return table(known);
    case 'html':
      return `${known.raw.trimEnd()}\n`;
    default:
      return `<p>${inline([token])}</p>\n`;
  }
}

function code({ lang, text }: Tokens.Code): string {
  const language = /^\S*/.exec(decodeEntities(lang ?? ''))?.[0];
  const content = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return `<pre><code${language ? ` class="language-${escaped(language)}"` : ''}>${escaped(content)}</code></pre>\n`;
}

function list({ ordered, start, items, loose }: Tokens.List): string {
  const name = ordered ? 'ol' : 'ul';
  const first = ordered && start !== 1 ? ` start="${start}"` : '';
  return `<${name}${first}>\n${items.map((item) => listItem(item, loose)).join('')}</${name}>\n`;
}

function listItem({ tokens, task, checked }: Tokens.ListItem, isLoose: boolean): string {
  const box = task ? `<input ${checked ? 'checked="" ' : ''}disabled="" type="checkbox"> ` : '';
  return `<li>${box}${tokens
    .map((token) => block(token, isLoose))
    .join('')
    .trimEnd()}</li>\n`;
}

function table({ header, rows }: Tokens.Table): string {
  const cells = (name: string, row: Tokens.TableCell[]) =>
    `<tr>\n${row.map(({ align, tokens }) => `<${name}${align ? ` align="${align}"` : ''}>${inline(tokens)}</${name}>\n`).join('')}</tr>\n`;
  const body = rows.map((row) => cells('td', row)).join('');
  return `<table>\n<thead>\n${cells('th', header)}</thead>\n${body ? `<tbody>\n${body}</tbody>\n` : ''}</table>\n`;
}

function inline(tokens: readonly Token[]): string {
  return tokens.map(inlineToken).join('');
}

function inlineToken(token: Token): string {
  const known = asMarkdownToken(token);
  switch (known.type) {
    case 'text':
      return known.tokens ? inline(known.tokens) : escaped(runningText(known.text));
    case 'escape':
      return escaped(known.text);
    case 'strong':
    case 'em':
    case 'del':
      return `<${known.type}>${inline(known.tokens)}</${known.type}>`;
    case 'codespan':
      return `<code>${escaped(known.text)}</code>`;
    case 'br':
      return '<br />\n';
    case 'link':
      return `<a href="${address(known, known.autolink)}"${title(known.title)}>${inline(known.tokens)}</a>`;
    case 'image':
      return `<img src="${address(known)}" alt="${escaped(plainText(known.tokens))}"${title(known.title)} />`;
    case 'html':
      return known.raw;
    case 'checkbox':
      return '';
    default:
      return escaped(known.raw);
  }
}

function title(text: string | null | undefined): string {
  return text ? ` title="${escaped(decodeEntities(text))}"` : '';
}

/** Percent-encoded as in the examples of the specification. */
function address({ href }: { href: string }, isAutolink = false): string {
  const decoded = isAutolink ? href : decodeEntities(href);
  return escaped(encodeURI(decoded).replace(/%25(?=[0-9a-f]{2})/gi, '%'));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
