import { setTimeout as delay } from 'node:timers/promises';

type Read<T> = () => T | undefined | false | Promise<T | undefined | false>;

const intervalMs = 10;
const patienceMs = 60_000;

/**
 * How every test waits for what has no event of its own: reads until there is something, and resolves with it. Gives up
 * with an error at the caller's line that names `what`.
 */
export function until<T>(read: Read<T>): Promise<T>;
export function until<T>(what: string, read: Read<T>, withinMs?: number): Promise<T>;
export function until<T>(first: string | Read<T>, second?: Read<T>, withinMs: number = patienceMs): Promise<T> {
  const what = typeof first === 'string' ? first : 'what is waited for';
  const read = typeof first === 'string' ? second : first;
  if (read === undefined) throw new TypeError('until needs something to read');
  return poll(read, withinMs, new Error(`${what}: not within ${withinMs} ms`));
}

async function poll<T>(read: Read<T>, withinMs: number, late: Error): Promise<T> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > giveUpAt) throw late;
    await delay(intervalMs);
  }
}
