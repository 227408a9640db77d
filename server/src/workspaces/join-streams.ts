import type { Duplex } from 'node:stream';
import { systemClock, type Timer } from '../platform/clock.ts';

/** How long the remaining bytes of one side may take to reach the other. */
const flushMs = 2_000;
/** A control frame of RFC 6455 with its mask. */
const controlFrameBytes = 131;

/**
 * Passes on the bytes of a WebSocket in both directions, no faster than they are read. Resolves when both sides are
 * closed: soon after either one, or after the signal. `onTraffic` is called for bytes other than pings and pongs.
 */
export function joinStreams(one: Duplex, other: Duplex, onTraffic: () => void, signal: AbortSignal): Promise<void> {
  const sides = [one, other] as const;
  const destroyBoth = () => {
    for (const side of sides) side.destroy();
  };
  if (signal.aborted) destroyBoth();
  signal.addEventListener('abort', destroyBoth, { once: true });
  const timers: Timer[] = [];
  const closed = sides.map(
    (side) =>
      new Promise<void>((resolve) => {
        if (side.closed) return resolve();
        side.once('close', () => {
          timers.push(systemClock.after(flushMs, destroyBoth));
          resolve();
        });
      }),
  );
  for (const [from, to] of [sides, [other, one]] as const) {
    from.on('error', () => from.destroy());
    from.on('data', (chunk: Buffer) => {
      if (!isSignOfLife(chunk)) onTraffic();
    });
    from.on('close', () => to.end());
    from.pipe(to);
  }
  return Promise.all(closed).then(() => {
    signal.removeEventListener('abort', destroyBoth);
    for (const timer of timers) timer.stop();
  });
}

/** A ping or pong on its own: an open but unused connection does not count as use of the workspace. */
function isSignOfLife(chunk: Buffer): boolean {
  const opcode = (chunk[0] ?? 0) & 0x0f;
  return chunk.length <= controlFrameBytes && (opcode === 0x9 || opcode === 0xa);
}
