import { deflateRawSync } from 'node:zlib';
import { makeDocx, makeEpub, makeOdf, makePptx, makeXlsx, makeZip, paragraph } from './document-makers.ts';
import { file, type HostileFile } from './hostile-file.ts';
import { hostilePdfs } from './hostile-pdfs.ts';

const mebibyte = 1024 * 1024;

/** More than forty files that are broken, locked or malicious. */
export function makeHostileFiles(): HostileFile[] {
  return [...zips(), ...sheets(), ...texts(), ...hostilePdfs(), ...others()];
}

/** Every entry of the directory points to the first part. */
function overlapping(parts: Record<string, string | Uint8Array>, shared: string, names: readonly string[]): Buffer {
  const all = Object.fromEntries([...Object.entries(parts), ...names.map((name) => [name, ''] as const)]);
  const zip = makeZip(all);
  const entries = entriesOf(zip);
  const model = entries.find(({ name }) => name === shared);
  if (model === undefined) throw new Error(`${shared} is not there`);
  for (const { name, at } of entries) {
    if (!names.includes(name)) continue;
    zip.copy(zip, at + 20, model.at + 20, model.at + 28);
    zip.copy(zip, at + 42, model.at + 42, model.at + 46);
  }
  return zip;
}

function entriesOf(zip: Buffer): { name: string; at: number }[] {
  const entries: { name: string; at: number }[] = [];
  for (let at = zip.readUInt32LE(zip.length - 6); zip.readUInt32LE(at) === 0x02014b50; ) {
    const length = zip.readUInt16LE(at + 28);
    entries.push({ name: zip.toString('utf8', at + 46, at + 46 + length), at });
    at += 46 + length;
  }
  return entries;
}

function patched(zip: Buffer, change: (zip: Buffer, entries: { name: string; at: number }[]) => void): Buffer {
  change(zip, entriesOf(zip));
  return zip;
}

const document = (head: string, body: string) =>
  makeZip({ 'word/document.xml': `<?xml version="1.0"?>${head}<w:document><w:body>${body}</w:body></w:document>` });

