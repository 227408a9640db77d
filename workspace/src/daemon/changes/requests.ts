import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { LineCounts } from '@homeport/contracts/text/text-diff';
import { DaemonError } from '../daemon-error.ts';
import { parsePath } from '../file-system/home-path.ts';
import { type Exchange, readJson, sendJson } from '../http.ts';
import type { Daemon } from '../state.ts';
import { changesOf, type ListedChange } from './changes.ts';
import { isKept, isSame, type State } from './entry.ts';
import { countLines } from './line-counts.ts';
import { isTurnId } from './records.ts';

const bodyBytesMax = 4 * 1024 * 1024;
const pathsMax = 1_000;
const turnsMax = 1_000;
const filesMax = 5_000;
/** So that the answer stays small enough for its reader. */
const listCharsMax = 2 * 1024 * 1024;

/** Answers everything below /v1/changes (contracts/src/workspace/daemon.ts). */
export async function handleChanges(exchange: Exchange, daemon: Daemon): Promise<void> {
  const [, turn, verb] = /^\/v1\/changes(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(exchange.pathname) ?? [];
  const changes = changesOf(daemon);
  const { method } = exchange;
  if (turn === undefined && method === 'GET') return sendJson(exchange, 200, { turns: await changes.turns() });
  if (turn === 'forget' && verb === undefined && method === 'POST') {
    await changes.forget(readTurns((await readJson(exchange, bodyBytesMax)).turns));
    return sendJson(exchange, 200, { ok: true });
  }
  if (!isTurnId(turn)) throw new DaemonError('not_found', 'No such endpoint');
  if (verb === undefined && method === 'GET') {
    const listed = await changes.list(turn);
    const visible = visibleOf(listed?.files ?? []);
    const counts = await countLines(visible, (content) => changes.keptAt(content));
    return sendJson(exchange, 200, shown(visible, counts, listed?.left ?? new Map()));
  }
  if ((verb === 'undo' || verb === 'redo') && method === 'POST') {
    const { paths, force } = await readJson(exchange, bodyBytesMax);
    const wanted = paths === undefined ? undefined : readPaths(paths, daemon.config.home);
    const applied = await changes.apply(turn, verb, wanted, force === true);
    if (applied === undefined) throw nothingKnown();
    const conflicts = applied.conflicts.slice(0, pathsMax).map(showPath);
    const skipped = applied.skipped.slice(0, pathsMax).map(({ path, reason }) => ({ path: showPath(path), reason }));
    return sendJson(exchange, 200, { applied: applied.applied, conflicts, skipped });
  }
  if (verb === 'content' && method === 'GET') return sendContent(exchange, daemon, turn);
  throw new DaemonError('not_found', 'No such endpoint');
}

async function sendContent(exchange: Exchange, daemon: Daemon, turn: string): Promise<void> {
  const [path] = readPaths([exchange.query.get('path')], daemon.config.home);
  const side = exchange.query.get('side') === 'before' ? 'before' : 'after';
  const file = await changesOf(daemon).contentOf(turn, path ?? '', side);
  const size = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })?.size;
  if (file === undefined || size === undefined) throw new DaemonError('not_found', 'This version was not kept');
  const end = daemon.activity.begin('transfers');
  try {
    exchange.response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
    await pipeline(createReadStream(file), exchange.response, { signal: exchange.signal });
  } catch {
    exchange.response.destroy();
  } finally {
    end();
  }
}

/** Created and removed folders are listed only if no listed path is inside them. */
function visibleOf(files: readonly ListedChange[]): ListedChange[] {
  const reported = new Set<string>();
  for (const { path } of files) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) reported.add(path.slice(0, at));
  }
  return files
    .filter(({ path, before, after }) => {
      const isMade = isFolder(before) && isFolder(after) && (before === null || after === null);
      return !isMade || !reported.has(path);
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function shown(
  visible: readonly ListedChange[],
  counts: ReadonlyMap<string, LineCounts>,
  left: ReadonlyMap<string, string>,
) {
  const list: unknown[] = [];
  let chars = 0;
  for (const change of visible) {
    const entry = entryOf(change, counts.get(change.path));
    chars += change.path.length + 300;
    if (list.length >= filesMax || chars > listCharsMax) break;
    list.push(entry);
  }
  const leftOut = [...left].map(([path, reason]) => ({ path: showPath(path), reason }));
  return { files: list, left: leftOut, truncated: list.length < visible.length };
}

function entryOf({ path, before, after, isMixed, now }: ListedChange, lines: LineCounts | undefined) {
  const kinds = { before: sideOf(before), after: sideOf(after) };
  const state = isSame(now, after) ? 'applied' : isSame(now, before) ? 'undone' : 'changed';
  const change = before === null ? 'added' : after === null ? 'deleted' : 'modified';
  return { path: showPath(path), change, ...kinds, ...(lines && { lines }), state, mixed: isMixed };
}

function sideOf(state: State) {
  if (state === null) return null;
  if (state.type === 'symlink') return { type: state.type, target: state.target.slice(0, 1000) };
  if (state.type === 'directory') return { type: state.type, mode: state.mode };
  return { type: state.type, mode: state.mode, size: state.size, kept: isKept(state.content) };
}

function isFolder(state: State): boolean {
  return state === null || state.type === 'directory';
}

function showPath(path: string): string {
  return path === '' ? '~' : `~/${path}`;
}

function readPaths(value: unknown, home: string): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > pathsMax) {
    throw new DaemonError('invalid_request', `paths holds 1 to ${pathsMax} paths`);
  }
  return value.map((path: unknown) => {
    if (typeof path !== 'string' || path === '') throw new DaemonError('invalid_request', 'a path is a text');
    return parsePath(path, home).segments.join('/');
  });
}

function readTurns(value: unknown): string[] {
  if (!Array.isArray(value) || value.length > turnsMax || !value.every(isTurnId)) {
    throw new DaemonError('invalid_request', `turns holds up to ${turnsMax} ids`);
  }
  return value;
}

function nothingKnown(): DaemonError {
  return new DaemonError('not_found', 'Nothing is kept of what this answer changed');
}
