import { posix } from 'node:path';
import { beforeFirst } from '@homeport/contracts/text/trim-characters';
import { DocumentRefused, damaged } from '../document.ts';
import type { PageWriter } from '../page-writer.ts';
import { decoderFor } from './encodings/text-encoding.ts';
import { writeHtml } from './html.ts';
import { readXml } from './xml.ts';
import type { ZipFile } from './zip.ts';

/** EPUB (W3C): the chapters in reading order. */
export function readEpub(zip: ZipFile, writer: PageWriter): void {
  const chapters = chaptersOf(zip);
  const sealed = sealedParts(zip);
  for (const chapter of chapters) {
    if (sealed.has(chapter)) {
      throw new DocumentRefused('password', 'The book is protected against copying and cannot be read here.');
    }
    const bytes = zip.read(chapter);
    if (bytes === undefined) continue;
    // Rejects declarations like in every other XML.
    readXml(bytes.subarray(0, 4096), {});
    if (writer.length > 0) writer.begin();
    // The name of a chapter is in its text; its title often is the name of its file.
    writeHtml(decoderFor(bytes).decode(bytes), writer, false);
  }
}

function chaptersOf(zip: ZipFile): string[] {
  let root: string | undefined;
  readXml(zip.need('META-INF/container.xml'), {
    open(name, attributes) {
      if (name === 'rootfile') root ??= attributes['full-path'];
    },
  });
  if (root === undefined) throw damaged();
  const folder = posix.dirname(root);
  const items = new Map<string, string>();
  const order: string[] = [];
  readXml(zip.need(root), {
    open(name, { id, href, idref }) {
      if (name === 'item' && id !== undefined && href !== undefined) items.set(id, posix.join(folder, unescaped(href)));
      if (name === 'itemref' && idref !== undefined) order.push(idref);
    },
  });
  // A book that names a chapter again and again is read once.
  return [...new Set(order)].flatMap((id) => items.get(id) ?? []);
}

function sealedParts(zip: ZipFile): Set<string> {
  const sealed = new Set<string>();
  readXml(zip.read('META-INF/encryption.xml') ?? Buffer.alloc(0), {
    open(name, { URI }) {
      if (name === 'CipherReference' && URI !== undefined) sealed.add(unescaped(URI));
    },
  });
  return sealed;
}

function unescaped(address: string): string {
  const path = beforeFirst(address, '#');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
