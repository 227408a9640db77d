/** Milliseconds within which a second reload for the same reason would be a loop. */
const quietTime = 60_000;
const storageKey = 'reloaded-at';

/**
 * A page opened before a server update requests files that no longer exist. It is reloaded once: drafts and receipts
 * are in storage, so nothing typed is lost.
 */
export function reloadAfterUpdate(): void {
  window.addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(storageKey) ?? 0);
    if (!navigator.onLine || Date.now() - last < quietTime) return;
    event.preventDefault();
    sessionStorage.setItem(storageKey, String(Date.now()));
    location.reload();
  });
}
