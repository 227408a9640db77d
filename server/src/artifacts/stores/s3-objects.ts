import { Readable } from 'node:stream';
import { openOperatorConnections } from '../../egress/operator-connections.ts';
import { type Loaded, loadSdk, type S3Settings, upload } from './s3.ts';

/** Objects under names of ours in a bucket: backups. Names are relative to the prefix of the settings. */
export type S3Objects = {
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  read(name: string): AsyncIterable<Uint8Array>;
  /** Names that begin so, with their sizes; at most a thousand. */
  list(start: string): Promise<{ name: string; size: number }[]>;
  remove(name: string): Promise<void>;
  close(): void;
};

const maxSockets = 4;
const listMax = 1_000;

export function openS3Objects(settings: S3Settings): S3Objects {
  const connections = openOperatorConnections(maxSockets);
  const before = settings.prefix === '' ? '' : `${settings.prefix}/`;
  const place = (name: string) => ({ Bucket: settings.bucket, Key: before + name });
  let loaded: Promise<Loaded> | undefined;
  const load = (): Promise<Loaded> => (loaded ??= loadSdk(settings, connections));
  return {
    async put(name, bytes) {
      await upload(await load(), place(name), bytes);
    },
    async *read(name) {
      const { client, sdk } = await load();
      const answer = await client.send(new sdk.GetObjectCommand(place(name)));
      if (!(answer.Body instanceof Readable)) throw new Error('the object store answered without a body');
      yield* answer.Body;
    },
    async list(start) {
      const { client, sdk } = await load();
      const request = { Bucket: settings.bucket, Prefix: before + start, MaxKeys: listMax };
      const { Contents = [] } = await client.send(new sdk.ListObjectsV2Command(request));
      return Contents.map(({ Key = '', Size = 0 }) => ({ name: Key.slice(before.length), size: Size }));
    },
    async remove(name) {
      const { client, sdk } = await load();
      await client.send(new sdk.DeleteObjectCommand(place(name)));
    },
    close: () => connections.close(),
  };
}
