import type { PageWriter } from '../page-writer.ts';
import { decodeAnyText } from './encodings/text-encoding.ts';

/** Plain text and CSV, in parts that end with a line. */
export function readText(bytes: Uint8Array, writer: PageWriter): void {
  const text = decodeAnyText(bytes);
  writer.begin();
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    writer.paragraph(text.slice(at, end));
    at = end + 1;
  }
}
