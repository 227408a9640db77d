import { opendirSync } from 'node:fs';
import { itself } from './descriptors.ts';

/** A name in a folder; bytes if it is not UTF-8. */
export type Name = string | Buffer;

const scannedMax = 20_000;

/** The name as paths show it: bytes that are not UTF-8 become U+FFFD. */
export function shownName(name: Name): string {
  return typeof name === 'string' ? name : name.toString('utf8');
}

/** A name from its bytes. */
export function nameOfBytes(bytes: Buffer): Name {
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') && !Buffer.from(text).equals(bytes) ? bytes : text;
}

/**
 * The name in an open folder that a path means by `name`: one in another Unicode normal form, or one whose bytes are
 * not UTF-8 and that is shown like this. Undefined if there is none, or more than one.
 */
export function findResembling(folder: number, name: string): Name | undefined {
  // Only these names have another spelling.
  if (!/[^\0-\x7f]/.test(name)) return undefined;
  const wanted = name.normalize('NFC');
  const found: Name[] = [];
  const opened = opendirSync(itself(folder), { encoding: 'buffer' as 'utf8', bufferSize: 1024 });
  try {
    for (let count = 0; count < scannedMax; count += 1) {
      const entry = opened.readSync();
      if (entry === null) break;
      const other = nameOfBytes(Buffer.from(entry.name));
      if (shownName(other).normalize('NFC') === wanted) found.push(other);
    }
  } finally {
    opened.closeSync();
  }
  return found.length === 1 ? found[0] : undefined;
}
