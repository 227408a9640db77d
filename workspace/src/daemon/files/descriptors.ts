import { type BigIntStats, closeSync, constants, fstatSync, openSync } from 'node:fs';

/**
 * Files by descriptor, never by a path of more than one name: `/proc/self/fd/<folder>/<name>` is resolved by the kernel from a
 * folder that is held open, so nobody can exchange anything on the way. This is what openat(2) does, which Node does not offer.
 */

/** Missing in Node's constants, yet its flags are passed through: x86-64 and arm64 agree on it. */
const O_PATH = 0o10000000;

export const lookFlags = O_PATH | constants.O_NOFOLLOW;

/** Names one thing in a folder that is held open. */
export function at(folder: number, name: string): string;
export function at(folder: number, name: string | Buffer): string | Buffer;
export function at(folder: number, name: string | Buffer): string | Buffer {
  const start = `/proc/self/fd/${folder}/`;
  return typeof name === 'string' ? start + name : Buffer.concat([Buffer.from(start), name]);
}

/** Names the thing that is held open itself, whatever its name is by now. */
export function itself(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

/** Holds something in a folder without opening it: no link is followed, no device touched, no FIFO waited for. */
export function look(folder: number, name: string | Buffer): number {
  return openSync(at(folder, name), lookFlags);
}

/** Opens what is held for reading; the thing itself, not what has its name now. */
export function reopen(descriptor: number, flags = constants.O_RDONLY): number {
  return openSync(itself(descriptor), flags | constants.O_NONBLOCK | constants.O_NOCTTY);
}

export function statOf(descriptor: number): BigIntStats {
  return fstatSync(descriptor, { bigint: true });
}

/** Closes what is open; for `finally`, so it never throws. */
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
