import PostalMime, { type Address } from 'postal-mime';
import type { PageWriter } from '../page-writer.ts';
import { decoderFor } from './encodings/text-encoding.ts';
import { writeHtml } from './html.ts';

const deepest = 32;
const mostHeaderBytes = 1024 * 1024;

const mostMessages = 10_000;

/** One e-mail, or all of a mailbox file (mbox, RFC 4155), each on a page of its own. */
export async function readEml(bytes: Uint8Array, writer: PageWriter): Promise<void> {
  const { encoding } = decoderFor(bytes);
  const isWide = encoding.startsWith('utf-16');
  const source = isWide ? Buffer.from(decoderFor(bytes).decode(bytes)) : Buffer.from(bytes);
  for (const message of messagesOf(source)) await readMessage(message, writer);
}

function* messagesOf(bytes: Buffer): Generator<Buffer> {
  if (bytes.subarray(0, 5).toString('latin1') !== 'From ') {
    yield bytes;
    return;
  }
  const emptyLine = bytes[bytes.indexOf('\n') - 1] === 0x0d ? '\n\r\n' : '\n\n';
  let start = 0;
  for (let count = 0; start < bytes.length && count < mostMessages; count += 1) {
    const end = nextMessage(bytes, start, emptyLine);
    const firstLine = bytes.indexOf('\n', start);
    if (firstLine !== -1 && firstLine < end) yield bytes.subarray(firstLine + 1, end);
    start = end;
  }
}

/** A message begins after an empty line; `emptyLine` ends as the lines of the file do. */
function nextMessage(bytes: Buffer, from: number, emptyLine: string): number {
  const at = bytes.indexOf(`${emptyLine}From `, from);
  return at === -1 ? bytes.length : at + emptyLine.length;
}

/** An e-mail as it was sent: who, when, about what, its text; the names of what was attached. */
async function readMessage(bytes: Uint8Array, writer: PageWriter): Promise<void> {
  const mail = await PostalMime.parse(bytes, { maxNestingDepth: deepest, maxHeadersSize: mostHeaderBytes });
  writer.begin();
  const line = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') writer.paragraph(`${name}: ${value}`);
  };
  line('From', namesOf(mail.from === undefined ? [] : [mail.from]));
  line('To', namesOf(mail.to));
  line('Cc', namesOf(mail.cc));
  line('Date', mail.date);
  line('Subject', mail.subject);
  writer.add('\n');
  if (mail.text !== undefined && mail.text.trim() !== '') {
    for (const paragraph of mail.text.trim().split(/\r?\n/)) writer.paragraph(paragraph);
  } else if (mail.html !== undefined) writeHtml(mail.html, writer);
  for (const { filename, mimeType } of mail.attachments) writer.paragraph(`[Attached: ${filename ?? mimeType}]`);
}

function namesOf(addresses: readonly Address[] | undefined): string {
  return (addresses ?? [])
    .flatMap((address) => (address.group === undefined ? [address] : address.group))
    .map(({ name, address }) => (name === '' ? (address ?? '') : `${name} <${address ?? ''}>`))
    .join(', ');
}
