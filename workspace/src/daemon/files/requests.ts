import type { BigIntStats } from 'node:fs';
import { type Changes, changesOf } from '../changes/changes.ts';
import { isTurnId } from '../changes/records.ts';
import { DaemonError } from '../daemon-error.ts';
import { type HomePath, parsePath } from '../file-system/home-path.ts';
import { refusalOf } from '../file-system/system-errors.ts';
import { type Exchange, readJson, sendJson } from '../http.ts';
import { type HomeSpace, spaceOf } from '../space/home-space.ts';
import type { Daemon } from '../state.ts';
import { sendArchive } from './archive.ts';
import { sendContent } from './content.ts';
import { close } from './descriptors.ts';
import { editFile, writeText } from './edit.ts';
import { movePath } from './move.ts';
import type { OnConflict } from './publish.ts';
import { listOrPreview, statPath } from './read.ts';
import { ReadVersions } from './read-versions.ts';
import { removeLeftovers, removePath } from './remove.ts';
import { findEntries, searchText } from './search.ts';
import type { Edit } from './text-edits.ts';
import { find, type Home, openHome, resolveLinks } from './walk.ts';
import { makeFolder, writeFile } from './write.ts';

const bodyBytesMax = 8 * 1024 * 1024;
/** A text of 4 million characters, each escaped. */
const textBodyBytesMax = 26 * 1024 * 1024;
const editsMax = 100;

type Answer = (home: Home, exchange: Exchange, changes: Changes, space: HomeSpace) => Promise<void> | void;

const answers: Record<string, Record<string, Answer>> = {
  '': { GET: getFiles, DELETE: deleteFile },
  '/stat': { GET: getStat },
  '/content': { GET: getContent, HEAD: getContent, PUT: putContent },
  '/archive': { GET: getArchive, HEAD: getArchive },
  '/edit': { POST: postEdit },
  '/text': { POST: postText },
  '/folder': { POST: postFolder },
  '/move': { POST: postMove },
  '/find': { POST: postFind },
  '/search': { POST: postSearch },
};
const transfers = new Set(['/content', '/archive']);

const homes = new WeakMap<Daemon, Home>();
const versions = new ReadVersions();

/** Answers everything below /v1/files (contracts/src/workspace/daemon.ts). */
export async function handleFiles(exchange: Exchange, daemon: Daemon): Promise<void> {
  const name = exchange.pathname.slice('/v1/files'.length);
  const methods = Object.hasOwn(answers, name) ? answers[name] : undefined;
  if (methods === undefined) throw new DaemonError('not_found', 'No such endpoint');
  const answer = Object.hasOwn(methods, exchange.method) ? methods[exchange.method] : undefined;
  if (answer === undefined) {
    const allow = Object.keys(methods).join(', ');
    throw new DaemonError('method_not_allowed', `${exchange.method} is not allowed here`, { allow });
  }
  const end = transfers.has(name) ? daemon.activity.begin('transfers') : () => undefined;
  try {
    await answer(homeOf(daemon), exchange, changesOf(daemon), spaceOf(daemon));
  } catch (error) {
    // A reader that disconnected is not a failure.
    if (!exchange.signal.aborted) throw refusalOf(error);
  } finally {
    end();
  }
}

/** Opened when files are first requested, and kept open. */
function homeOf(daemon: Daemon): Home {
  const known = homes.get(daemon);
  if (known !== undefined) return known;
  const home = openHome(daemon.config.home);
  homes.set(daemon, home);
  void removeLeftovers(home);
  return home;
}

function getStat(home: Home, exchange: Exchange): void {
  sendJson(exchange, 200, { entry: statPath(home, pathOf(home, exchange)) });
}

async function getFiles(home: Home, exchange: Exchange): Promise<void> {
  const query = readQuery(exchange);
  const path = parsePath(query.get('path') ?? '', home.path);
  const page = { limit: readLimit(query.get('limit'), 100, 1000), cursor: query.get('cursor') };
  sendJson(exchange, 200, await listOrPreview(home, path, page, exchange.signal));
}

