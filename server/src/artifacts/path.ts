import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';

/**
 * Paths of artifacts: names joined by `/`, relative to the namespace, in Unicode NFC. Two paths are equal if their
 * bytes are, so case counts, as in a workspace. A path is a column and never touches a file system.
 */

const nameMaxBytes = 255;
/** Control characters, line and paragraph separators, and marks that make a name look like another one. */
const forbidden = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const forbiddenAll = new RegExp(forbidden, 'gu');

/**
 * The path in its one stored spelling. Throws `invalid_path`, which names the request's field and never repeats the
 * path.
 */
export function parsePath(given: string, field: string): string {
  const path = given.normalize('NFC');
  const fault = findFault(path);
  if (fault === undefined) return path;
  throw invalidPath(field, fault);
}

/** A folder's path; one trailing slash is accepted. */
export function parseFolder(given: string, field: string): string {
  return parsePath(given.endsWith('/') ? given.slice(0, -1) : given, field);
}

export function invalidPath(field: string, message: string): ApiError {
  return new ApiError('invalid_path', `The path is not valid. ${field}: ${message}`, {
    details: [{ path: field, message }],
  });
}

function findFault(path: string): string | undefined {
  if (!path.isWellFormed() || forbidden.test(path)) return 'Contains a character that is not allowed in a path';
  if (Buffer.byteLength(path) > limits.artifactPathMax) return `Longer than ${limits.artifactPathMax} bytes`;
  for (const name of path.split('/')) {
    if (name === '') return 'Must not begin with a slash or contain two slashes in a row';
    if (name === '.' || name === '..') return 'Leads outside its namespace';
    if (name.trim() !== name) return 'Names must not begin or end with a space';
    if (Buffer.byteLength(name) > nameMaxBytes) return `A name is longer than ${nameMaxBytes} bytes`;
  }
  return undefined;
}

/** A path for a file that came with only a name, whatever it is: repaired rather than refused. */
export function pathOfName(filename: string | undefined): string {
  const last = (filename ?? '').toWellFormed().normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const name = cutName(last.replace(forbiddenAll, '').trim(), nameMaxBytes).trim();
  return name === '' || name === '.' || name === '..' ? 'file' : name;
}

/** A folder name for any text, such as a conversation's title. */
export function folderOfText(text: string): string {
  return pathOfName(text.replace(/[/\\]/g, '-'));
}

export function filenameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The folders above a path, outermost first: `a/b/c` is below `a` and `a/b`. */
export function foldersAbove(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

/** All paths below a folder are in the range from `first` up to, but not including, `end`, by their bytes. */
export function rangeBelow(folder: string): { first: string; end: string } {
  // 0 is the character after the slash.
  return { first: `${folder}/`, end: `${folder}0` };
}

/** The parts before and after the number that a taken name gets: `a/report`, `.pdf`. */
export function splitForNumber(path: string): { stem: string; extension: string } {
  const name = filenameOf(path);
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= 32 ? name.slice(dot) : '';
  const folder = path.slice(0, path.length - name.length);
  const roomInPath = limits.artifactPathMax - Buffer.byteLength(folder);
  const room = Math.min(nameMaxBytes, roomInPath) - Buffer.byteLength(extension) - numberBytes;
  return { stem: folder + cutName(name.slice(0, name.length - extension.length), room), extension };
}

/** ` (10000)` at most. */
const numberBytes = 8;

/** The path in the form that searches compare. */
export function searchText(path: string): string {
  return path.toLowerCase();
}

function cutName(name: string, maxBytes: number): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  let cut = '';
  let bytes = 0;
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    cut += character;
  }
  return cut;
}
