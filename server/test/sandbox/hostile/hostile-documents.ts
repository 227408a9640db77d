import { deflateRawSync, deflateSync } from 'node:zlib';
import {
  makeDocx,
  makeOdf,
  makePdfOf,
  makePptx,
  makeXlsx,
  makeZip,
  paragraph,
} from '../../documents/document-makers.ts';
import type { AttackKind, AttackMaker } from './attacks.ts';

const mebibyte = 1024 * 1024;
const many = (text: string, size: number, most = 100 * mebibyte): Buffer =>
  Buffer.alloc(Math.min(most, text.length * size), text);
const numbered = (size: number, text: (index: number) => string): string =>
  Array.from({ length: size }, (_, index) => text(index)).join('');

const cut =
  (whole: () => Buffer): AttackMaker =>
  (_, random) => {
    const bytes = whole();
    return bytes.subarray(0, 1 + random(bytes.length));
  };
/** Some bytes of a valid file are changed. */
const spoiled =
  (whole: () => Buffer): AttackMaker =>
  (_, random) => {
    const bytes = Buffer.from(whole());
    for (let count = 1 + random(20); count > 0; count -= 1) bytes[random(bytes.length)] = random(256);
    return bytes;
  };

const docx = (): Buffer => makeDocx(paragraph('text '.repeat(500)));
const xlsx = (): Buffer => makeXlsx({ S: '<row r="1"><c r="A1"><v>1</v></c></row>'.repeat(50) });
const pptx = (): Buffer => makePptx([{ text: 'A slide', notes: 'with notes' }, { text: 'Another' }]);
const odt = (): Buffer => makeOdf('text', '<text:p>text</text:p>'.repeat(100));

const form = (nested: number) => ({
  dictionary: '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>',
  stream: Buffer.from('/X Do '.repeat(nested)),
});
const pdf = (content: { dictionary: string; stream: Uint8Array }, ...more: Parameters<typeof makePdfOf>[0]) =>
  makePdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /XObject << /X 6 0 R >> >> >>',
    content,
    '<< >>',
    ...more,
  ]);
const words = { dictionary: '', stream: Buffer.from('BT (Words) Tj ET') };

export const hostileDocuments: AttackKind[] = [
  {
    format: 'docx',
    to: 'files',
    makers: {
      relationships: (size) =>
        makeDocx(paragraph('x'), {
          'word/_rels/document.xml.rels': `<Relationships>${numbered(size, (index) => `<Relationship Id="${index}" Target="a${index}"/>`)}</Relationships>`,
        }),
      bomb: (size) =>
        makeZip({}, { deflated: { 'word/document.xml': deflateRawSync(many(' ', size * 300, 300 * mebibyte)) } }),
      nested: (size) => makeDocx(many('<w:tbl>', size).toString('latin1')),
      attributes: (size) => makeDocx(`<w:p ${numbered(size, (index) => `a${index}="" `)}>x</w:p>`),
      spoiled: spoiled(docx),
      cut: cut(docx),
    },
  },
  {
    format: 'xlsx',
    to: 'files',
    makers: {
      strings: (size) => makeXlsx({ S: '' }, { shared: many('<si/>', size * 12).toString('latin1') }),
      cells: (size) =>
        makeXlsx({ S: `<row>${many('<c t="s"><v>0</v></c>', size)}</row>` }, { shared: '<si><t>a</t></si>' }),
      styles: (size) => makeXlsx({ S: '' }, { styles: `<cellXfs>${many('<xf numFmtId="1"/>', size * 4)}</cellXfs>` }),
      spoiled: spoiled(xlsx),
      cut: cut(xlsx),
    },
  },
  {
    format: 'pptx',
    to: 'files',
    makers: {
      slides: (size) =>
        makeZip({
          'ppt/presentation.xml': `<p:presentation>${many('<p:sldId r:id="a"/>', size * 2)}</p:presentation>`,
          'ppt/_rels/presentation.xml.rels': '<Relationships><Relationship Id="a" Target="s.xml"/></Relationships>',
        }),
      spoiled: spoiled(pptx),
      cut: cut(pptx),
    },
  },
  {
    format: 'odt',
    to: 'files',
    makers: {
      nested: (size) => makeOdf('text', many('<text:p><text:note>', size).toString('latin1')),
      spaces: (size) => makeOdf('text', `<text:p>${many('<text:s text:c="1000"/>', size)}</text:p>`),
      spoiled: spoiled(odt),
    },
  },
  {
    format: 'ods',
    to: 'files',
    makers: {
      cells: (size) =>
        makeOdf(
          'spreadsheet',
          `<table:table><table:table-row>${many('<table:table-cell><text:p>a</text:p></table:table-cell>', size)}`,
        ),
      rows: (size) =>
        makeOdf(
          'spreadsheet',
          `<table:table><table:table-row table:number-rows-repeated="${size}"><table:table-cell table:number-columns-repeated="${size}"><text:p>${'a'.repeat(999)}</text:p>`,
        ),
    },
  },
  {
    format: 'pdf',
    to: 'files',
    makers: {
      unpacked: (size) =>
        pdf({
          dictionary: '/Filter /FlateDecode',
          stream: deflateSync(many(' ', size * 900, 900 * mebibyte), { level: 1 }),
        }),
      lists: (size) => pdf({ dictionary: `/A ${'['.repeat(size / 10)}`, stream: Buffer.from('') }),
      forms: (size) => pdf({ dictionary: '', stream: Buffer.from('/X Do') }, form(Math.min(2_000, size))),
      spoiled: spoiled(() => pdf(words)),
      cut: cut(() => pdf(words)),
    },
  },
  {
    format: 'eml',
    to: 'files',
    makers: {
      parts: (size) =>
        Buffer.from(
          `From: a@example.org\nSubject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n${many('--b\nContent-Type: text/plain\n\nx\n', size)}`,
        ),
      headers: (size) =>
        Buffer.concat([Buffer.from('From: a@example.org\nDate: x\n'), many('X-A: b\n', size), Buffer.from('\nx')]),
      addresses: (size) =>
        Buffer.concat([
          Buffer.from('From: a@example.org\nDate: x\nTo: '),
          many('(((a@b.c,', size / 10),
          Buffer.from('\n\nx'),
        ]),
    },
  },
];
