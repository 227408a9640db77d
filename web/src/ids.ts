const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';

/** A client-made id (contract.md section 1) of 144 random bits. Unlike `crypto.randomUUID`, it works on plain http. */
export function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return Array.from(bytes, (byte) => alphabet[byte & 63]).join('');
}
