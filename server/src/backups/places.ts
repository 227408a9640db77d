import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { openS3Objects, type S3Objects } from '../artifacts/stores/s3-objects.ts';
import type { Config } from '../config/config.ts';
import { parseS3Location } from '../config/setting-values.ts';
import { makeFolder } from '../platform/make-folder.ts';
import type { Sink } from './archive-writer.ts';
import { BackupError } from './backup-error.ts';

/** Destinations and sources of backups: files, standard output, objects in a bucket. */

export type Target = {
  /** For people, and for `restore`. */
  place: string;
  write: Sink;
  /** The backup is complete and safe when this resolves. */
  commit(): Promise<void>;
  /** Leaves nothing behind. */
  abort(): Promise<void>;
};
type S3Config = Pick<Config, 'awsRegion' | 'awsEndpoint' | 'awsAccessKeyId' | 'awsSecretAccessKey' | 'awsSessionToken'>;

const readBytes = 1024 * 1024;
/** Written under such a name until it is complete. */
const partialMark = '.partial-';

const partialName = /^homeport-\d{8}T\d{6}\.\d{3}Z\.tar(\.enc)?\.partial-[0-9a-f]{8}$/;
/** A running backup writes all the time, so a file that is unchanged for this long is abandoned. */
const abandonedMs = 3_600_000;

/** The name of a backup of that time, in order of time. */
export function backupName(at: Date, isEncrypted: boolean): string {
  const time = at.toISOString().replace(/[-:]/g, '');
  return `homeport-${time}.${isEncrypted ? 'tar.enc' : 'tar'}`;
}

/**
 * Opens `to`: a file, a folder (its name then ends with `/`, or it exists), `-`, or `s3://bucket/key`, where a key that
 * ends with `/` gets `name` appended. Never replaces anything.
 */
export async function openTarget(config: S3Config, to: string, name: string): Promise<Target> {
  if (to === '-') return standardOutput();
  if (/^s3:\/\/[^/]+$/.test(to)) return s3Target(config, `${to}/${name}`);
  if (to.startsWith('s3://')) return s3Target(config, to.endsWith('/') ? to + name : to);
  const isFolder = to.endsWith('/') || (await stat(to).catch(() => undefined))?.isDirectory() === true;
  if (isFolder) await removeAbandoned(resolve(to));
  return fileTarget(resolve(isFolder ? join(to, name) : to));
}

/** Removes what backups left in a folder that were killed while they were written. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!partialName.test(name)) continue;
    const facts = await stat(join(folder, name)).catch(() => undefined);
    if (facts !== undefined && facts.mtimeMs < Date.now() - abandonedMs) await rm(join(folder, name), { force: true });
  }
}

/** The bytes of a backup; each call reads them from the beginning. */
export function openSource(config: S3Config, from: string): { read(): AsyncIterable<Uint8Array>; close(): void } {
  if (from === '-')
    throw new BackupError('A backup is read twice, so it cannot come from standard input. Save it first.');
  if (!from.startsWith('s3://')) {
    return { read: () => readFile(resolve(from)), close: () => undefined };
  }
  const { objects, key } = openObject(config, from);
  return { read: () => readObject(objects, key, from), close: () => objects.close() };
}

async function* readFile(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* createReadStream(file, { highWaterMark: readBytes });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (/^E[A-Z]+$/.test(code)) throw new BackupError(`${file} cannot be read (${code}).`, { cause: error });
    throw error;
  }
}

async function* readObject(objects: S3Objects, key: string, from: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* objects.read(key);
  } catch (error) {
    if (error instanceof Error && error.name === 'NoSuchKey') throw new BackupError(`${from} does not exist.`);
    throw error;
  }
}

function alreadyThere(place: string): BackupError {
  return new BackupError(`${place} exists. A backup replaces nothing: give another name.`);
}

