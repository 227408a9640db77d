import type { WorkspaceEntry } from '@homeport/contracts/workspace/daemon';
import { clock } from '../../clock.ts';
import { compileGlob } from '../file-system/glob.ts';
import { childOf, type HomePath, showPath } from '../file-system/home-path.ts';
import { close } from './descriptors.ts';
import { type GrepLine, runGrep } from './grep.ts';
import { entryOf, findFolder, neitherFileNorFolder } from './read.ts';
import { type Bounds, walkTree } from './tree.ts';
import { find, type Home } from './walk.ts';

const entriesSeenMax = 500_000;
const timeMs = 20_000;

export type Match = { path: string; line: number; text: string };

/**
 * Files, folders and links below a folder whose path matches a glob, sorted by path. `truncated`: there can be more.
 */
export async function findEntries(
  home: Home,
  path: HomePath,
  { glob, limit }: { glob: string | undefined; limit: number },
  signal: AbortSignal,
): Promise<{ entries: WorkspaceEntry[]; truncated: boolean }> {
  const fits = glob === undefined ? () => true : compileGlob(glob);
  const folder = findFolder(home, path);
  const entries: WorkspaceEntry[] = [];
  const bounds: Bounds = { entriesLeft: entriesSeenMax, until: clock.elapsed() + timeMs, isCut: false };
  try {
    for await (const { stats, names } of walkTree(home, folder, bounds, signal)) {
      // The stored versions of changed files would list every file twice.
      if (names.includes('.homeport-changes') || names.includes('homeport-venv')) continue;
      const entry = fits(names) ? entryOf(names.reduce(childOf, path), stats) : undefined;
      if (entry === undefined) continue;
      if (entries.length === limit) bounds.isCut = true;
      else entries.push(entry);
    }
  } finally {
    close(folder);
  }
  entries.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { entries, truncated: bounds.isCut };
}

/**
 * Lines that match a regular expression in ripgrep's syntax, in a file or below a folder, without binary files and
 * links. Throws `invalid_request` for an invalid pattern.
 */
export async function searchText(
  home: Home,
  path: HomePath,
  { pattern, glob, limit }: { pattern: string; glob: string | undefined; limit: number },
  signal: AbortSignal,
): Promise<{ matches: Match[]; truncated: boolean }> {
  const fits = glob === undefined ? () => true : compileGlob(glob);
  const found = find(home, path);
  try {
    const isFile = found.stats.isFile();
    if (!isFile && !found.stats.isDirectory()) throw neitherFileNorFolder();
    const matches: Match[] = [];
    const take = ({ file, line, text }: GrepLine): boolean => {
      const names = isFile ? [] : file.split('/').slice(1);
      if (!isFile && !fits(names)) return true;
      if (matches.length === limit) return false;
      matches.push({ path: showPath(names.reduce(childOf, path)), line, text });
      return true;
    };
    const isCut = await runGrep({ held: found.descriptor, isFile, pattern, timeMs, take, signal });
    return { matches, truncated: isCut };
  } finally {
    close(found.descriptor);
  }
}
