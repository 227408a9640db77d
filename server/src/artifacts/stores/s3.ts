import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { openOperatorConnections } from '../../egress/operator-connections.ts';
import { type BlobStore, markMaxBytes, markName, type StoredBlob } from '../blob-store.ts';
import { isStorageFull, storageFull } from '../storage-full.ts';

export type S3Settings = {
  bucket: string;
  /** Without leading or trailing slashes; empty for the root. */
  prefix: string;
  region: string;
  /** Undefined: AWS itself. */
  endpoint: string | undefined;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
};

/** S3 accepts parts of 5 MiB or more, at most 10,000: the size doubles with every thousand. */
const firstPartBytes = 8 * 1024 * 1024;
const partsPerSize = 1000;
const connectTimeoutMs = 10_000;
const silenceMs = 60_000;
const maxSockets = 50;
const removeBatch = 1000;
const keyShape = /^[0-9a-f-]{36}$/;

/**
 * Objects `<prefix>/<uuid>` in a bucket of any S3-compatible server. An object appears only when complete: small ones
 * are put in one request, others by a multipart upload. The SDK is loaded on first use.
 */
export function createS3Store(settings: S3Settings): BlobStore {
  const connections = openOperatorConnections(maxSockets);
  const before = settings.prefix === '' ? '' : `${settings.prefix}/`;
  const bucket = settings.bucket;
  const place = (key: string) => {
    if (!keyShape.test(key)) throw new Error('not a key of this store');
    return { Bucket: bucket, Key: before + key };
  };
  const mark = { Bucket: bucket, Key: before + markName };
  let loaded: Promise<Loaded> | undefined;
  const load = (): Promise<Loaded> => (loaded ??= loadSdk(settings, connections));
  return {
    async prepare() {
      const { client, sdk } = await load();
      await client.send(new sdk.HeadBucketCommand({ Bucket: bucket }));
    },
    async put(bytes) {
      const key = randomUUID();
      try {
        return { key, ...(await upload(await load(), place(key), bytes)) };
      } catch (error) {
        throw isStorageFull(error) ? storageFull(error) : error;
      }
    },
    async read(key, { start, end }, take) {
      const { client, sdk } = await load();
      const answer = await client.send(new sdk.GetObjectCommand({ ...place(key), Range: `bytes=${start}-${end}` }));
      if (!(answer.Body instanceof Readable)) throw new Error('the object store answered without a body');
      for await (const chunk of answer.Body) await take(chunk);
    },
    async remove(keys) {
      const { client, sdk } = await load();
      for (let at = 0; at < keys.length; at += removeBatch) {
        const Objects = keys.slice(at, at + removeBatch).map((key) => ({ Key: place(key).Key }));
        await client.send(new sdk.DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }));
      }
    },
    async *listOlder(ageMs) {
      const { client, sdk } = await load();
      let next: string | undefined;
      do {
        const page = await client.send(
          new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: before, ContinuationToken: next }),
        );
        const old = (page.Contents ?? []).filter((object) => isOlder(object.LastModified, ageMs));
        const keys = old.map((object) => (object.Key ?? '').slice(before.length)).filter((key) => keyShape.test(key));
        if (keys.length > 0) yield keys;
        next = page.NextContinuationToken;
      } while (next !== undefined);
    },
    async removeUnfinished(ageMs) {
      const loaded = await load();
      for (const { Key, UploadId } of await listUnfinished(loaded, bucket, before, ageMs)) {
        await loaded.client.send(new loaded.sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
      }
    },
    async readMark() {
      const { client, sdk } = await load();
      const Range = `bytes=0-${markMaxBytes - 1}`;
      try {
        const answer = await client.send(new sdk.GetObjectCommand({ ...mark, Range }));
        return (await answer.Body?.transformToString())?.trim();
      } catch (error) {
        if (error instanceof Error && error.name === 'NoSuchKey') return undefined;
        throw error;
      }
    },
    async writeMark(name) {
      const { client, sdk } = await load();
      await client.send(new sdk.PutObjectCommand({ ...mark, Body: name, ContentLength: Buffer.byteLength(name) }));
    },
    close: () => connections.close(),
  };
}