function getContent(home: Home, exchange: Exchange): Promise<void> {
  const query = readQuery(exchange);
  const path = parsePath(required(query.get('path')), home.path);
  const reader = readReader(query.get('reader'));
  const resolved = reader === undefined ? path : resolveLinks(home, path);
  return sendContent(home, path, exchange, ({ stats }) => versions.remember(reader, resolved, stats));
}

function getArchive(home: Home, exchange: Exchange): Promise<void> {
  return sendArchive(home, pathOf(home, exchange), exchange);
}

async function putContent(home: Home, exchange: Exchange, changes: Changes, space: HomeSpace): Promise<void> {
  const query = readQuery(exchange);
  const path = parsePath(required(query.get('path')), home.path);
  const onConflict = readOnConflict(query.get('onConflict'));
  const announced = query.get('size') ?? exchange.request.headers['content-length'];
  const size = announced === undefined ? undefined : Number(announced);
  if (size !== undefined && (!Number.isSafeInteger(size) || size < 0)) throw fault('size is no number of bytes');
  const mode = readMode(query.get('mode'));
  await space.assertRoom(size ?? 0);
  const write = async () => {
    const entry = await writeFile(home, path, { bytes: exchange.request, size, onConflict, mode, space });
    return { value: entry, paths: [keyOf(entry.path)] };
  };
  sendJson(exchange, 201, { entry: await changes.around(readTurn(query.get('turn')), write, [keyIn(path)]) });
}

async function postEdit(home: Home, exchange: Exchange, changes: Changes, space: HomeSpace): Promise<void> {
  const body = await readJson(exchange, bodyBytesMax);
  const [path, edits] = [resolveLinks(home, pathIn(home, body, 'path')), readEdits(body.edits)];
  const reader = readReader(body.reader);
  await space.assertRoom(0);
  const edit = async () => {
    const isKnown = versions.isCurrent(reader, path, statOfPath(home, path));
    const value = await editFile(home, path, edits);
    if (isKnown) versions.remember(reader, path, statOfPath(home, path));
    return { value, paths: [keyOf(value.entry.path)] };
  };
  sendJson(exchange, 200, await changes.around(readTurn(body.turn), edit, [keyIn(path)]));
}

async function postText(home: Home, exchange: Exchange, changes: Changes, space: HomeSpace): Promise<void> {
  const body = await readJson(exchange, textBodyBytesMax);
  const path = resolveLinks(home, pathIn(home, body, 'path'));
  const written = { text: text(body, 'text'), reader: readReader(body.reader), versions, space };
  await space.assertRoom(written.text.length);
  const write = async () => {
    const entry = await writeText(home, path, written);
    versions.remember(written.reader, path, statOfPath(home, path));
    return { value: entry, paths: [keyOf(entry.path)] };
  };
  sendJson(exchange, 200, { entry: await changes.around(readTurn(body.turn), write, [keyIn(path)]) });
}

async function postFolder(home: Home, exchange: Exchange, changes: Changes, space: HomeSpace): Promise<void> {
  const body = await readJson(exchange, bodyBytesMax);
  const path = pathIn(home, body, 'path');
  await space.assertRoom(0);
  const make = () => ({ value: makeFolder(home, path) });
  sendJson(exchange, 201, { entry: await changes.around(undefined, make, [keyIn(path)]) });
}

async function postMove(home: Home, exchange: Exchange, changes: Changes): Promise<void> {
  const body = await readJson(exchange, bodyBytesMax);
  const [from, to] = [pathIn(home, body, 'from'), pathIn(home, body, 'to')];
  const onConflict = readOnConflict(body.onConflict);
  const move = () => {
    const entry = movePath(home, from, to, onConflict);
    return { value: entry, paths: [keyOf(entry.path)] };
  };
  sendJson(exchange, 200, { entry: await changes.around(undefined, move, [keyIn(from), keyIn(to)]) });
}

async function deleteFile(home: Home, exchange: Exchange, changes: Changes, space: HomeSpace): Promise<void> {
  const path = pathOf(home, exchange);
  await changes.around(undefined, async () => ({ value: await removePath(home, path) }), [keyIn(path)]);
  if (space.full !== undefined) void space.look();
  sendJson(exchange, 200, { ok: true });
}

