import { writev } from 'node:fs';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { DaemonError } from '../daemon-error.ts';
import type { Room } from '../space/home-space.ts';

const writeBytes = promisify(writev);
/** How many bytes may wait for the disk before the sender has to wait. */
const waitingMax = 4 * 1024 * 1024;

/** The announced size of a body, and the home that it counts toward. */
type Announced = { size: number | undefined; space: Room };

/**
 * Writes a body to a descriptor; bytes that arrive during a write go with the next. No write is pending when it
 * settles. The stream stays open so that a refusal can be sent. Throws `storage_full`, and `invalid_request` if the
 * body is cut off or has another size than announced.
 */
export async function receiveBody(descriptor: number, bytes: Readable, { size, space }: Announced): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let chunks: Buffer[] = [];
  let waiting = 0;
  let received = 0;
  let writing: Promise<void> | undefined;
  let failure: { cause: unknown } | undefined;
  const fail = (cause: unknown): void => {
    failure = { cause };
    ended.reject(cause);
  };
  const write = async (): Promise<void> => {
    while (chunks.length > 0) {
      const taken = chunks;
      const length = waiting;
      chunks = [];
      waiting = 0;
      await writeAll(descriptor, taken, length);
      bytes.resume();
    }
  };
  const take = (chunk: Buffer): void => {
    received += chunk.length;
    if (chunk.length > space.roomBytes) {
      ended.reject(space.tooMuch());
      return;
    }
    space.count(chunk.length);
    if (size !== undefined && received > size) {
      ended.reject(wrongSize(size));
      return;
    }
    chunks.push(chunk);
    waiting += chunk.length;
    if (waiting > waitingMax) bytes.pause();
    if (failure !== undefined) return;
    writing ??= write()
      .catch(fail)
      .finally(() => {
        writing = undefined;
      });
  };
  const end = (): void => {
    if (size !== undefined && received !== size) ended.reject(wrongSize(size));
    else ended.resolve();
  };
  const cut = (): void => ended.reject(new DaemonError('invalid_request', 'The body ended before it was complete'));
  bytes.on('data', take).on('end', end).on('error', cut).on('close', cut);
  let isWhole = false;
  try {
    await ended.promise;
    await writing;
    // The last write may have failed after the end of the body.
    if (failure !== undefined) throw failure.cause;
    await write();
    isWhole = true;
  } finally {
    if (!isWhole) space.count(-received);
    bytes.off('data', take).off('end', end).off('error', cut).off('close', cut);
    await writing;
  }
}

async function writeAll(descriptor: number, chunks: Buffer[], length: number): Promise<void> {
  const { bytesWritten } = await writeBytes(descriptor, chunks);
  if (bytesWritten === length) return;
  const rest = Buffer.concat(chunks).subarray(bytesWritten);
  await writeAll(descriptor, [rest], rest.length);
}

function wrongSize(size: number): DaemonError {
  return new DaemonError('invalid_request', `The body does not have the ${size} bytes that were announced`);
}
