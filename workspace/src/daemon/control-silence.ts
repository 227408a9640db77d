const silenceMs = 30 * 60_000;
const lookMs = 60_000;

/**
 * Ends a workspace whose control plane is gone, with all that it started: nobody else would. Every request with the token is a sign of
 * life; `end` is called once when there was none for half an hour.
 */
export function watchSilence(end: () => void): { heard(): void } {
  let heardAt = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - heardAt < silenceMs) return;
    clearInterval(timer);
    end();
  }, lookMs).unref();
  return {
    heard() {
      heardAt = performance.now();
    },
  };
}
