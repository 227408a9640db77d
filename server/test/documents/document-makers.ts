import { crc32, deflateRawSync, deflateSync } from 'node:zlib';

/** Small office files, made here byte by byte. */

export type Parts = Record<string, string | Uint8Array>;
type ZipFault = { flags?: number; deflated?: Record<string, Uint8Array> };

/** `deflated` gives parts that are packed already. */
export function makeZip(parts: Parts, { flags = 0, deflated = {} }: ZipFault = {}): Buffer {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const name of [...Object.keys(parts), ...Object.keys(deflated)]) {
    const content = Buffer.from(parts[name] ?? '');
    const data = Buffer.from(deflated[name] ?? deflateRawSync(content));
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(flags, 2);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc32(content), 10);
    head.writeUInt32LE(data.length, 14);
    head.writeUInt32LE(content.length, 18);
    head.writeUInt16LE(Buffer.byteLength(name), 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('504b01021400', 'hex'), head, place, Buffer.from(name));
    const entry = [Buffer.from('504b0304', 'hex'), head, Buffer.from(name), data];
    local.push(...entry);
    offset += entry.reduce((sum, piece) => sum + piece.length, 0);
  }
  const count = Object.keys(parts).length + Object.keys(deflated).length;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, ...directory, end]);
}

const relation = (id: string, type: string, target: string) =>
  `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`;
const relations = (...all: string[]) => `<?xml version="1.0"?><Relationships>${all.join('')}</Relationships>`;

/** `body` is the content of w:body. */
export function makeDocx(body: string, others: Parts = {}): Buffer {
  const xml = `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`;
  return makeZip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': xml, ...others });
}

export const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

/** `sheets` maps names to the XML inside sheetData. */
export function makeXlsx(sheets: Record<string, string>, { shared = '', styles = '' } = {}): Buffer {
  const names = Object.keys(sheets);
  const list = names.map((name, index) => `<sheet name="${name}" sheetId="${index + 7}" r:id="rId${index}"/>`);
  const parts: Parts = {
    'xl/workbook.xml': `<workbook><sheets>${list.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      ...names.map((_, index) => relation(`rId${index}`, 'worksheet', `worksheets/s${index}.xml`)),
    ),
    'xl/sharedStrings.xml': `<sst>${shared}</sst>`,
    'xl/styles.xml': `<styleSheet>${styles}</styleSheet>`,
  };
  for (const [index, name] of names.entries()) {
    parts[`xl/worksheets/s${index}.xml`] = `<worksheet><sheetData>${sheets[name]}</sheetData></worksheet>`;
  }
  return makeZip(parts);
}

/** The slides are stored in the opposite order of that in which they are shown. */
export function makePptx(slides: { text: string; notes?: string }[]): Buffer {
  const number = (index: number) => slides.length - index;
  const ids = slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index}"/>`);
  const parts: Parts = {
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${ids.join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(
      ...slides.map((_, index) => relation(`rId${index}`, 'slide', `slides/slide${number(index)}.xml`)),
    ),
  };
  const page = (text: string) => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
  for (const [index, { text, notes }] of slides.entries()) {
    parts[`ppt/slides/slide${number(index)}.xml`] = page(text);
    if (notes === undefined) continue;
    parts[`ppt/slides/_rels/slide${number(index)}.xml.rels`] = relations(
      relation('rId1', 'notesSlide', `../notesSlides/n${index}.xml`),
    );
    parts[`ppt/notesSlides/n${index}.xml`] = page(notes);
  }
  return makeZip(parts);
}

export function makeOdf(kind: 'text' | 'spreadsheet' | 'presentation', body: string, others: Parts = {}): Buffer {
  return makeZip({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    'content.xml': `<office:document-content><office:body>${body}</office:body></office:document-content>`,
    ...others,
  });
}

export function makeEpub(chapters: string[], others: Parts = {}): Buffer {
  const items = chapters.map((_, index) => `<item id="c${index}" href="text/c${index}.xhtml"/>`);
  const spine = chapters.map((_, index) => `<itemref idref="c${index}"/>`);
  const parts: Parts = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles></container>',
    'OEBPS/b.opf': `<package><manifest>${items.join('')}</manifest><spine>${spine.join('')}</spine></package>`,
    ...others,
  };
  for (const [index, chapter] of chapters.entries()) {
    parts[`OEBPS/text/c${index}.xhtml`] = `<html><head><title>T</title></head><body>${chapter}</body></html>`;
  }
  return makeZip(parts);
}

type PdfObject = string | { dictionary: string; stream: Uint8Array };

/** Objects 1, 2, 3 … as given, with a table of their offsets. Object 1 is the catalogue. */
export function makePdfOf(objects: PdfObject[], trailer = ''): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  let length = pieces[0]?.length ?? 0;
  const places: number[] = [];
  for (const [index, object] of objects.entries()) {
    places.push(length);
    const content =
      typeof object === 'string'
        ? Buffer.from(object)
        : Buffer.concat([
            Buffer.from(`<< ${object.dictionary} /Length ${object.stream.length} >>\nstream\n`),
            object.stream,
            Buffer.from('\nendstream'),
          ]);
    const piece = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), content, Buffer.from('\nendobj\n')]);
    pieces.push(piece);
    length += piece.length;
  }
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  pieces.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R ${trailer}>>\nstartxref\n${length}\n%%EOF`,
    ),
  );
  return Buffer.concat(pieces);
}

/** One page for each text; its lines are lines of the page. */
export function makePdf(pages: string[]): Buffer {
  const objects: PdfObject[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${index * 2 + 4} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ];
  for (const [index, text] of pages.entries()) {
    const lines = text.split('\n').map((line) => `(${line.replace(/[()\\]/g, '\\$&')}) Tj 0 -14 Td`);
    const content = Buffer.from(`BT /F1 12 Tf 72 720 Td ${lines.join(' ')} ET`, 'latin1');
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${index * 2 + 5} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      { dictionary: '/Filter /FlateDecode', stream: deflateSync(content) },
    );
  }
  return makePdfOf(objects);
}
