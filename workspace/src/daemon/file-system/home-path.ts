import { DaemonError } from '../daemon-error.ts';

/** A path below the home in normal form; no segments mean the home itself. */
export type HomePath = {
  segments: readonly string[];
  /** It ended with a slash, so it must be a folder. */
  isFolder: boolean;
};

export const pathBytesMax = 4095;
const nameBytesMax = 255;
/** Every folder on the way is kept open while a path is walked. */
export const depthMax = 512;

/**
 * Parses a path as people write it: `~`, `~/x`, `<home>/x`, or relative to the home. Does not touch the file system.
 * Throws `invalid_path` for a path that is outside the home, contains `..`, or is malformed.
 */
export function parsePath(text: string, home: string): HomePath {
  if (!text.isWellFormed() || text.includes('\0')) throw invalid('The path contains a character that is not allowed');
  if (Buffer.byteLength(text) > pathBytesMax) throw invalid(`The path is longer than ${pathBytesMax} bytes`);
  const segments = splitSegments(belowHome(text, home));
  if (segments.includes('..')) throw invalid('A path must not contain "..": write it relative to the home folder');
  checkSegments(segments);
  return { segments, isFolder: /\/\.?$/.test(text) };
}

/** The path of a folder's child. */
export function childOf(folder: HomePath, name: string): HomePath {
  return { segments: [...folder.segments, name], isFolder: false };
}

/** `~` or `~/x`, as the daemon reports paths. */
export function showPath(path: HomePath): string {
  return ['~', ...path.segments].join('/');
}

/** The last name; `~` for the home. */
export function nameOf(path: HomePath): string {
  return path.segments.at(-1) ?? '~';
}

/** The names in part of a path, without `.` and empty ones. */
export function splitSegments(text: string): string[] {
  return text.split('/').filter((segment) => segment !== '' && segment !== '.');
}

/** The part of an absolute path after the home; undefined if it is not below it. */
export function relativeToHome(text: string, home: string): string | undefined {
  if (text === home) return '';
  return text.startsWith(`${home}/`) ? text.slice(home.length + 1) : undefined;
}

function checkSegments(segments: readonly string[]): void {
  if (segments.length > depthMax) throw tooDeep();
  if (segments.some((segment) => Buffer.byteLength(segment) > nameBytesMax)) {
    throw invalid(`A name in the path is longer than ${nameBytesMax} bytes`);
  }
}

export function tooDeep(): DaemonError {
  return invalid(`The path goes through more than ${depthMax} folders`);
}

export function invalid(message: string): DaemonError {
  return new DaemonError('invalid_path', message);
}

function belowHome(text: string, home: string): string {
  if (text === '~' || text.startsWith('~/')) return text.slice(1);
  if (text.startsWith('~'))
    throw invalid('`~` alone stands for the home; a name that begins with it is written ~/~name');
  if (!text.startsWith('/')) return text;
  const below = relativeToHome(text, home);
  if (below === undefined) throw invalid('The path lies outside the home folder');
  return below;
}
