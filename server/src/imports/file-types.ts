import { sniffImage } from '@homeport/contracts/files/image-bytes';
import mime from 'mime';
import { mediaTypeOf } from '../artifacts/media-type.ts';
import { type Archive, ZipArchive } from './archive.ts';
import type { ReadConversation, ReadFile, ReadItem, ReadProject } from './readers/read-conversation.ts';

/** Names and types of files by their first bytes: archives leave them out, or leave them wrong. */

const headBytes = 64;

export async function nameFiles(item: ReadItem, archive: Archive): Promise<ReadItem> {
  if (item.kind !== 'conversation' && item.kind !== 'project') return item;
  for (const file of item.files) await nameFile(file, archive);
  if (item.kind === 'conversation') nameParts(item);
  return item;
}

async function nameFile(file: ReadProject['files'][number], archive: Archive): Promise<void> {
  const shown = sniffImage(await headOf(file, archive));
  if (shown !== undefined) file.mediaType = shown;
  const extension = shown === undefined ? null : mime.getExtension(shown);
  const isNamed = /\.\w{1,8}$/.test(file.name) && !file.name.endsWith('.dat');
  if (extension !== null && !isNamed) file.name = `${file.name.replace(/\.dat$/, '')}.${extension}`;
  file.mediaType = mediaTypeOf(file.mediaType, file.name);
}

/** The parts that show the files say the same of them. */
function nameParts({ messages, files }: ReadConversation): void {
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type !== 'file' || !('url' in part) || !part.url.startsWith('import:')) continue;
      const file = files[Number(part.url.slice('import:'.length))];
      if (file === undefined) continue;
      part.mediaType = file.mediaType ?? part.mediaType;
      part.filename = file.name.split('/').at(-1) ?? file.name;
    }
  }
}

async function headOf({ content }: ReadFile, archive: Archive): Promise<Uint8Array> {
  if ('bytes' in content) return content.bytes.subarray(0, headBytes);
  if (!(archive instanceof ZipArchive) || !archive.has(content.entry)) return new Uint8Array();
  try {
    const stream = await archive.read(content.entry);
    for await (const chunk of stream) {
      stream.destroy();
      return Buffer.from(chunk).subarray(0, headBytes);
    }
  } catch {
    // A damaged file shows itself when it is stored.
  }
  return new Uint8Array();
}
