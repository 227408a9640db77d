import { createCipheriv, createDecipheriv, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { Sink } from './archive-writer.ts';
import { BackupError, damaged } from './backup-error.ts';

/**
 * An encrypted backup: a header, then chunks of 64 KiB under AES-256-GCM with a key that scrypt made of the passphrase.
 * A chunk's nonce is its number, with a mark in the last one: none can be changed, moved, left out or cut off.
 */

const magic = Buffer.from('homeport-backup-encrypted-1\n');
const chunkBytes = 64 * 1024;
const tagBytes = 16;
const saltBytes = 16;
const checkBytes = 16;
/** 64 MiB of memory, a quarter of a second. */
const cost = { logN: 16, r: 8, p: 1 };
const costMax = { logN: 20, r: 16, p: 4 };
const headerBytes = magic.length + 3 + saltBytes + checkBytes;

/** A sink that encrypts what it gets for `sink`; `end` must be called at last. */
export async function encryptTo(passphrase: string, sink: Sink): Promise<{ write: Sink; end(): Promise<void> }> {
  const salt = randomBytes(saltBytes);
  const before = Buffer.concat([magic, Buffer.from([cost.logN, cost.r, cost.p]), salt]);
  const { key, check } = await deriveKey(passphrase, salt, cost);
  await sink(Buffer.concat([before, check]));
  let number = 0;
  const seal = async (bytes: Uint8Array, isLast: boolean): Promise<void> => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number, isLast));
    cipher.setAAD(before);
    number += 1;
    await sink(Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
  };
  let waiting: Uint8Array = Buffer.alloc(0);
  return {
    async write(bytes) {
      let rest: Uint8Array = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes]);
      // The last chunk is not known before the end, so a full one waits.
      while (rest.length > chunkBytes) {
        await seal(rest.subarray(0, chunkBytes), false);
        rest = rest.subarray(chunkBytes);
      }
      // The bytes are the caller's again when this has resolved.
      waiting = Buffer.from(rest);
    },
    end: () => seal(waiting, true),
  };
}

/** The content of a backup, encrypted or not. `passphrase` is asked for only if it is needed. */
export async function* openEnvelope(
  source: AsyncIterable<Uint8Array>,
  passphrase: string | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let opened: Opener | undefined;
  let isPlain = false;
  for await (const chunk of source) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    if (isPlain) {
      yield rest;
      rest = Buffer.alloc(0);
      continue;
    }
    if (opened === undefined) {
      if (rest.length < headerBytes) continue;
      if (!rest.subarray(0, magic.length).equals(magic)) {
        isPlain = true;
        continue;
      }
      opened = await openerOf(rest.subarray(0, headerBytes), passphrase);
      rest = rest.subarray(headerBytes);
    }
    while (rest.length > chunkBytes + tagBytes) {
      yield opened(rest.subarray(0, chunkBytes + tagBytes), false);
      rest = rest.subarray(chunkBytes + tagBytes);
    }
  }
  if (opened !== undefined) yield opened(rest, true);
  else if (rest.length > 0) yield rest;
}

type Opener = (sealed: Buffer, isLast: boolean) => Buffer;

async function openerOf(header: Buffer, passphrase: string | undefined): Promise<Opener> {
  if (passphrase === undefined) {
    throw new BackupError('The backup is encrypted. Give the file with its passphrase: --passphrase-file <file>.');
  }
  const before = Buffer.from(header.subarray(0, headerBytes - checkBytes));
  const [logN = 0, r = 0, p = 0] = before.subarray(magic.length);
  if (logN < 10 || logN > costMax.logN || r < 1 || r > costMax.r || p < 1 || p > costMax.p) {
    throw damaged('its header cannot be read');
  }
  const { key, check } = await deriveKey(passphrase, before.subarray(magic.length + 3), { logN, r, p });
  if (!timingSafeEqual(check, header.subarray(headerBytes - checkBytes))) {
    throw new BackupError('The passphrase is not the one of this backup.');
  }
  let number = 0;
  return (sealed, isLast) => {
    if (sealed.length < tagBytes) throw damaged('its end is missing');
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, isLast));
    decipher.setAAD(before);
    decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
    number += 1;
    try {
      return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - tagBytes)), decipher.final()]);
    } catch {
      throw damaged(isLast ? 'it was changed, or its end is missing' : 'it was changed');
    }
  };
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 3);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function deriveKey(
  passphrase: string,
  salt: Buffer,
  { logN, r, p }: typeof cost,
): Promise<{ key: Buffer; check: Buffer }> {
  return new Promise((resolve, reject) => {
    const options = { N: 2 ** logN, r, p, maxmem: 256 * r * 2 ** logN };
    scrypt(passphrase.normalize('NFC'), salt, 32 + checkBytes, options, (error, made) => {
      if (error === null) resolve({ key: made.subarray(0, 32), check: made.subarray(32) });
      else reject(error);
    });
  });
}
