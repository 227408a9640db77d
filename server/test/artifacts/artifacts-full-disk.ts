import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import { createDirectoryStore } from '../../src/artifacts/stores/directory.ts';

/** Run by artifacts-storage.test.ts on a disk of 256 KiB, which its argument names. */

const folder = process.argv[2] ?? '';
const store = createDirectoryStore(folder);
await store.prepare();
const bytes = () => Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(64 * 1024, 1)));
const error = await store.put(bytes()).catch((thrown: unknown) => thrown);
const { size } = await store.put(Readable.from([Buffer.alloc(1000)]));
const failure = error instanceof ApiError ? { code: error.code, status: error.status } : { code: String(error) };
const left = readdirSync(join(folder, 'incoming')).length;
process.stdout.write(JSON.stringify({ ...failure, left, thenFits: size }));