async function postFind(home: Home, exchange: Exchange): Promise<void> {
  const body = await readJson(exchange, bodyBytesMax);
  const options = { glob: optionalText(body, 'glob'), limit: readLimit(body.limit, 200, 1000) };
  const path = parsePath(optionalText(body, 'path') ?? '', home.path);
  sendJson(exchange, 200, await findEntries(home, path, options, exchange.signal));
}

async function postSearch(home: Home, exchange: Exchange): Promise<void> {
  const body = await readJson(exchange, bodyBytesMax);
  const pattern = text(body, 'pattern');
  if (pattern === '' || pattern.length > 1000) throw fault('pattern has 1 to 1000 characters');
  const options = { pattern, glob: optionalText(body, 'glob'), limit: readLimit(body.limit, 100, 1000) };
  const path = parsePath(optionalText(body, 'path') ?? '', home.path);
  sendJson(exchange, 200, await searchText(home, path, options, exchange.signal));
}

/** Decoded strictly and once: invalid UTF-8 is refused, not replaced. */
function readQuery({ request }: Exchange): Map<string, string> {
  const [, search = ''] = /\?(.*)$/s.exec(request.url ?? '') ?? [];
  const pairs = search.split('&').map((pair) => {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    return [decode(name), decode(value)] as const;
  });
  return new Map(pairs);
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    throw fault('The query is not percent-encoded UTF-8');
  }
}

function pathOf(home: Home, exchange: Exchange): HomePath {
  return parsePath(required(readQuery(exchange).get('path')), home.path);
}

/** How changes name a path. */
function keyIn({ segments }: HomePath): string {
  return segments.join('/');
}

/** The same for a path as it is shown. */
function keyOf(shown: string): string {
  return shown.slice(2);
}

function readTurn(value: unknown): string | undefined {
  if (value === undefined || isTurnId(value)) return value;
  throw fault('turn is 1 to 128 of A-Z a-z 0-9 _ -');
}

function statOfPath(home: Home, path: HomePath): BigIntStats {
  const { descriptor, stats } = find(home, path);
  close(descriptor);
  return stats;
}

/** The id of a conversation or another reader. */
function readReader(value: unknown): string | undefined {
  if (value === undefined || isTurnId(value)) return value;
  throw fault('reader is 1 to 128 of A-Z a-z 0-9 _ -');
}

function required(path: string | undefined): string {
  if (path === undefined || path === '') throw fault('path is needed');
  return path;
}

function pathIn(home: Home, body: Record<string, unknown>, name: string): HomePath {
  return parsePath(required(text(body, name)), home.path);
}

function text(body: Record<string, unknown>, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) throw fault(`${name} is a text`);
  return value;
}

function optionalText(body: Record<string, unknown>, name: string): string | undefined {
  return body[name] === undefined ? undefined : text(body, name);
}

function readLimit(value: unknown, usual: number, max: number): number {
  if (value === undefined) return usual;
  const limit = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value;
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw fault(`limit is a number from 1 to ${max}`);
}

/** Mode of a new file: read-only, optionally executable. */
function readMode(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (given !== '444' && given !== '555') throw fault('mode is 444 or 555');
  return Number.parseInt(given, 8);
}

function readOnConflict(value: unknown): OnConflict {
  if (value === undefined) return 'fail';
  if (value === 'rename' || value === 'replace' || value === 'fail') return value;
  throw fault('onConflict is rename, replace or fail');
}

function readEdits(value: unknown): Edit[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > editsMax)
    throw fault(`edits holds 1 to ${editsMax}`);
  return value.map((edit: unknown) => {
    if (typeof edit !== 'object' || edit === null) throw fault('an edit is {oldText, newText, all?}');
    const fields = { ...edit } as Record<string, unknown>;
    const oldText = text(fields, 'oldText');
    if (oldText === '') throw fault('oldText is not empty');
    return { oldText, newText: text(fields, 'newText'), all: fields.all === true };
  });
}

function fault(message: string): DaemonError {
  return new DaemonError('invalid_request', message);
}
