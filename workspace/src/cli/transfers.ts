import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, rmSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { artifactsPath, findArtifact, lastName, pathOf, readArtifact, scopeHeader, targetOf } from './artifacts.ts';
import type { Call } from './call.ts';
import { ask, broken, send } from './control-plane.ts';
import { exitCodes, Failure, reasonOf, usage } from './failure.ts';
import { humanSize, print, printable } from './output.ts';
import { beginFile, endFile } from './unfinished.ts';

/** `homeport artifacts get <path or id> [file | -]` */
export async function get(call: Call): Promise<void> {
  const [operand = '', second] = call.operands;
  const output = call.flags.text('output');
  if (output !== undefined && second !== undefined) throw usage('Name the file only once');
  const given = output ?? second;
  const place = given === '-' ? undefined : await placeFor(call, operand, given);
  const request = { path: `${artifactsPath}/download`, query: targetOf(operand), headers: scopeHeader(call) };
  const answer = await send(call.config, request, call.signal);
  if (place === undefined) {
    await receive(answer, process.stdout, call.signal);
    return;
  }
  const size = await saveTo(place, answer, call.signal);
  if (call.flags.isSet('json')) await print(`${JSON.stringify({ file: place.path, size })}\n`);
  else await print(`Saved ${printable(place.path)} (${humanSize(size)})\n`);
}

/**
 * Target of a download: written through a temporary file beside it, unless it is not a regular file, such as /dev/null.
 */
type Place = { path: string; isDirect: boolean };

async function placeFor(call: Call, operand: string, given: string | undefined): Promise<Place> {
  const present = given === undefined ? undefined : await stat(given).catch(() => undefined);
  if (given === undefined || given.endsWith('/') || present?.isDirectory()) {
    const target = targetOf(operand);
    const name = 'id' in target ? (await findArtifact(call, operand)).filename : lastName(target.path);
    // A name from the server is no reason to write anywhere else.
    if (name === '' || name === '.' || name === '..' || basename(name) !== name) throw usage('Missing file name');
    const path = given === undefined ? name : join(given, name);
    const taken = await stat(path).catch(() => undefined);
    if (taken === undefined || call.flags.isSet('force')) return { path, isDirect: false };
    throw new Failure(exitCodes.conflict, `${printable(path)} is there already`, {
      hint: 'Add --force, or choose another name with -o.',
    });
  }
  return { path: given, isDirect: present !== undefined && !present.isFile() };
}

async function saveTo({ path, isDirect }: Place, answer: IncomingMessage, signal: AbortSignal): Promise<number> {
  // A link leads to the file that is replaced.
  const target = isDirect ? path : await realpath(path).catch(() => path);
  const file = isDirect
    ? target
    : join(dirname(target), `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`);
  if (!isDirect) beginFile(file);
  try {
    const handle = await open(file, isDirect ? 'w' : 'wx', 0o666);
    const size = await receive(answer, createWriteStream('', { fd: handle }), signal);
    if (!isDirect) await rename(file, target);
    endFile(file);
    return size;
  } catch (error) {
    answer.destroy();
    if (!isDirect) rmSync(file, { force: true });
    endFile(file);
    if (error instanceof Failure || signal.aborted) throw error;
    throw new Failure(exitCodes.failure, `Cannot write ${printable(path)}: ${reasonOf(error)}`);
  }
}

/** All bytes of a response, which must match the announced size and the hash in its ETag. */
async function receive(answer: IncomingMessage, to: NodeJS.WritableStream, signal: AbortSignal): Promise<number> {
  const hash = createHash('sha256');
  let size = 0;
  const read = async function* () {
    try {
      for await (const chunk of answer) {
        size += chunk.length;
        hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : broken(error);
    }
  };
  await pipeline(read, to, { end: to !== process.stdout });
  // stdout stays open: closing it would lose what it still holds.
  if (to === process.stdout) await print('');
  const declared = answer.headers['content-length'];
  const tag = /^"([0-9a-f]{64})"$/.exec(answer.headers.etag ?? '')?.[1];
  const isWhole = answer.complete && (declared === undefined || Number(declared) === size);
  if (isWhole && (tag === undefined || tag === hash.digest('hex'))) return size;
  throw new Failure(exitCodes.unreachable, 'The download is incomplete', { hint: 'Try again.' });
}

const conflicts = ['rename', 'replace', 'fail'];

/** `homeport artifacts put <file | -> [path]` */
export async function put(call: Call): Promise<void> {
  const [file = '', given] = call.operands;
  const onConflict = call.flags.text('on-conflict');
  if (onConflict !== undefined && !conflicts.includes(onConflict)) {
    throw usage(`--on-conflict takes one of ${conflicts.join(', ')}`);
  }
  const path = destination(file, given);
  const headers = scopeHeader(call);
  const upload = file === '-' ? { bytes: process.stdin as Readable, size: undefined } : await openFile(file);
  const query = { path, onConflict, mediaType: call.flags.text('type') };
  const request = { method: 'PUT', path: artifactsPath, query, headers, upload } as const;
  try {
    const answer = (await ask(call.config, request, call.signal)) as { artifact?: unknown } | null;
    const artifact = readArtifact(answer?.artifact);
    if (call.flags.isSet('json')) return await print(`${JSON.stringify(artifact)}\n`);
    await print(`Saved as ${printable(artifact.path)} (${humanSize(artifact.size)}, id ${printable(artifact.id)})\n`);
  } finally {
    upload.bytes.destroy();
  }
}

function destination(file: string, given: string | undefined): string {
  if (given !== undefined && !given.endsWith('/')) return pathOf(given);
  if (file === '-') throw usage('Missing path: stdin has no name', 'homeport artifacts put - <path>');
  return pathOf(given ?? '') + basename(file);
}

async function openFile(file: string): Promise<{ bytes: Readable; size: number | undefined }> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    const facts = await handle.stat();
    if (facts.isDirectory())
      throw usage(`${printable(file)} is a folder`, 'Upload its files one by one, or an archive of it.');
    // A file that claims to be empty may not be, such as /proc/version.
    if (!facts.isFile() || facts.size === 0) return { bytes: handle.createReadStream(), size: undefined };
    // A growing file is sent at its current size.
    const bytes = handle.createReadStream({ start: 0, end: facts.size - 1, highWaterMark: 256 * 1024 });
    return { bytes: whole(bytes, facts.size), size: facts.size };
  } catch (error) {
    await handle?.close();
    if (error instanceof Failure) throw error;
    throw new Failure(exitCodes.failure, `Cannot read ${printable(file)}: ${reasonOf(error)}`);
  }
}

/** Fails if there are fewer bytes than declared: a request that ends early must not become a file. */
function whole(bytes: Readable, size: number): Readable {
  let left = size;
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      done(null, chunk);
    },
    flush(done) {
      done(left === 0 ? null : new Failure(exitCodes.failure, 'The file shrank while it was being read'));
    },
  });
  pipeline(bytes, checked).catch((error: Error) => checked.destroy(error));
  return checked;
}