async function fileTarget(file: string): Promise<Target> {
  if ((await stat(file).catch(() => undefined)) !== undefined) {
    throw alreadyThere(file);
  }
  makeFolder(dirname(file), 0o700);
  const draft = join(dirname(file), `${basename(file)}${partialMark}${randomBytes(4).toString('hex')}`);
  const handle = await open(draft, 'wx', 0o600);
  return {
    place: file,
    async write(bytes) {
      for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
    },
    async commit() {
      await handle.sync();
      await handle.close();
      await link(draft, file).then(
        () => rm(draft),
        async (error: unknown) => {
          if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw error;
          await rename(draft, file);
        },
      );
      const folder = await open(dirname(file), 'r');
      await folder.sync().finally(() => folder.close());
    },
    async abort() {
      await handle.close().catch(() => undefined);
      await rm(draft, { force: true });
    },
  };
}

function standardOutput(): Target {
  const out = process.stdout;
  let failure: Error | undefined;
  out.on('error', (error) => {
    failure = error;
  });
  return {
    place: '-',
    async write(bytes) {
      if (failure !== undefined) throw failure;
      // The bytes are the caller's again, so standard output gets its own.
      if (!out.write(Buffer.from(bytes))) await once(out, 'drain');
    },
    commit: async () => undefined,
    abort: async () => undefined,
  };
}

async function s3Target(config: S3Config, to: string): Promise<Target> {
  const { objects, key } = openObject(config, to);
  try {
    if ((await objects.list(key)).some(({ name }) => name === key)) throw alreadyThere(to);
  } catch (error) {
    objects.close();
    throw error;
  }
  const pipe = new PassThrough({ highWaterMark: readBytes });
  // The upload tells of a failure; by itself, the pipe's error would end the process.
  pipe.on('error', () => undefined);
  const written = objects.put(key, pipe);
  written.catch((error: unknown) => pipe.destroy(error instanceof Error ? error : new Error('the upload failed')));
  return {
    place: to,
    async write(bytes) {
      if (pipe.destroyed) await written;
      if (!pipe.write(Buffer.from(bytes))) await Promise.race([once(pipe, 'drain'), written]);
    },
    async commit() {
      pipe.end();
      await written.finally(() => objects.close());
    },
    async abort() {
      pipe.destroy(new Error('the backup was not finished'));
      await written.catch(() => undefined);
      objects.close();
    },
  };
}

/** Removes a backup; one that is gone is no error. */
export async function removeBackup(config: S3Config, place: string): Promise<void> {
  if (!place.startsWith('s3://')) return rm(place, { force: true });
  const { objects, key } = openObject(config, place);
  await objects.remove(key).finally(() => objects.close());
}

/** The object at `s3://bucket/some/key`; throws if the bucket cannot be listed. */
export async function findObject(config: S3Config, place: string): Promise<{ size: number } | undefined> {
  const { objects, key } = openObject(config, place);
  const found = await objects.list(key).finally(() => objects.close());
  return found.find(({ name }) => name === key);
}

/** The bucket of `s3://bucket/some/key`, and the key in it. */
function openObject(config: S3Config, address: string): { objects: S3Objects; key: string } {
  const location = parseS3Location(address);
  const { awsAccessKeyId, awsSecretAccessKey } = config;
  if (location === undefined) throw new BackupError(`${address} is not an address like s3://bucket/folder/name.`);
  if (awsAccessKeyId === undefined || awsSecretAccessKey === undefined) {
    throw new BackupError('A bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  }
  const session = config.awsSessionToken === undefined ? {} : { sessionToken: config.awsSessionToken };
  const objects = openS3Objects({
    bucket: location.bucket,
    prefix: '',
    region: config.awsRegion,
    endpoint: config.awsEndpoint,
    credentials: { accessKeyId: awsAccessKeyId, secretAccessKey: awsSecretAccessKey, ...session },
  });
  return { objects, key: location.prefix };
}
