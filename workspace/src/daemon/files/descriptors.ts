import { type BigIntStats, closeSync, constants, fstatSync, openSync } from 'node:fs';

/**
 * Files by descriptor, never by a path with more than one name: the kernel resolves `/proc/self/fd/<folder>/<name>`
 * from an open folder, so no parent folder can be swapped meanwhile. Like openat(2), which Node lacks.
 */

/** Missing in Node's constants, but Node passes its flags through: x86-64 and arm64 use the same value. */
const O_PATH = 0o10000000;

export const lookFlags = O_PATH | constants.O_NOFOLLOW;

/** The path of one thing in an open folder. */
export function at(folder: number, name: string): string;
export function at(folder: number, name: string | Buffer): string | Buffer;
export function at(folder: number, name: string | Buffer): string | Buffer {
  const start = `/proc/self/fd/${folder}/`;
  return typeof name === 'string' ? start + name : Buffer.concat([Buffer.from(start), name]);
}

/** The path of the open thing itself, whatever its name is by now. */
export function itself(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

/** Holds something in a folder without opening it: follows no link, touches no device, waits for no FIFO. */
export function look(folder: number, name: string | Buffer): number {
  return openSync(at(folder, name), lookFlags);
}

/** Opens the held thing for reading, not whatever has its name now. */
export function reopen(descriptor: number, flags = constants.O_RDONLY): number {
  return openSync(itself(descriptor), flags | constants.O_NONBLOCK | constants.O_NOCTTY);
}

export function statOf(descriptor: number): BigIntStats {
  return fstatSync(descriptor, { bigint: true });
}

/** Closes a descriptor; never throws, so it is safe in `finally`. */
export function close(...descriptors: (number | undefined)[]): void {
  for (const descriptor of descriptors) {
    if (descriptor === undefined) continue;
    try {
      closeSync(descriptor);
    } catch {
      // Nothing depends on it.
    }
  }
}
