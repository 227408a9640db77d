import { type BigIntStats, lstatSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { WorkspaceEntry } from '@homeport/contracts/workspace/daemon';
import { DaemonError } from '../daemon-error.ts';
import { type HomePath, invalid } from '../file-system/home-path.ts';
import type { Room } from '../space/home-space.ts';
import { at, close, reopen } from './descriptors.ts';
import { neitherFileNorFolder, readHead } from './read.ts';
import type { ReadVersions } from './read-versions.ts';
import { applyEdits, type Edit } from './text-edits.ts';
import { encodeText, plainFormat, readFormat, type TextFormat, withLineEnds } from './text-format.ts';
import { type Found, findPlace, type Home, lookAt, type Place } from './walk.ts';
import { replaceContent, writeFile } from './write.ts';

const fileBytesMax = 4 * 1024 * 1024;

/**
 * Replaces texts in a file, one edit after the other; all of them or none. `oldText` must occur exactly once unless
 * `all` is set. The file keeps its mode, encoding and line ends. Throws `invalid_request` with the number of the edit
 * that failed, `payload_too_large` above 4 MiB.
 */
export async function editFile(
  home: Home,
  path: HomePath,
  edits: readonly Edit[],
): Promise<{ entry: WorkspaceEntry; replaced: number }> {
  const existing = readExisting(home, path);
  if (existing === undefined) throw new DaemonError('not_found', 'File or folder not found');
  if (existing.content === 'large') throw tooLarge();
  if (existing.content === 'binary') throw new DaemonError('invalid_request', 'The file is not text');
  const { text, format } = existing.content;
  const edited = applyEdits(text, edits, format, fileBytesMax);
  const entry = await replace(home, path, existing.stats, encodeText(edited.text, format));
  return { entry, replaced: edited.replaced };
}

export type TextWrite = { text: string; versions: ReadVersions; reader: string | undefined; space: Room };

/**
 * Writes a whole text. An existing file keeps its mode, encoding and line ends. Throws `path_taken` if the reader has
 * read another version of the file.
 */
export async function writeText(
  home: Home,
  path: HomePath,
  { text, versions, reader, space }: TextWrite,
): Promise<WorkspaceEntry> {
  if (path.isFolder) throw invalid('The path of a file must not end with a slash');
  const existing = readExisting(home, path);
  if (existing === undefined) {
    const bytes = Readable.from([Buffer.from(text)], { objectMode: false });
    return writeFile(home, path, { bytes, size: Buffer.byteLength(text), onConflict: 'fail', space });
  }
  if (!versions.isCurrent(reader, path, existing.stats)) {
    throw new DaemonError('path_taken', 'The file changed since you read it: read it again before you write it');
  }
  const format = typeof existing.content === 'string' ? plainFormat : existing.content.format;
  const content = encodeText(withLineEnds(withoutMark(text), format), format);
  if (content.length > fileBytesMax) throw tooLarge();
  return replace(home, path, existing.stats, content);
}

function replace(home: Home, path: HomePath, stats: BigIntStats, content: Buffer): Promise<WorkspaceEntry> {
  if (content.length > fileBytesMax) throw tooLarge();
  if ((stats.mode & 0o222n) === 0n) {
    throw new DaemonError('invalid_request', 'The file is read-only: allow writing first, with chmod u+w');
  }
  const isSame = (place: Place) => {
    const now = lstatSync(at(place.folder, place.name), { bigint: true, throwIfNoEntry: false });
    return now?.ino === stats.ino && now.mtimeNs === stats.mtimeNs && now.size === stats.size;
  };
  return replaceContent(home, path, content, { mode: Number(stats.mode), isSame });
}

type Existing = { stats: BigIntStats; content: { text: string; format: TextFormat } | 'binary' | 'large' };

/** Undefined if nothing has this path. */
function readExisting(home: Home, path: HomePath): Existing | undefined {
  const place = findPlace(home, path);
  let found: Found | undefined;
  let opened: number | undefined;
  try {
    if (place.missing.length > 0) return undefined;
    if (lstatSync(at(place.folder, place.name), { throwIfNoEntry: false }) === undefined) return undefined;
    found = lookAt(home, place.folder, place.name);
    const { stats } = found;
    if (!stats.isFile()) throw neitherFileNorFolder();
    if (stats.size > fileBytesMax) return { stats, content: 'large' };
    opened = reopen(found.descriptor);
    return { stats, content: readFormat(readHead(opened, fileBytesMax)) ?? 'binary' };
  } finally {
    close(opened, found?.descriptor, place.folder);
  }
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function tooLarge(): DaemonError {
  return new DaemonError('payload_too_large', `Files larger than ${fileBytesMax} bytes cannot be edited`);
}
