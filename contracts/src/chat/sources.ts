/** Sources of an answer, as they are stored and shown: a stranger's text. */

/** Sources of one answer, and characters of their texts. */
export const sourceBounds = { count: 50, url: 2048, title: 200 } as const;

/** The address in its canonical form if it leads to a web page: http or https, without credentials. */
export function webAddress(text: string): string | undefined {
  const address = text.trim();
  if (address === '' || address.length > sourceBounds.url) return undefined;
  try {
    const url = new URL(address);
    const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
    return isWeb && url.username === '' && url.password === '' ? url.href : undefined;
  } catch {
    return undefined;
  }
}
