import { Parser } from 'htmlparser2';
import { deepestNesting, tooDeep } from '../document.ts';
import type { PageWriter } from '../page-writer.ts';
import { decoderFor } from './text-encoding.ts';

const skipped = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head', 'iframe', 'object']);
const blocks = new Set(
  'address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);

export function readHtml(bytes: Uint8Array, writer: PageWriter): void {
  writer.begin();
  writeHtml(decoderFor(bytes).decode(bytes), writer);
}

/** The text that a reader of the page sees, block by block, without scripts and styles. Nothing is fetched. */
export function writeHtml(source: string, writer: PageWriter): void {
  let line = '';
  let out = 0;
  let inTitle = false;
  let verbatim = 0;
  let depth = 0;
  const flush = (): void => {
    const text = line.trim();
    line = '';
    if (text !== '') writer.paragraph(text);
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > deepestNesting) throw tooDeep();
      if (name === 'title') inTitle = true;
      if (skipped.has(name)) out += 1;
      if (out > 0) return;
      if (blocks.has(name)) flush();
      if (name === 'br') line += '\n';
      else if (name === 'li') line = '- ';
      else if (name === 'pre') verbatim += 1;
      else if (name === 'img' && attributes.alt) line += ` ${attributes.alt} `;
      else if (/^h[1-6]$/.test(name)) line = `${'#'.repeat(Number(name[1]))} `;
    },
    onclosetag(name) {
      depth -= 1;
      if (name === 'title') {
        inTitle = false;
        flush();
      }
      if (skipped.has(name)) out -= 1;
      if (out > 0) return;
      if (name === 'pre') verbatim -= 1;
      if (name === 'td' || name === 'th') line = `${line.trimEnd()}\t`;
      else if (blocks.has(name)) flush();
    },
    ontext(text) {
      if (out > 0 && !inTitle) return;
      line += verbatim > 0 ? text : text.replace(/[ \t\r\n\f]+/g, ' ');
    },
  });
  parser.write(source);
  parser.end();
  flush();
}
