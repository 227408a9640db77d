import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentBounds } from '../../src/documents/document.ts';
import { extractDocument } from '../../src/documents/extract.ts';
import { makePdfOf } from './document-makers.ts';

/** PDF files with fonts, forms, comments and layouts that need more than the text in its order. */

async function textOf(bytes: Buffer): Promise<string> {
  const { pages } = await extractDocument(bytes, documentBounds);
  return pages.map(({ text }) => text).join('\n');
}

type Extra = { font?: string[]; annotations?: string[] };

/** A page with this content; fonts are objects 5 and on, annotations follow them. */
function page(content: string, { font, annotations = [] }: Extra = {}): Buffer {
  const fonts = font ?? ['<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'];
  const first = 5 + fonts.length;
  const ids = annotations.map((_, index) => `${first + index} 0 R`).join(' ');
  return makePdfOf([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${ids}] /DA (/F1 12 Tf) /DR << /Font << /F1 5 0 R >> >> >> >>`,
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [${ids}] /Resources << /Font << /F1 5 0 R >> >> >>`,
    { dictionary: '', stream: Buffer.from(content, 'latin1') },
    ...fonts,
    ...annotations,
  ]);
}

const at = (x: number, y: number, text: string) => `BT /F1 12 Tf ${x} ${y} Td (${text}) Tj ET\n`;
const widget = (rest: string, rect: string) => `<< /Type /Annot /Subtype /Widget /F 4 /Rect [${rect}] ${rest} >>`;

const encodings: [map: string, order: string, hex: string, text: string][] = [
  ['UniGB-UCS2-H', 'Adobe-GB1', '4EBA5DE5667A80FD', '人工智能'],
  ['GBK-EUC-H', 'Adobe-GB1', 'D6D0B9FA', '中国'],
  ['UniJIS-UTF16-H', 'Adobe-Japan1', '67714EAC90FD', '東京都'],
  ['90ms-RKSJ-H', 'Adobe-Japan1', '938C8B9E', '東京'],
  ['ETen-B5-H', 'Adobe-CNS1', 'A578C657', '台灣'],
  ['KSCms-UHC-H', 'Adobe-Korea1', 'C7D1B1B9', '한국'],
];
for (const [map, order, hex, text] of encodings) {
  test(`reads a font that is not embedded and coded by ${map}`, async () => {
    const [registry, ordering] = order.split('-');
    const font = [
      `<< /Type /Font /Subtype /Type0 /BaseFont /Some-${map} /Encoding /${map} /DescendantFonts [6 0 R] >>`,
      `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Some /CIDSystemInfo << /Registry (${registry}) /Ordering (${ordering}) /Supplement 2 >> /FontDescriptor 7 0 R >>`,
      '<< /Type /FontDescriptor /FontName /Some /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>',
    ];
    assert.equal(await textOf(page(`BT /F1 12 Tf 72 720 Td <${hex}> Tj ET`, { font })), text);
  });
}

test('shows the values of a form beside their labels', async () => {
  const annotations = [
    widget('/FT /Tx /T (name) /V (Maria Gonzalez)', '120 735 320 753'),
    widget('/FT /Ch /T (land) /Ff 131072 /Opt [[(de) (Germany)] [(fr) (France)]] /V (fr)', '120 695 320 713'),
    widget('/FT /Tx /T (remarks) /Ff 4096 /V (two\\nlines)', '60 300 320 400'),
    widget('/FT /Tx /T (secret) /Ff 8192 /V (hunter2)', '60 200 320 220'),
  ];
  const text = await textOf(page(at(60, 740, 'Name:') + at(60, 700, 'Country:') + at(60, 100, 'End'), { annotations }));
  assert.equal(text, 'Name:\tMaria Gonzalez\nCountry:\tFrance\nremarks: two\nlines\nEnd');
});

test('says which boxes of a form are ticked', async () => {
  const box = (name: string, state: string, y: number) =>
    widget(
      `/FT /Btn /T (${name}) /V /${state} /AS /${state} /AP << /N << /Yes null /Off null >> >>`,
      `60 ${y} 72 ${y + 12}`,
    );
  const annotations = [box('a', 'Yes', 700), box('b', 'Off', 680)];
  const text = await textOf(page(at(90, 702, 'Agree') + at(90, 682, 'Newsletter'), { annotations }));
  assert.match(text, /\[x\]\s+Agree/);
  assert.match(text, /\[ \]\s+Newsletter/);
});

test('adds the comments of a page with their authors', async () => {
  const note = (type: string, rest: string) => `<< /Type /Annot /Subtype /${type} /Rect [60 600 80 620] ${rest} >>`;
  const annotations = [
    note('Highlight', '/T (Ada) /Contents (Check this sum) /QuadPoints [60 620 80 620 60 600 80 600]'),
    note('Text', '/Contents (No author)'),
    note('Link', '/Contents (not a comment)'),
  ];
  const text = await textOf(page(at(60, 740, 'Total 480'), { annotations }));
  assert.equal(text, 'Total 480\n[Comment by Ada: Check this sum]\n[Comment: No author]');
});

test('reads the words that a signature draws', async () => {
  const drawn = 'BT /F1 10 Tf 2 2 Td (Digitally signed by Ada) Tj ET';
  const font = ['<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'];
  const annotations = [widget('/FT /Sig /T (sign) /AP << /N 7 0 R >>', '60 100 300 120')];
  const bytes = makePdfOf([
    '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] >> >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [6 0 R] /Resources << /Font << /F1 5 0 R >> >> >>',
    { dictionary: '', stream: Buffer.from(at(60, 740, 'Contract')) },
    ...font,
    ...annotations,
    {
      dictionary: '/Type /XObject /Subtype /Form /BBox [0 0 240 20] /Resources << /Font << /F1 5 0 R >> >>',
      stream: Buffer.from(drawn),
    },
  ]);
  assert.match(await textOf(bytes), /^Contract\n(?:sign: )?Digitally signed by Ada$/);
});

test('reads columns one after the other although they are drawn row by row', async () => {
  const rows = Array.from({ length: 12 }, (_, row) => {
    const y = 700 - row * 14;
    return at(60, y, `Left words go on in row ${row}`) + at(330, y, `Right words go on in row ${row}`);
  });
  const text = await textOf(page(at(60, 740, 'A title over both of the columns of this page') + rows.join('')));
  const lines = text.split('\n');
  assert.equal(lines[0], 'A title over both of the columns of this page');
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(' ')[0]),
    [...Array(12).fill('Left'), ...Array(12).fill('Right')],
  );
});

test('keeps the cells of a table in their columns when others are empty', async () => {
  const rows = [
    ['Item', 'Qty', 'Price'],
    ['Bolt M8', '12', '3.40'],
    ['Nut M8', '', '1.10'],
    ['', '40', '0.25'],
  ];
  const drawn = rows.flatMap((cells, row) =>
    cells.map((cell, column) => (cell === '' ? '' : at(60 + column * 150, 740 - row * 18, cell))),
  );
  assert.equal(await textOf(page(drawn.join(''))), rows.map((cells) => cells.join('\t')).join('\n'));
});
