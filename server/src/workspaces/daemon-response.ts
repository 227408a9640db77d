import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '../platform/clock.ts';

/** If neither side has moved a byte for this long, one of them is gone. */
export const silenceMs = 300_000;

/**
 * Streams a body after its head has been sent: any failure breaks the connection, so that the client does not take half
 * a file for the whole.
 */
export async function streamBody(body: Readable, outgoing: Writable, touch: () => void): Promise<void> {
  const silence = systemClock.after(silenceMs, () => outgoing.destroy());
  body.on('data', () => {
    silence.restart();
    touch();
  });
  try {
    await pipeline(body, outgoing);
  } catch {
    outgoing.destroy();
  } finally {
    silence.stop();
  }
}
