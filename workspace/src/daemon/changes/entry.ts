/**
 * The entry at a path. `content` identifies a file's bytes: their SHA-256 if the store keeps them, otherwise `?` and
 * the file's stamp. `skipped` states nothing about the path or anything below it.
 */
export type Entry =
  | { type: 'file'; mode: number; size: number; content: string }
  | { type: 'symlink'; target: string }
  /** `closed`: nothing is known of what is in it. */
  | { type: 'directory'; mode: number; closed?: true }
  | { type: 'skipped'; reason: SkipReason };
export type SkipReason = 'ignored' | 'unreadable' | 'too_many' | 'time';
/** Null: there is nothing. */
export type State = Exclude<Entry, { type: 'skipped' }> | null;

/** Whether two states are the same to a reader of the files. */
export function isSame(a: Entry | null | undefined, b: Entry | null | undefined): boolean {
  if (!a || !b) return !a && !b;
  if (a.type === 'file') {
    return b.type === 'file' && a.mode === b.mode && a.size === b.size && a.content === b.content;
  }
  if (a.type === 'symlink') return b.type === 'symlink' && a.target === b.target;
  if (a.type === 'directory') return b.type === 'directory' && a.mode === b.mode;
  return b.type === 'skipped';
}

/** Whether the store has the bytes. */
export function isKept(content: string): boolean {
  return !content.startsWith('?');
}

/** The folders that lead to a path, the outermost first. */
export function ancestorsOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_name, index) => names.slice(0, index + 1).join('/'));
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`);
}

/** Whether a path is the other one, below it, or leads to it. */
export function isOnTheWay(path: string, other: string): boolean {
  return path === other || isBelow(path, other) || (path !== '' && isBelow(other, path));
}

/** Whether nothing is claimed about a path: it, or a folder that leads to it, was not looked at. */
export function isUnknown(entries: ReadonlyMap<string, Entry>, path: string): boolean {
  if (entries.get(path)?.type === 'skipped' || entries.get('')?.type === 'skipped') return true;
  return ancestorsOf(path).some((folder) => {
    const entry = entries.get(folder);
    return entry?.type === 'skipped' || (entry?.type === 'directory' && entry.closed === true);
  });
}

/** Reads an entry from the daemon's own file, which anybody in the workspace can write. */
export function parseEntry(value: unknown): Entry | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, mode, size, content, target, reason, closed } = value as Record<string, unknown>;
  if (type === 'symlink') return typeof target === 'string' ? { type, target } : undefined;
  if (type === 'skipped') return { type, reason: parseReason(reason) };
  if (typeof mode !== 'number' || !Number.isInteger(mode) || mode < 0 || mode > 0o7777) return undefined;
  if (type === 'directory') return { type, mode, ...(closed === true ? { closed } : {}) };
  if (type !== 'file' || typeof content !== 'string' || !/^(?:[0-9a-f]{64}|\?.{1,200})$/.test(content))
    return undefined;
  return typeof size === 'number' && Number.isSafeInteger(size) && size >= 0
    ? { type, mode, size, content }
    : undefined;
}

function parseReason(value: unknown): SkipReason {
  return value === 'ignored' || value === 'too_many' || value === 'time' ? value : 'unreadable';
}
