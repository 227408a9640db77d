// performance.now() counts from the start of its own process; both clocks are the machine's monotonic one.
const [seconds, nanoseconds] = process.hrtime();
const originMs = seconds * 1000 + nanoseconds / 1e6 - performance.now();

/** Milliseconds of the machine's monotonic clock: the same in every process. */
export function monotonicMs(): number {
  return originMs + performance.now();
}

/** Characters of a stamp: microseconds modulo 36^5, which come round every 60 seconds. */
export const stampLength = 5;
const stampRange = 36 ** stampLength;

/** The time as a word of five letters and digits, as long as a usual token. */
export function stamp(ms: number): string {
  return (Math.floor(ms * 1000) % stampRange).toString(36).padStart(stampLength, '0');
}

/** Milliseconds from the stamp that starts at `at` to `nowMs`, which must be less than a minute. */
export function sinceStamp(data: Uint8Array, at: number, nowMs: number): number {
  let value = 0;
  for (let index = at; index < at + stampLength; index++) {
    const code = data[index] ?? 48;
    value = value * 36 + (code >= 97 ? code - 87 : code - 48);
  }
  const now = Math.floor(nowMs * 1000) % stampRange;
  const micros = now - value;
  return (micros < -stampRange / 2 ? micros + stampRange : micros) / 1000;
}
