import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentBounds } from '../../src/documents/document.ts';
import { extractDocument } from '../../src/documents/extract.ts';
import { makeDocx, makeEpub, makeOdf, makePdf, makePptx, makeXlsx, paragraph } from './document-makers.ts';

/** The text of small files of every kind, page by page. */

const read = (bytes: string | Uint8Array) => extractDocument(Buffer.from(bytes), documentBounds);

async function pages(bytes: string | Uint8Array): Promise<[string, string][]> {
  const { pages } = await read(bytes);
  return pages.map(({ label, text }) => [label, text]);
}

test('a PDF returns the lines of each page under its number', async () => {
  const file = makePdf(['Größe (1)\nSecond line', 'Page two', '']);
  assert.deepEqual(await pages(file), [
    ['page 1', 'Größe (1)\nSecond line'],
    ['page 2', 'Page two'],
    ['page 3', ''],
  ]);
  assert.deepEqual((await read(file)).warnings, [
    {
      code: 'pages_without_text',
      message: 'There is no text on page 3. Scanned pages and pictures are not read.',
    },
  ]);
});

test('a Word file returns headings, paragraphs, tables and notes, with deleted text after its paragraph', async () => {
  const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`;
  const body = [
    '<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Plan</w:t></w:r></w:p>',
    '<w:p><w:r><w:t>One &amp; </w:t></w:r><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:r><w:t>two</w:t></w:r></w:p>',
    `<w:tbl><w:tr>${cell('A')}${cell('B')}</w:tr><w:tr>${cell('1')}${cell('2')}</w:tr></w:tbl>`,
  ];
  const notes = `<w:footnotes><w:footnote>${paragraph('A note')}</w:footnote></w:footnotes>`;
  const file = makeDocx(body.join(''), { 'word/footnotes.xml': notes });
  assert.deepEqual(await pages(file), [
    ['part 1', '## Plan\nOne & two [tracked change: deleted “old”]\nA\tB\n1\t2\nA note'],
  ]);
});

test("a Word file has Word's own pages if it stored them, and parts otherwise", async () => {
  const turn = '<w:p><w:r><w:lastRenderedPageBreak/><w:t>Next</w:t></w:r></w:p>';
  assert.deepEqual(await pages(makeDocx(paragraph('First') + turn + turn)), [
    ['page 1', 'First'],
    ['page 2', 'Next'],
    ['page 3', 'Next'],
  ]);
  const long = Array.from({ length: 130 }, (_, index) => paragraph(`${index} ${'word '.repeat(20)}`)).join('');
  const parts = await pages(makeDocx(long));
  assert.deepEqual(
    parts.map(([label]) => label),
    ['part 1', 'part 2', 'part 3'],
  );
  assert.match(parts[2]?.[1] ?? '', /^\d+ word/, 'a part begins with a paragraph');
});

test('an Excel file returns values as displayed, each sheet under its name', async () => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/></cellXfs>';
  const rows = [
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>',
    '<row r="4"><c r="A4" s="1"><v>45000</v></c><c r="B4"><v>0.30000000000000004</v></c><c r="C4" s="2"><v>0.07</v></c></row>',
    '<row r="5"><c r="A5" t="inlineStr"><is><t>in line</t></is></c><c r="B5" t="b"><v>1</v></c><c r="C5" t="str"><f>A1</f><v>x</v></c></row>',
  ];
  const shared = '<si><t>When</t></si><si><r><t>Sh</t></r><r><t>are</t></r><rPh><t>reading</t></rPh></si>';
  assert.deepEqual(await pages(makeXlsx({ Budget: rows.join(''), Empty: '' }, { shared, styles })), [
    ['sheet Budget', 'When\t\tShare\n2023-03-15\t0.3\t7 %\nin line\tTRUE\tx'],
    ['sheet Empty', ''],
  ]);
  const many = Array.from({ length: 900 }, (_, row) => `<row r="${row + 1}"><c><v>${row + 100_000}</v></c></row>`);
  const labels = (await pages(makeXlsx({ Long: many.join('') }))).map(([label]) => label);
  assert.deepEqual(labels, ['sheet Long, rows 1–858', 'sheet Long, rows 859–900']);
});

test('a presentation returns its slides in the order of display, with their notes', async () => {
  assert.deepEqual(await pages(makePptx([{ text: 'Hello', notes: 'Smile' }, { text: 'Numbers' }])), [
    ['slide 1', 'Hello\n\nNotes:\nSmile'],
    ['slide 2', 'Numbers'],
  ]);
});

test('reads OpenDocument texts, sheets and slides', async () => {
  const text =
    '<text:h text:outline-level="1">Title</text:h><text:p>a<text:s text:c="2"/>b<text:tab/>c</text:p><text:p><text:soft-page-break/>d</text:p>';
  assert.deepEqual(await pages(makeOdf('text', text)), [
    ['page 1', '# Title\na  b\tc'],
    ['page 2', 'd'],
  ]);
  const cell = (value: string, repeated = 1) =>
    `<table:table-cell table:number-columns-repeated="${repeated}">${value === '' ? '' : `<text:p>${value}</text:p>`}</table:table-cell>`;
  const sheet = `<table:table table:name="S"><table:table-row>${cell('x', 2)}${cell('', 3)}${cell('y')}</table:table-row><table:table-row table:number-rows-repeated="1048000">${cell('', 16_000)}</table:table-row></table:table>`;
  assert.deepEqual(await pages(makeOdf('spreadsheet', sheet)), [['sheet S', 'x\tx\t\t\t\ty']]);
  const slide = (name: string) => `<draw:page draw:name="${name}"><text:p>On ${name}</text:p></draw:page>`;
  assert.deepEqual(await pages(makeOdf('presentation', slide('one') + slide('two'))), [
    ['slide 1', 'On one'],
    ['slide 2', 'On two'],
  ]);
});

test('a book returns its chapters in reading order', async () => {
  assert.deepEqual(await pages(makeEpub(['<h1>One</h1><p>It   began.</p>', '<p>It&#160;ended.</p>'])), [
    ['part 1', '# One\nIt began.'],
    ['part 2', 'It\u00a0ended.'],
  ]);
});

test('RTF returns the items and cells that a program puts into the group of a list mark', async () => {
  const item = (text: string) => String.raw`{\listtext\pard{\tab ${text}}{\par}}`;
  const cell = (text: string) => String.raw`\pard\intbl {${text}}\cell`;
  const table = String.raw`{\trowd\cellx99}${cell('a')}${cell('b')}\row\trowd ${cell('c')}${cell('d')}\row`;
  const file = String.raw`{\rtf1 ${item('one')}${item('two')}{\listtext\tab three\par ${table}}\pard End\par}`;
  assert.equal((await pages(Buffer.from(file)))[0]?.[1], '- one\n- two\n- three\na\tb\nc\td\nEnd');
});

test('RTF returns its words in every notation', async () => {
  const rtf =
    "{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0 Arial;}}{\\*\\generator x;}\\f0 Gr\\'f6\\u223?e \\u8364\\'80 5\\par Next\\~line\\tab {\\b bold} \\{x\\}\\par}";
  assert.deepEqual(await pages(rtf), [['part 1', 'Größe € 5\nNext\u00a0line\tbold {x}']]);
});

test('an HTML page returns its visible text', async () => {
  const html =
    '<!doctype html><meta charset="windows-1252"><title>Ti</title><style>p{}</style><script>alert(1)</script><h2>Head</h2><ul><li>a<li>b</ul><p>x &lt; y<br>z</p><table><tr><td>1<td>2</table><pre>  k\n l</pre>';
  const [[, text] = ['', '']] = await pages(Buffer.from(`${html}<p>caf\u00e9</p>`, 'latin1'));
  assert.equal(text, 'Ti\n## Head\n- a\n- b\nx < y\nz\n1\t2\nk\n l\ncafé');
});

test('an email returns its sender, recipients, text and attachments', async () => {
  const mail = [
    'From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>',
    'To: a@example.org',
    'Subject: Hello',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Gr=FC=DFe',
    '--b',
    'Content-Type: application/pdf; name="plan.pdf"',
    'Content-Disposition: attachment; filename="plan.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    'AAAA',
    '--b--',
  ].join('\r\n');
  const [[, text] = ['', '']] = await pages(mail);
  assert.equal(text, 'From: Jürgen <j@example.org>\nTo: a@example.org\nSubject: Hello\n\nGrüße\n[Attached: plan.pdf]');
});

test('reads text in every common encoding', async () => {
  const text = 'Größe: 5 €\r\nзаметка';
  const expected: [string, string][] = [['part 1', text.replace('\r', '')]];
  const wide = Buffer.from(text, 'utf16le');
  assert.deepEqual(await pages(text), expected);
  assert.deepEqual(await pages(Buffer.concat([Buffer.from('efbbbf', 'hex'), Buffer.from(text)])), expected);
  assert.deepEqual(await pages(Buffer.concat([Buffer.from('fffe', 'hex'), wide])), expected);
  assert.deepEqual(await pages(Buffer.concat([Buffer.from('feff', 'hex'), Buffer.from(wide).swap16()])), expected);
  assert.deepEqual(await pages(Buffer.from('plain words', 'utf16le')), [['part 1', 'plain words']]);
  assert.deepEqual(await pages(Buffer.from('Gr\u00f6\u00dfe \u0080', 'latin1')), [['part 1', 'Größe €']]);
  assert.equal((await read('a,b\n1,2')).kind, 'text');
});

test('reads an XML file in the encoding that it declares', async () => {
  const xml = Buffer.concat([
    Buffer.from('<?xml version="1.0" encoding="Shift_JIS"?><a>'),
    Buffer.from([0x93, 0x8c, 0x8b, 0x9e]),
    Buffer.from('</a>'),
  ]);
  const [[, text] = ['', '']] = await pages(xml);
  assert.match(text, /<a>東京<\/a>/);
});
