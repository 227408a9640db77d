import { type DocumentKind, DocumentRefused, damaged, locked, notReadable } from './document.ts';
import { ZipFile } from './readers/zip.ts';

/** What a file is: by its bytes wherever they tell, by its name only among texts. */

export type FileFacts = { name: string; mediaType: string };

const textEndings = new Map<string, DocumentKind>([
  ['html', 'html'],
  ['htm', 'html'],
  ['xhtml', 'html'],
  ['eml', 'eml'],
  ['csv', 'csv'],
  ['tsv', 'csv'],
]);
const textTypes = new Map<string, DocumentKind>([
  ['text/html', 'html'],
  ['application/xhtml+xml', 'html'],
  ['message/rfc822', 'eml'],
  ['text/csv', 'csv'],
]);
const openDocument = new Map<string, DocumentKind>([
  ['application/vnd.oasis.opendocument.text', 'odt'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'ods'],
  ['application/vnd.oasis.opendocument.presentation', 'odp'],
  ['application/epub+zip', 'epub'],
]);
const officeMain: [string, DocumentKind][] = [
  ['word/document.xml', 'docx'],
  ['xl/workbook.xml', 'xlsx'],
  ['ppt/presentation.xml', 'pptx'],
];
const compound = Buffer.from('d0cf11e0a1b11ae1', 'hex');

export type KnownFile = { kind: DocumentKind; zip?: ZipFile };

/** Throws DocumentRefused for what no reader is for. */
export function recognize(bytes: Buffer, facts: FileFacts, maxUnpackedBytes: number): KnownFile {
  if (bytes.length === 0) throw new DocumentRefused('no_text', 'The file is empty.');
  if (bytes.subarray(0, 1024).includes('%PDF-')) return { kind: 'pdf' };
  if (bytes.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004'))) return packed(bytes, maxUnpackedBytes);
  if (bytes.subarray(0, 8).equals(compound)) throw oldOffice(bytes);
  if (bytes.subarray(0, 5).toString('latin1') === '{\\rtf') return { kind: 'rtf' };
  return { kind: textKind(facts) };
}

function textKind({ name, mediaType }: FileFacts): DocumentKind {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return textEndings.get(ending) ?? textTypes.get(mediaType) ?? 'text';
}

function packed(bytes: Buffer, maxUnpackedBytes: number): KnownFile {
  const zip = new ZipFile(bytes, maxUnpackedBytes);
  const told = zip.read('mimetype')?.toString('latin1').trim();
  const kind =
    openDocument.get((told ?? '').replace(/-template$/, '')) ?? officeMain.find(([name]) => zip.has(name))?.[1];
  if (kind === undefined && zip.has('[Content_Types].xml')) throw damaged();
  if (kind === undefined) throw notReadable();
  return { kind, zip };
}

/** Office puts a file with a password into the container of its old formats. */
function oldOffice(bytes: Buffer): DocumentRefused {
  if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))) return locked();
  const message = 'This is one of the old Office formats (.doc, .xls, .ppt). Save it as .docx, .xlsx or .pptx.';
  return new DocumentRefused('unsupported', message);
}
