import { trimEndOf } from '@homeport/contracts/text/trim-characters';
import { Parser } from 'htmlparser2';
import { deepestNesting, tooDeep } from '../document.ts';
import type { PageWriter } from '../page-writer.ts';
import { decodeHtml } from './encodings/text-encoding.ts';

const skipped = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head', 'iframe', 'object']);
const blocks = new Set(
  'address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);

const listMark = '- ';

export function readHtml(bytes: Uint8Array, writer: PageWriter): void {
  writer.begin();
  writeHtml(decodeHtml(bytes), writer);
}

/**
 * The text that a reader of the page sees, block by block, without scripts and styles. Nothing is fetched. The title
 * comes first, unless the page begins with it or `withTitle` is false.
 */
export function writeHtml(source: string, writer: PageWriter, withTitle = true): void {
  let line = '';
  let title = '';
  let out = 0;
  let inTitle = false;
  let verbatim = 0;
  let depth = 0;
  // Stack of the enclosing cells: whether a block ended in the cell, so that the next text begins a line.
  const cells: { isEnded: boolean }[] = [];
  const flush = (): void => {
    // Notes end with a link back to their place.
    const text = trimEndOf(line.trimEnd(), '↩\ufe0e').trim();
    line = '';
    if (text === '') return;
    if (withTitle && title.trim() !== '' && text.replace(/^#+ /, '') !== title.trim()) writer.paragraph(title.trim());
    title = '';
    writer.paragraph(text);
  };
  const beginBlock = (name: string): void => {
    // The mark of a list item, and the cells before this one, wait for the text that is in blocks of their own.
    const waits = name !== 'li' && line === listMark;
    const cell = name === 'table' || name === 'tr' ? undefined : cells.at(-1);
    if (!waits && (cell === undefined || cell.isEnded)) flush();
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > deepestNesting) throw tooDeep();
      if (name === 'title') inTitle = true;
      if (skipped.has(name)) out += 1;
      if (out > 0) return;
      if (blocks.has(name)) beginBlock(name);
      if (name === 'br') line += '\n';
      else if (name === 'td' || name === 'th') cells.push({ isEnded: false });
      else if (name === 'li') line = listMark;
      else if (name === 'pre') verbatim += 1;
      else if (name === 'img' && attributes.alt) line += ` ${attributes.alt} `;
      else if (/^h[1-6]$/.test(name)) line += `${'#'.repeat(Number(name[1]))} `;
    },
    onclosetag(name) {
      depth -= 1;
      if (name === 'title') inTitle = false;
      if (skipped.has(name)) out -= 1;
      if (out > 0) return;
      if (name === 'pre') verbatim -= 1;
      if (name === 'td' || name === 'th') {
        cells.pop();
        line = `${line.trimEnd()}\t`;
      } else if (blocks.has(name)) {
        const cell = name === 'table' || name === 'tr' ? undefined : cells.at(-1);
        if (cell === undefined) flush();
        else cell.isEnded = true;
      }
    },
    ontext(text) {
      if (inTitle) title += text.replace(/[ \t\r\n\f]+/g, ' ');
      if (out > 0 || inTitle) return;
      const cell = cells.at(-1);
      if (cell?.isEnded === true && text.trim() !== '') {
        flush();
        cell.isEnded = false;
      }
      if (verbatim > 0) line += text;
      else
        line += text
          .replace(/[ \t\r\n\f]+/g, ' ')
          .replace(line === '' || /\s/.test(line.at(-1) ?? '') ? /^ / : /^(?!)/, '');
    },
  });
  parser.write(source);
  parser.end();
  flush();
  if (withTitle && title.trim() !== '') writer.paragraph(title.trim());
}
