import type { PageConfig } from '@homeport/contracts/system';

/** The configuration inside index.html; undefined with the development server, which does not fill it in. */
export function readInlineConfig(): PageConfig | undefined {
  return parseConfig(document.getElementById('public-config')?.textContent ?? '');
}

/** The nonce of this page's Content-Security-Policy; empty if none is set. */
export function readNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
  return nonce.startsWith('__') ? '' : nonce;
}

function parseConfig(text: string): PageConfig | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as PageConfig) : undefined;
  } catch {
    return undefined;
  }
}
