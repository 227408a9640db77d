import { deflateSync } from 'node:zlib';
import { makePdfOf } from './document-makers.ts';
import { file, type HostileFile } from './hostile-file.ts';

const mebibyte = 1024 * 1024;

/** PDF files that are cyclic, decompression bombs, or broken. */
export function hostilePdfs(): HostileFile[] {
  const root = '<< /Type /Catalog /Pages 2 0 R >>';
  const page =
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> >>';
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
  const words = { dictionary: '', stream: Buffer.from('BT /F1 12 Tf (Words) Tj ET') };
  const one = (
    content: { dictionary: string; stream: Uint8Array },
    ...more: (string | { dictionary: string; stream: Uint8Array })[]
  ) => makePdfOf([root, '<< /Type /Pages /Count 1 /Kids [3 0 R] >>', page, content, font, ...more]);
  const key = `<${'ab'.repeat(32)}>`;
  const whole = one(words);
  const twice = deflateSync(deflateSync(Buffer.alloc(64 * mebibyte, ' '), { level: 9 }));
  const itself = {
    dictionary: '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>',
    stream: Buffer.from('/X Do /X Do'),
  };
  return [
    file('ten-thousand-pages.pdf', manyPages(root, words, font), 'ready', 'pages_cut'),
    file('cyclic-pages.pdf', makePdfOf([root, '<< /Type /Pages /Count 2 /Kids [2 0 R 2 0 R] >>']), 'damaged'),
    file('a-billion-pages.pdf', whole.toString('latin1').replace('/Count 1', '/Count 1000000000'), 'ready'),
    file(
      'cyclic-table.pdf',
      whole.toString('latin1').replace('trailer\n<<', `trailer\n<< /Prev ${whole.indexOf('xref')}`),
      'ready',
    ),
    file('length-of-itself.pdf', whole.toString('latin1').replace(/\/Length 26/, '/Length 4 0 R'), 'ready'),
    file(
      'draws-itself.pdf',
      one({ dictionary: '', stream: Buffer.from('/X Do BT /F1 9 Tf (Words) Tj ET') }, itself),
      'ready',
    ),
    file('deep-lists.pdf', one({ dictionary: `/A ${'['.repeat(200_000)}`, stream: Buffer.from('') }), 'damaged'),
    file('packed-twice.pdf', one({ dictionary: '/Filter [/FlateDecode /FlateDecode]', stream: twice }), 'no_text'),
    file(
      'a-million-steps.pdf',
      one({
        dictionary: '/Filter /FlateDecode',
        stream: deflateSync(Buffer.from('q 1 0 0 1 0 0 cm Q '.repeat(300_000))),
      }),
      'no_text',
    ),
    file(
      'locked.pdf',
      makePdfOf(
        [root, '<< /Type /Pages /Count 0 /Kids [] >>'],
        `/ID [${key} ${key}] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ${key} /U ${key} >> `,
      ),
      'password',
    ),
    file('cut-short.pdf', whole.subarray(0, 60), 'damaged'),
    file('nothing.pdf', '%PDF-1.7\nnothing', 'damaged'),
  ];
}

/** A hundred times a hundred pages, as programs write them. */
function manyPages(root: string, words: { dictionary: string; stream: Uint8Array }, font: string): Buffer {
  const hundred = Array.from({ length: 100 }, (_, index) => index);
  const kids = (first: number, step: number) => hundred.map((at) => `${first + at * step} 0 R`).join(' ');
  const objects: (string | { dictionary: string; stream: Uint8Array })[] = [
    root,
    `<< /Type /Pages /Count 10000 /Kids [${kids(5, 101)}] >>`,
    words,
    font,
  ];
  for (const group of hundred) {
    const parent = 5 + group * 101;
    objects.push(`<< /Type /Pages /Parent 2 0 R /Count 100 /Kids [${kids(parent + 1, 1)}] >>`);
    for (const _ of hundred) {
      objects.push(
        `<< /Type /Page /Parent ${parent} 0 R /MediaBox [0 0 99 99] /Contents 3 0 R /Resources << /Font << /F1 4 0 R >> >> >>`,
      );
    }
  }
  return makePdfOf(objects);
}
