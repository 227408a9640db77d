import { type DocumentKind, DocumentRefused, damaged, notReadable } from './document.ts';
import { binaryWorkbook, oldFormat } from './old-formats.ts';
import { decoderFor } from './readers/encodings/text-encoding.ts';
import { findMainPart } from './readers/main-part.ts';
import { ZipFile } from './readers/zip.ts';
import { unreadPicture } from './unread-pictures.ts';

/** File formats by their bytes alone: the same content is the same document under any name. */

const openDocument = new Map<string, DocumentKind>([
  ['application/vnd.oasis.opendocument.text', 'odt'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'ods'],
  ['application/vnd.oasis.opendocument.presentation', 'odp'],
  ['application/epub+zip', 'epub'],
]);
const compound = Buffer.from('d0cf11e0a1b11ae1', 'hex');

export type KnownFile = { kind: DocumentKind; zip?: ZipFile };

/** Throws DocumentRefused for what no reader is for. */
export function recognize(bytes: Buffer, maxUnpackedBytes: number): KnownFile {
  if (bytes.length === 0) throw new DocumentRefused('no_text', 'The file is empty.');
  if (bytes.subarray(0, 1024).includes('%PDF-')) return { kind: 'pdf' };
  if (bytes.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004'))) return packed(bytes, maxUnpackedBytes);
  if (bytes.subarray(0, 8).equals(compound)) throw oldFormat(bytes);
  const picture = unreadPicture(bytes);
  if (picture !== undefined) throw picture;
  if (bytes.subarray(0, 5).toString('latin1') === '{\\rtf') return { kind: 'rtf' };
  return { kind: textKind(bytes) };
}

const looked = 16 * 1024;
const htmlStart = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype\s+html|html)[\s>]/i;
const headerLine = /^([!-9;-~]{1,76}):.*\n(?:[ \t].*\n)*/;
/** Of these an e-mail has who sent it, and at least one more. */
const mailHeaders = new Set(['message-id', 'mime-version', 'received', 'date', 'subject']);

/** The source of a page without its frame, and a text that begins like a letter, are plain text. */
function textKind(bytes: Buffer): DocumentKind {
  const head = decoderFor(bytes).decode(bytes.subarray(0, looked), { stream: true });
  if (htmlStart.test(head)) return 'html';
  return isMail(head) ? 'eml' : 'text';
}

/** True if the text begins with the headers of an e-mail. */
export function isMail(text: string): boolean {
  const head = text.slice(0, looked);
  const headers = new Set<string>();
  let rest = head.replaceAll('\r', '');
  // Messages from a mailbox file begin with a line of it.
  if (rest.startsWith('From ')) rest = rest.slice(rest.indexOf('\n') + 1);
  for (let line = headerLine.exec(rest); line !== null; line = headerLine.exec(rest)) {
    headers.add((line[1] ?? '').toLowerCase());
    rest = rest.slice(line[0].length);
  }
  const known = [...headers].filter((name) => mailHeaders.has(name)).length;
  return headers.has('from') && known >= 2 && (rest === '' || rest.startsWith('\n') || head.length >= looked / 2);
}

function packed(bytes: Buffer, maxUnpackedBytes: number): KnownFile {
  const zip = new ZipFile(bytes, maxUnpackedBytes);
  const declared = zip.read('mimetype')?.toString('latin1').trim();
  const kind = openDocument.get((declared ?? '').replace(/-template$/, '')) ?? findMainPart(zip)?.kind;
  if (kind === 'xlsb') throw binaryWorkbook();
  if (kind === undefined && zip.has('[Content_Types].xml')) throw damaged();
  if (kind === undefined) throw notReadable();
  return { kind, zip };
}
