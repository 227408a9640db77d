import { clock } from '../clock.ts';

const silenceMs = 30 * 60_000;
const lookMs = 60_000;

/**
 * Ends a workspace, with everything it started, if its control plane is gone: no other process would end it. Every
 * request with the token is a sign of life; `end` is called once after half an hour without one.
 */
export function watchSilence(end: () => void): { heard(): void } {
  let heardAt = clock.elapsed();
  const timer = clock.every(lookMs, () => {
    if (clock.elapsed() - heardAt < silenceMs) return;
    timer.stop();
    end();
  });
  return {
    heard() {
      heardAt = clock.elapsed();
    },
  };
}
