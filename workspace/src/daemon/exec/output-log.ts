import { closeSync, constants, mkdirSync, openSync, read, writeSync } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clock } from '../../clock.ts';

const readAt = promisify(read);

const logMaxBytes = 10 * 1024 * 1024;
const tailMaxBytes = 64 * 1024;
const keptLogs = 200;
const keptLogsMs = 7 * 24 * 60 * 60 * 1000;

function logFolder(home: string): string {
  return join(home, '.workspace/exec');
}

/** Without a file (if none can be created) only the tail is kept: a full disk can still be cleaned up. */
export function openLog(home: string, id: string) {
  let fd = tryOpen(home, id);
  let written = 0;
  let total = 0;
  let isFull = fd === undefined;
  let tail: Buffer[] = [];
  let tailBytes = 0;

  function keepTail(chunk: Buffer): void {
    if (chunk.length === 0) return;
    // A copy, because the chunk is part of a larger buffer that would stay in memory.
    tail.push(Buffer.from(chunk));
    tailBytes += chunk.length;
    if (tailBytes < 2 * tailMaxBytes) return;
    tail = [Buffer.concat(tail).subarray(-tailMaxBytes)];
    tailBytes = tailMaxBytes;
  }

  return {
    get totalBytes() {
      return total;
    },
    /** Output that is in no file. */
    get omittedBytes() {
      return total - written;
    },
    append(chunk: Buffer): void {
      total += chunk.length;
      let taken = 0;
      if (!isFull && fd !== undefined) {
        taken = tryWrite(fd, chunk.subarray(0, logMaxBytes - written), written);
        written += taken;
        isFull = taken < chunk.length;
      }
      if (isFull) keepTail(chunk.subarray(taken));
    },
    /**
     * Up to `maxBytes` from byte `from`, and where they begin: later than requested if bytes are gone. Empty at the
     * end.
     */
    async read(from: number, maxBytes: number): Promise<{ at: number; bytes: Buffer }> {
      if (fd !== undefined && from < written) {
        const buffer = Buffer.alloc(Math.min(maxBytes, written - from));
        const { bytesRead } = await readAt(fd, buffer, 0, buffer.length, from);
        if (bytesRead > 0) return { at: from, bytes: buffer.subarray(0, bytesRead) };
      }
      const kept = Buffer.concat(tail);
      const at = Math.min(Math.max(from, total - kept.length), total);
      return { at, bytes: kept.subarray(kept.length - (total - at)).subarray(0, maxBytes) };
    },
    close(): void {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
      tail = [];
    },
  };
}

function tryOpen(home: string, id: string): number | undefined {
  try {
    mkdirSync(logFolder(home), { recursive: true, mode: 0o700 });
    const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;
    const flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK;
    return openSync(join(logFolder(home), `${id}.log`), flags, 0o600);
  } catch {
    return undefined;
  }
}

function tryWrite(fd: number, bytes: Buffer, position: number): number {
  try {
    return writeSync(fd, bytes, 0, bytes.length, position);
  } catch {
    return 0;
  }
}

/** Removes logs older than a week, and keeps at most the newest 200. */
export async function removeOldLogs(home: string): Promise<void> {
  const folder = logFolder(home);
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.log'));
  const logs = await Promise.all(
    names.slice(0, 10_000).map(async (name) => {
      const found = await stat(join(folder, name)).catch(() => undefined);
      return { name, changedAt: found?.mtimeMs ?? 0 };
    }),
  );
  logs.sort((a, b) => b.changedAt - a.changedAt);
  const old = logs.filter((log, index) => index >= keptLogs || log.changedAt < clock.now() - keptLogsMs);
  await Promise.all(old.map(({ name }) => unlink(join(folder, name)).catch(() => undefined)));
}