type Sdk = typeof import('@aws-sdk/client-s3');
export type Loaded = { client: S3Client; sdk: Sdk };
type Place = { Bucket: string; Key: string };

export async function loadSdk(
  settings: S3Settings,
  { httpAgent, httpsAgent }: ReturnType<typeof openOperatorConnections>,
): Promise<Loaded> {
  // Through its default export: in a bundle, a CommonJS package has no other name.
  const { default: sdk } = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    region: settings.region,
    credentials: settings.credentials,
    // Servers other than AWS rarely have a host name per bucket, and not all know the newer checksums.
    ...(settings.endpoint === undefined ? {} : { endpoint: settings.endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { httpAgent, httpsAgent, connectionTimeout: connectTimeoutMs, socketTimeout: silenceMs },
    maxAttempts: 3,
  });
  return { client, sdk };
}

/** One part is sent while the next is collected, so two of them are in memory. */
export async function upload(
  { client, sdk }: Loaded,
  place: Place,
  bytes: AsyncIterable<Uint8Array>,
): Promise<Omit<StoredBlob, 'key'>> {
  const hash = createHash('sha256');
  let size = 0;
  let uploadId: string | undefined;
  let sending: Promise<void> = Promise.resolve();
  const parts: { ETag: string | undefined; PartNumber: number }[] = [];
  const sendPart = async (Body: Buffer): Promise<void> => {
    uploadId ??= (await client.send(new sdk.CreateMultipartUploadCommand(place))).UploadId;
    const PartNumber = parts.length + 1;
    const part = { ...place, UploadId: uploadId, PartNumber, Body, ContentLength: Body.length };
    const { ETag } = await client.send(new sdk.UploadPartCommand(part));
    parts.push({ ETag, PartNumber });
  };
  let number = 0;
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  try {
    for await (const chunk of bytes) {
      hash.update(chunk);
      size += chunk.length;
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes < firstPartBytes * 2 ** Math.floor(number / partsPerSize)) continue;
      await sending;
      sending = sendPart(Buffer.concat(waiting));
      // Awaited later; until then a failure must not count as unhandled.
      sending.catch(() => undefined);
      [waiting, waitingBytes, number] = [[], 0, number + 1];
    }
    await sending;
    const rest = Buffer.concat(waiting);
    if (number === 0) await client.send(new sdk.PutObjectCommand({ ...place, Body: rest, ContentLength: rest.length }));
    else {
      if (rest.length > 0) await sendPart(rest);
      const MultipartUpload = { Parts: parts };
      await client.send(new sdk.CompleteMultipartUploadCommand({ ...place, UploadId: uploadId, MultipartUpload }));
    }
    return { sha256: hash.digest('hex'), size };
  } catch (error) {
    await sending.catch(() => undefined);
    // If this fails, the sweep aborts the upload later.
    if (uploadId !== undefined) {
      await client.send(new sdk.AbortMultipartUploadCommand({ ...place, UploadId: uploadId })).catch(() => undefined);
    }
    throw error;
  }
}

type Unfinished = { Key: string; UploadId: string };

/** Unfinished uploads, in lists of a thousand: the next sweep finds the rest. */
async function listUnfinished(
  { client, sdk }: Loaded,
  bucket: string,
  prefix: string,
  ageMs: number,
): Promise<Unfinished[]> {
  try {
    const { Uploads = [] } = await client.send(new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }));
    return Uploads.flatMap(({ Key, UploadId, Initiated }) =>
      Key !== undefined && UploadId !== undefined && isOlder(Initiated, ageMs) ? [{ Key, UploadId }] : [],
    );
  } catch (error) {
    // A server that cannot list them removes them by its own rule.
    if (error instanceof Error && error.name === 'NotImplemented') return [];
    throw error;
  }
}

function isOlder(time: Date | undefined, ageMs: number): boolean {
  return time !== undefined && time.getTime() <= Date.now() - ageMs;
}
