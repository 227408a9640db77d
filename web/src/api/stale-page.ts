import { call } from './api.ts';

/** Milliseconds within which a second reload for the same reason would be a loop. */
const quietTime = 60_000;
const storageKey = 'reloaded-at';

/**
 * A page opened before a server update requests files that no longer exist. It is reloaded once, if the server answers:
 * a sign-in proxy whose session has ended does not. Drafts and receipts are in storage, so nothing typed is lost.
 */
export function reloadAfterUpdate(): void {
  window.addEventListener('vite:preloadError', () => {
    const last = Number(sessionStorage.getItem(storageKey) ?? 0);
    if (Date.now() - last < quietTime) return;
    call('GET /api/health', {}).then(
      () => {
        sessionStorage.setItem(storageKey, String(Date.now()));
        location.reload();
      },
      () => {},
    );
  });
}