function zips(): HostileFile[] {
  const bomb = deflateRawSync(Buffer.alloc(260 * mebibyte, ' '), { level: 1 });
  const quiet = `<?xml version="1.0"?><worksheet><!--${' '.repeat(4 * mebibyte)}--></worksheet>`;
  const sheetNames = Array.from({ length: 200 }, (_, index) => `xl/worksheets/s${index + 1}.xml`);
  const manySheets = {
    'xl/workbook.xml': `<workbook><sheets>${sheetNames.map((_, at) => `<sheet name="${at}" r:id="r${at}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${sheetNames.map((name, at) => `<Relationship Id="r${at}" Type="worksheet" Target="${name.slice(3)}"/>`).join('')}</Relationships>`,
    'xl/worksheets/s0.xml': quiet,
  };
  const whole = makeDocx(paragraph('text '.repeat(500)));
  const sealed = '<encryption><CipherReference URI="OEBPS/text/c0.xhtml"/></encryption>';
  const manyParts = Object.fromEntries(Array.from({ length: 20_100 }, (_, index) => [`p${index}`, '']));
  return [
    file('bomb.docx', makeZip({}, { deflated: { 'word/document.xml': bomb } }), 'unsafe'),
    file(
      'bomb-in-styles.xlsx',
      makeZip({ 'xl/workbook.xml': '<workbook/>' }, { deflated: { 'xl/styles.xml': bomb } }),
      'unsafe',
    ),
    file('overlapping-parts.xlsx', overlapping(manySheets, 'xl/worksheets/s0.xml', sheetNames), 'unsafe'),
    file('zip-in-zip.docx', makeZip({ 'a.docx': makeZip({ 'a.docx': makeZip({ 'a.docx': whole }) }) }), 'unsupported'),
    file('many-parts.docx', makeZip({ 'word/document.xml': 'x', ...manyParts }), 'unsafe'),
    file(
      'part-in-directory.docx',
      patched(makeDocx(paragraph('x')), (zip, [, main]) => {
        if (main !== undefined) zip.writeUInt32LE(main.at, main.at + 42);
      }),
      'damaged',
    ),
    file(
      'part-beyond-the-end.docx',
      patched(makeDocx(paragraph('x')), (zip, [, main]) => {
        if (main !== undefined) zip.writeUInt32LE(0xfffffff0, main.at + 42);
      }),
      'damaged',
    ),
    file(
      'directory-beyond-the-end.docx',
      patched(makeDocx(paragraph('x')), (zip) => {
        zip.writeUInt32LE(0xfffffff0, zip.length - 6);
      }),
      'damaged',
    ),
    file(
      'more-entries-than-told.docx',
      patched(makeDocx(paragraph('x')), (zip) => {
        zip.writeUInt16LE(9_999, zip.length - 12);
      }),
      'damaged',
    ),
    file(
      'strange-packing.docx',
      patched(makeDocx(paragraph('x')), (zip, entries) => {
        for (const { at } of entries) zip.writeUInt16LE(14, at + 10);
      }),
      'unsupported',
    ),
    file('locked.docx', makeZip({ 'word/document.xml': 'x' }, { flags: 1 }), 'password'),
    file('cut-short.docx', whole.subarray(0, whole.length * 0.8), 'damaged'),
    file(
      'laughs.docx',
      document('<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>', paragraph('&b;')),
      'unsafe',
    ),
    file(
      'entity-outside.docx',
      document('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>', paragraph('&a;')),
      'unsafe',
    ),
    file(
      'entity-of-the-web.odt',
      makeZip({
        mimetype: 'application/vnd.oasis.opendocument.text',
        'content.xml':
          '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:1/x"> %a;]><office:body><text:p>x</text:p></office:body>',
      }),
      'unsafe',
    ),
    file('deep.docx', makeDocx(`${'<w:tbl><w:tr><w:tc>'.repeat(50_000)}${paragraph('x')}`), 'unsafe'),
    file(
      'way-out.epub',
      makeEpub(['<p>x</p>'], {
        'OEBPS/b.opf':
          '<package><manifest><item id="a" href="../../../../../etc/passwd"/></manifest><spine><itemref idref="a"/></spine></package>',
      }),
      'no_text',
    ),
    file(
      'round-and-round.epub',
      makeEpub(['<p>Once only</p>'], {
        'OEBPS/b.opf': `<package><manifest><item id="a" href="text/c0.xhtml"/></manifest><spine>${'<itemref idref="a"/>'.repeat(50_000)}</spine></package>`,
      }),
      'ready',
    ),
    file('protected.epub', makeEpub(['<p>x</p>'], { 'META-INF/encryption.xml': sealed }), 'password'),
    file('locked.odt', makeOdf('text', '', { 'META-INF/manifest.xml': '<manifest:encryption-data/>' }), 'password'),
    file('notes-of-itself.pptx', makePptx([{ text: 'A slide' }]), 'ready'),
    file('ten-thousand-slides.pptx', manySlides(10_000), 'ready', 'pages_cut'),
  ];
}

/** One slide, shown again and again. */
function manySlides(count: number): Buffer {
  const ids = '<p:sldId id="256" r:id="rId1"/>'.repeat(count);
  const self = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/';
  return makeZip({
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': `<Relationships><Relationship Id="rId1" Type="${self}slide" Target="slides/slide1.xml"/></Relationships>`,
    'ppt/slides/slide1.xml': '<p:sld><a:p><a:r><a:t>Again</a:t></a:r></a:p></p:sld>',
    'ppt/slides/_rels/slide1.xml.rels': `<Relationships><Relationship Id="rId1" Type="${self}notesSlide" Target="slide1.xml"/></Relationships>`,
  });
}

