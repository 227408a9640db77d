import { lstatSync } from 'node:fs';
import type { WorkspaceEntry } from '@homeport/contracts/workspace/daemon';
import { DaemonError } from '../daemon-error.ts';
import type { HomePath } from '../file-system/home-path.ts';
import { at, close, reopen } from './descriptors.ts';
import { decodeText } from './media-type.ts';
import { neitherFileNorFolder, readHead } from './read.ts';
import { type Found, findExistingPlace, type Home, lookAt, type Place } from './walk.ts';
import { replaceContent } from './write.ts';

export type Edit = { oldText: string; newText: string; all: boolean };

const fileBytesMax = 4 * 1024 * 1024;

/**
 * Replaces texts in a file, one edit after the other; all of them or none. `oldText` must occur exactly once unless
 * `all` is set. Throws `invalid_request` with the number of the edit that failed, `payload_too_large` above 4 MiB.
 */
export async function editFile(
  home: Home,
  path: HomePath,
  edits: readonly Edit[],
): Promise<{ entry: WorkspaceEntry; replaced: number }> {
  const { text, stats } = readText(home, path);
  const edited = applyEdits(text, edits);
  const content = Buffer.from(edited.text);
  if (content.length > fileBytesMax) throw tooLarge();
  const isSame = (place: Place) => {
    const now = lstatSync(at(place.folder, place.name), { bigint: true, throwIfNoEntry: false });
    return now?.ino === stats.ino && now.mtimeNs === stats.mtimeNs && now.size === stats.size;
  };
  const entry = await replaceContent(home, path, content, { mode: Number(stats.mode), isSame });
  return { entry, replaced: edited.replaced };
}

function readText(home: Home, path: HomePath): { text: string; stats: Found['stats'] } {
  const place = findExistingPlace(home, path);
  let found: Found | undefined;
  let opened: number | undefined;
  try {
    found = lookAt(home, place.folder, place.name);
    if (!found.stats.isFile()) throw neitherFileNorFolder();
    if (found.stats.size > fileBytesMax) throw tooLarge();
    opened = reopen(found.descriptor);
    const text = decodeText(readHead(opened, fileBytesMax), false);
    if (text === undefined) throw new DaemonError('invalid_request', 'The file is not UTF-8 text');
    return { text, stats: found.stats };
  } finally {
    close(opened, found?.descriptor, place.folder);
  }
}

function applyEdits(original: string, edits: readonly Edit[]): { text: string; replaced: number } {
  let text = original;
  let replaced = 0;
  for (const [index, { oldText, newText, all }] of edits.entries()) {
    const parts = text.split(oldText);
    const count = parts.length - 1;
    if (count === 0) throw new DaemonError('invalid_request', `Edit ${index + 1}: the old text is not in the file`);
    if (count > 1 && !all) {
      throw new DaemonError(
        'invalid_request',
        `Edit ${index + 1}: the old text is ${count} times in the file, not once`,
      );
    }
    if (text.length + count * (newText.length - oldText.length) > fileBytesMax) throw tooLarge();
    text = parts.join(newText);
    replaced += count;
  }
  return { text, replaced };
}

function tooLarge(): DaemonError {
  return new DaemonError('payload_too_large', `Files larger than ${fileBytesMax} bytes cannot be edited`);
}
