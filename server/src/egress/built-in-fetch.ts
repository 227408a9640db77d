/** Symbols under which Node's own client, and that of another undici, look up their dispatcher. */
const places = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];

/**
 * Puts `guardedFetch` in place of the built-in fetch: none of our code calls it, but a library may. Calls that reach
 * Node's own client in another way (its WebSocket, its EventSource, a fetch stored before this call) fail.
 */
export function replaceBuiltInFetch(guardedFetch: typeof globalThis.fetch): void {
  globalThis.fetch = guardedFetch;
  const dispatch = () => {
    throw new Error('This process sends requests only through the outbound guard.');
  };
  for (const place of places) Object.defineProperty(globalThis, place, { value: { dispatch }, writable: true });
}
