import { readdir, readFile } from 'node:fs/promises';
import { systemClock } from './clock.ts';

type Log = { error(details: object, message: string): void };

const checkEveryMs = 5_000;
const sayEveryMs = 60_000;
/** Share of the limit above which an administrator should look into it. */
const remarkableShare = 0.9;

/**
 * Logs a warning when this process is close to its limit of open files, beyond which the system silently drops new
 * connections. Does nothing on systems without /proc.
 */
export async function watchDescriptors(log: Log): Promise<void> {
  const limit = await readLimit();
  if (limit === undefined) return;
  let saidAt = Number.NEGATIVE_INFINITY;
  const check = async (): Promise<void> => {
    const open = await countOpen();
    const now = systemClock.elapsed();
    if ((open !== undefined && open < limit * remarkableShare) || now - saidAt < sayEveryMs) return;
    saidAt = now;
    log.error(
      { open: open ?? 'all', limit },
      'file descriptors are running out: connections will be refused (raise the limit of open files, LimitNOFILE)',
    );
  };
  systemClock.every(checkEveryMs, check);
}

/** Undefined if not even one descriptor is left to count them with. */
function countOpen(): Promise<number | undefined> {
  return readdir('/proc/self/fd').then(
    (names) => names.length,
    () => undefined,
  );
}

async function readLimit(): Promise<number | undefined> {
  const text = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, soft] = /^Max open files\s+(\d+)/m.exec(text) ?? [];
  return soft === undefined ? undefined : Number(soft);
}
