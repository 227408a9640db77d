import { clock } from '../clock.ts';

const timeoutMs = 30 * 60_000;
const checkMs = 60_000;

/**
 * Watchdog that ends a workspace, with all its processes, if its control plane is gone: no other process would. Every
 * request with the token calls `reset`; `end` is called once after half an hour without one.
 */
export function startControlPlaneWatchdog(end: () => void): { reset(): void } {
  let lastRequestAt = clock.elapsed();
  const timer = clock.every(checkMs, () => {
    if (clock.elapsed() - lastRequestAt < timeoutMs) return;
    timer.stop();
    end();
  });
  return {
    reset() {
      lastRequestAt = clock.elapsed();
    },
  };
}
