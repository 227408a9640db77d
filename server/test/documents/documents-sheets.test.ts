import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentBounds } from '../../src/documents/document.ts';
import { extractDocument } from '../../src/documents/extract.ts';
import { makeOdf, makeXlsx, makeZip } from './document-makers.ts';

/** Numbers, formulas, hidden parts and comments of spreadsheets, and formats that are not read. */

async function textOf(bytes: Buffer): Promise<string> {
  const { pages } = await extractDocument(bytes, documentBounds);
  return pages.map(({ text }) => text).join('\n');
}

const formats: [code: string, value: string, shown: string][] = [
  ['[h]:mm', '1.5', '36:00'],
  ['[mm]:ss', '0.0625', '90:00'],
  ['h:mm', '0.378472222', '09:05'],
  ['00000', '45', '00045'],
  ['000-00-0000', '12345678', '012-34-5678'],
  ['0.0%', '0.256', '25.6 %'],
  ['#,##0.00 €', '1234.5', '1,234.50 €'],
  ['[$€-407] #,##0.00', '1234.5', '€ 1,234.50'],
  ['_("$"* #,##0.00_)', '12', '$12.00'],
  ['#,##0;(#,##0)', '-5', '-5'],
  ['0.00E+00', '12345', '1.23E+04'],
  ['0 "kg"', '12', '12 kg'],
  ['dd.mm.yyyy', '45356', '2024-03-05'],
  ['yyyy-mm-dd hh:mm', '45356.604166667', '2024-03-05 14:30'],
  ['General', '0.30000000000000004', '0.3'],
  ['@', '7', '7'],
  ['[broken', '7', '7'],
];
for (const [code, value, shown] of formats) {
  test(`shows ${value} in the format ${code} as ${shown}`, async () => {
    const escaped = code.replaceAll('"', '&quot;');
    const styles = `<numFmts><numFmt numFmtId="164" formatCode="${escaped}"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>`;
    const rows = `<row r="1"><c r="A1" s="1"><v>${value}</v></c></row>`;
    assert.equal(await textOf(makeXlsx({ S: rows }, { styles })), shown);
  });
}

test('shows a formula as its text when its result was not stored', async () => {
  const rows = [
    '<row r="1"><c r="A1"><f>B2*2</f><v></v></c><c r="B1"><f>SUM(A1:A9)</f></c><c r="C1" t="str"><f>IF(A1,"","x")</f><v></v></c></row>',
    '<row r="2"><c r="A2"><f t="shared" ref="A2:A3" si="0">B2+1</f></c></row><row r="3"><c r="A3"><f t="shared" si="0"/></c></row>',
    '<row r="4"><c r="A4"><f>1+1</f><v>2</v></c></row>',
  ];
  assert.equal(await textOf(makeXlsx({ S: rows.join('') })), '=B2*2\t=SUM(A1:A9)\n=B2+1\n=B2+1 (as in A2)\n2');
});

const relation = (type: string, target: string) =>
  `<Relationships><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;

test('marks hidden rows and sheets, and shows comments in their cells', async () => {
  const sheet = '<row r="1"><c r="A1"><v>1</v></c></row><row r="2" hidden="1"><c r="A2"><v>2</v></c></row>';
  const file = makeZip({
    '_rels/.rels': relation('officeDocument', '/xl/book.xml'),
    '[Content_Types].xml':
      '<Types><Override PartName="/xl/book.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
    'xl/book.xml':
      '<workbook><sheets><sheet name="Open" r:id="r"/><sheet name="Secret" state="veryHidden" r:id="r"/></sheets></workbook>',
    'xl/_rels/book.xml.rels': relation('worksheet', 'worksheets/s.xml'),
    'xl/worksheets/s.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    'xl/worksheets/_rels/s.xml.rels': relation('comments', '/xl/c.xml'),
    'xl/c.xml':
      '<comments><authors><author>Bob</author></authors><commentList><comment ref="A1" authorId="0"><text><r><t>Bob:</t></r><r><t> checked</t></r></text></comment><comment ref="Z9" authorId="0"><text><t>empty cell</t></text></comment></commentList></comments>',
  });
  const rows = '1 [comment by Bob: checked]\n2\t[hidden row]\nZ9: [comment by Bob: empty cell]';
  assert.equal(await textOf(file), `${rows}\n[hidden sheet]\n${rows}`);
});

test('reads values, formulas, comments and hidden rows of OpenDocument sheets', async () => {
  const cells = [
    '<table:table-cell office:value-type="float" office:value="4.5"/>',
    '<table:table-cell office:value-type="percentage" office:value="0.07"/>',
    '<table:table-cell office:value-type="date" office:date-value="2024-03-05"/>',
    '<table:table-cell table:formula="of:=[.A1]*2"/>',
    '<table:table-cell><office:annotation><text:p>look</text:p></office:annotation><text:p>x</text:p></table:table-cell>',
  ];
  const row = `<table:table-row table:visibility="collapse">${cells.join('')}</table:table-row>`;
  const styles =
    '<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>';
  const file = makeOdf(
    'spreadsheet',
    `${styles}<table:table table:name="S" table:style-name="ta2">${row}</table:table>`,
  );
  assert.equal(await textOf(file), '[hidden sheet]\n4.5\t7 %\t2024-03-05\t=[.A1]*2\tx [comment: look]\t[hidden row]');
});

const old: [stream: string, extension: string, advice: RegExp][] = [
  ['WordDocument', '.doc', /\.docx/],
  ['Workbook', '.xls', /\.xlsx/],
  ['Book', '.xls', /\.xlsx/],
  ['PowerPoint Document', '.ppt', /\.pptx/],
  ['__properties_version1.0', '.msg', /\.eml/],
];
for (const [stream, extension, advice] of old) {
  test(`names the format of a ${extension} file with a stream ${stream}`, async () => {
    const bytes = Buffer.alloc(2048);
    Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(bytes);
    bytes.write(`${stream}\0`, 1024, 'utf16le');
    await assert.rejects(textOf(bytes), (error: Error) => {
      assert.match(error.message, advice);
      return error.message.includes(`(${extension})`);
    });
  });
}

test('names a binary workbook', async () => {
  const file = makeZip({ '[Content_Types].xml': '<Types/>', 'xl/workbook.bin': 'x' });
  await assert.rejects(textOf(file), /\.xlsb.*\.xlsx/);
});