function sheets(): HostileFile[] {
  const shared = `<si><t>${'s'.repeat(mebibyte)}</t></si>`;
  const uses = Array.from({ length: 200 }, (_, row) => `<row r="${row + 1}"><c t="s"><v>0</v></c></row>`);
  const corners = Array.from(
    { length: 1_000 },
    (_, row) => `<row r="${row + 1}"><c r="XFD${row + 1}"><v>${row}</v></c></row>`,
  );
  const repeated = (columns: number, rows: number, text: string) =>
    makeOdf(
      'spreadsheet',
      `<table:table table:name="S"><table:table-row table:number-rows-repeated="${rows}"><table:table-cell table:number-columns-repeated="${columns}">${text === '' ? '' : `<text:p>${text}</text:p>`}</table:table-cell></table:table-row></table:table>`,
    );
  return [
    file('one-string-many-cells.xlsx', makeXlsx({ S: uses.join('') }, { shared }), 'ready', 'text_cut'),
    file('shared-strings.xlsx', makeXlsx({ S: '' }, { shared: shared.repeat(70) }), 'too_large'),
    file('last-cells.xlsx', makeXlsx({ S: corners.join('') }), 'ready'),
    file(
      'last-row.xlsx',
      makeXlsx({
        S: '<row r="1048576"><c r="XFD1048576"><v>7</v></c></row><row r="99999999999"><c r="ZZZZ1"><v>8</v></c></row>',
      }),
      'ready',
    ),
    file(
      'strange-references.xlsx',
      makeXlsx({
        S: '<row r="-5"><c r="!!" t="s" s="99999"><v>123456789</v></c><c t="s"><v>-1</v></c><c><v>1e999</v></c></row>',
      }),
      'ready',
    ),
    file(
      'sheet-is-missing.xlsx',
      makeZip({ 'xl/workbook.xml': '<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>' }),
      'no_text',
    ),
    file('repeated-to-the-edge.ods', repeated(16_384, 1_048_576, ''), 'no_text'),
    file('repeated-text.ods', repeated(16_384, 1, 'x'.repeat(100)), 'ready'),
    file('spaces.odt', makeOdf('text', `<text:p>a${'<text:s text:c="2000000000"/>'.repeat(2_000)}b</text:p>`), 'ready'),
  ];
}

function texts(): HostileFile[] {
  const parts = 10_000;
  const nested = Array.from(
    { length: parts },
    (_, index) => `Content-Type: multipart/mixed; boundary=b${index}\r\n\r\n--b${index}\r\n`,
  );
  const head =
    'From: a@example.org\r\nSubject: Hello\r\nDate: Tue, 12 May 2026 09:30:00 +0200\r\nMIME-Version: 1.0\r\n';
  return [
    file('bin.rtf', '{\\rtf1 Before {\\bin2000000000 x} after}', 'ready'),
    file('groups.rtf', `{\\rtf1 ${'{'.repeat(100_000)}`, 'damaged'),
    file('nested-parts.eml', `${head}${nested.join('')}`, 'damaged'),
    file('long-header.eml', `${head}X-Long: ${'x'.repeat(2 * mebibyte)}\r\n\r\nText`, 'damaged'),
    file('recipients.eml', `${head}To: ${'a@example.org, '.repeat(50_000)}b@example.org\r\n\r\nText`, 'ready'),
    file('deep.html', `<html>${'<div>'.repeat(200_000)}`, 'unsafe'),
    file('unclosed.html', `<html>${'<!--'.repeat(4_000)}${'<a href="'.repeat(200_000)}`, 'no_text'),
    file('commas.csv', `${','.repeat(mebibyte)}\n`.repeat(2), 'ready'),
    file(
      'half-characters.txt',
      Buffer.concat([Buffer.from('fffe', 'hex'), Buffer.from('\ud800x\udc00'.repeat(10_000), 'utf16le')]),
      'ready',
    ),
    file(
      'noise.txt',
      Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7_919 + (index >> 3) * 104_729) & 0xff)),
      'unsupported',
    ),
    file('empty.pdf', '', 'no_text'),
  ];
}

function others(): HostileFile[] {
  return [
    file(
      'program.pdf',
      Buffer.concat([Buffer.from('7f454c460201010000000000', 'hex'), Buffer.alloc(5_000, 0x03)]),
      'unsupported',
    ),
    file(
      'picture.docx',
      Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(5_000, 0x01)]),
      'unsupported',
    ),
    file('old.doc', Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(5_000)]), 'unsupported'),
    file(
      'locked-in-old-container.docx',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
      'password',
    ),
  ];
}
