import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real S3-compatible server on loopback, with one bucket. */
export type S3Server = { url: string; bucket: string; folder: string; close(): Promise<void> };

type Running = { run(): Promise<{ port: number }>; close(): Promise<void> };
type Constructor = new (options: object) => Running;

export const s3Credentials = { awsAccessKeyId: 'S3RVER', awsSecretAccessKey: 'S3RVER' };

export async function startS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-s3-'));
  const bucket = 'homeport-files';
  const S3rver: Constructor = createRequire(import.meta.url)('s3rver');
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  return {
    url: `http://127.0.0.1:${port}`,
    bucket,
    folder,
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

if (import.meta.main) {
  const server = await startS3Server();
  process.stdout.write(`${server.url}\n${server.bucket}\n`);
  process.on('SIGTERM', () => {
    server.close().then(() => process.exit(0));
  });
}
