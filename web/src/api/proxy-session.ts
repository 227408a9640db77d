let hasEnded = false;
const listeners = new Set<() => void>();

/** Records whether the sign-in service in front of the server let a request pass. */
export function setProxySession(isOver: boolean): void {
  if (hasEnded === isOver) return;
  hasEnded = isOver;
  for (const listener of listeners) listener();
}

export function hasProxySessionEnded(): boolean {
  return hasEnded;
}

export function subscribeToProxySession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
