import PostalMime, { type Address } from 'postal-mime';
import type { PageWriter } from '../page-writer.ts';
import { writeHtml } from './html.ts';

const deepest = 32;
const mostHeaderBytes = 1024 * 1024;

/** An e-mail as it was sent: who, when, about what, its text; the names of what was attached. */
export async function readEml(bytes: Uint8Array, writer: PageWriter): Promise<void> {
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
