import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';

const mebibyte = 1024 ** 2;
const lookEveryMs = 10_000;
/** Nothing ran for this long. */
const quietLooks = 3;
/** Less than this is not worth a collection. */
const leastUnused = 48 * mebibyte;
/** Collecting takes about a millisecond for each mebibyte that is in use. */
const mostUsed = 160 * mebibyte;
/** After one that held the event loop for longer than `longMs`, the next must wait. */
const longMs = 100;
const pauseLooks = 360;

export type Heap = {
  /** Bytes that V8 has from the system, and bytes of living and dead objects in them. */
  read(): { total: number; used: number };
  collect(): void;
};

const ownHeap: Heap = {
  read: () => {
    const { heapTotal, heapUsed } = process.memoryUsage();
    return { total: heapTotal, used: heapUsed };
  },
  collect: fullCollection,
};

/**
 * Returns the memory of a burst to the system. V8 keeps the pages that many answers at once needed until its next full
 * collection, which a quiet process never reaches: so one is run after half a minute without an answer.
 */
export function trimHeapWhenQuiet(
  {
    clock,
    log,
    isBusy,
  }: { clock: Pick<Clock, 'every' | 'elapsed'>; log: Pick<Logger, 'debug'>; isBusy: () => boolean },
  heap: Heap = ownHeap,
): { stop(): void } {
  let quiet = 0;
  let pause = 0;
  return clock.every(lookEveryMs, () => {
    pause = Math.max(0, pause - 1);
    quiet = isBusy() ? 0 : quiet + 1;
    const { total, used } = heap.read();
    if (quiet < quietLooks || pause > 0 || total - used < leastUnused || used > mostUsed) return;
    const begun = clock.elapsed();
    heap.collect();
    const milliseconds = Math.round(clock.elapsed() - begun);
    pause = milliseconds > longMs ? pauseLooks : quietLooks;
    const freed = Math.round((total - heap.read().total) / mebibyte);
    log.debug({ milliseconds, mebibytes: freed }, 'returned unused memory to the system');
  });
}

let collect: (() => void) | undefined;

/** Calls V8's own function, which exists only in contexts made while the flag is set. */
export function fullCollection(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc');
    setFlagsFromString('--no-expose-gc');
  }
  collect?.();
}
