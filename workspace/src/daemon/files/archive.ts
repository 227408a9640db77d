import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { clock } from '../../clock.ts';
import { DaemonError } from '../daemon-error.ts';
import { type HomePath, nameOf } from '../file-system/home-path.ts';
import { errnoOf } from '../file-system/system-errors.ts';
import type { Exchange } from '../http.ts';
import { close, reopen } from './descriptors.ts';
import { findFolder, readHead } from './read.ts';
import { type Bounds, type Visited, walkTree } from './tree.ts';
import type { Home } from './walk.ts';
import { writeZip, type ZipEntry } from './zip.ts';

const entriesMax = 100_000;
const countMs = 20_000;
/** Files up to this size are read in one go. */
const smallBytes = 64 * 1024;
/** After this many bytes of small files, yields to the event loop. */
const turnBytes = 512 * 1024;

/**
 * A folder as .zip, created while it is sent. Links, devices and unreadable files are left out. Throws
 * `payload_too_large` above 100,000 entries; a later failure breaks the connection.
 */
export async function sendArchive(home: Home, path: HomePath, exchange: Exchange): Promise<void> {
  const { method, response, signal } = exchange;
  const folder = findFolder(home, path);
  try {
    await checkSize(home, folder, signal);
    response.writeHead(200, { 'content-type': 'application/zip' });
    if (method === 'HEAD') return void response.end();
    const entries = entriesOf(home, folder, path.segments.length === 0 ? 'home' : nameOf(path), signal);
    await pipeline(Readable.from(writeZip(entries), { objectMode: false, highWaterMark: 256 * 1024 }), response);
  } catch (error) {
    if (!response.headersSent) throw error;
    response.destroy();
  } finally {
    close(folder);
  }
}

async function checkSize(home: Home, folder: number, signal: AbortSignal): Promise<void> {
  const bounds: Bounds = { entriesLeft: entriesMax, until: clock.elapsed() + countMs, isCut: false };
  for await (const _ of walkTree(home, folder, bounds, signal));
  if (bounds.isCut) {
    throw new DaemonError('payload_too_large', `The folder has more than ${entriesMax} entries, or too many levels`);
  }
}

/** One file is open at a time. */
async function* entriesOf(home: Home, folder: number, top: string, signal: AbortSignal): AsyncGenerator<ZipEntry> {
  const bounds: Bounds = { entriesLeft: entriesMax, until: Number.POSITIVE_INFINITY, isCut: false };
  let sinceTurn = 0;
  for await (const visited of walkTree(home, folder, bounds, signal)) {
    const { stats, names } = visited;
    const facts = { modifiedAt: new Date(Number(stats.mtimeMs)), mode: Number(stats.mode) & 0o777 };
    const name = safeName([top, ...names]);
    if (stats.isDirectory()) yield { ...facts, name: `${name}/`, content: undefined };
    else if (stats.isFile() && stats.size <= smallBytes) {
      yield* smallEntry(visited, { ...facts, name });
      sinceTurn += Number(stats.size);
      if (sinceTurn > turnBytes) sinceTurn = await setImmediate(0);
    } else if (stats.isFile()) yield* fileEntry(visited, { ...facts, name }, signal);
  }
  if (bounds.isCut) throw new Error('the folder grew while it was packed');
}

function* smallEntry({ descriptor, stats }: Visited, facts: Omit<ZipEntry, 'content'>): Generator<ZipEntry> {
  const opened = reopenOrMiss(descriptor);
  if (opened === undefined) return;
  try {
    yield { ...facts, content: readHead(opened, Number(stats.size)) };
  } finally {
    close(opened);
  }
}

async function* fileEntry(
  { descriptor, stats }: Visited,
  facts: Omit<ZipEntry, 'content'>,
  signal: AbortSignal,
): AsyncGenerator<ZipEntry> {
  const opened = reopenOrMiss(descriptor);
  if (opened === undefined) return;
  const size = Number(stats.size);
  // A growing file is packed up to the size it had when it was found.
  const bytes = createReadStream('', { fd: opened, start: 0, end: Math.max(size - 1, 0), signal });
  try {
    yield { ...facts, content: { bytes, sizeMax: size } };
  } finally {
    bytes.destroy();
  }
}

function reopenOrMiss(held: number): number | undefined {
  try {
    return reopen(held);
  } catch (error) {
    if (['EACCES', 'EPERM'].includes(errnoOf(error))) return undefined;
    throw error;
  }
}

/**
 * Names that every program unpacks in the right place: nothing that elsewhere means a folder, a drive or a control
 * character.
 */
export function safeName(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\\p{Cc}]/gu, '_').replace(/^([a-z]):/i, '$1_')).join('/');
}
