import { readFileSync } from 'node:fs';

/** One address and whether it can be called under each of the four settings (`verdict` true: it must be refused). */
export type SsrfVector = {
  id: string;
  url: string;
  why: string;
  verdict: Record<Setting, boolean>;
  layer?: 'redirect';
  redirect?: { code: number; location: string };
  dns?: string[] | string[][];
  dns_name?: string;
  rebind?: boolean;
};

export const settings = {
  none: { allowPrivateEgress: false, allowInsecureHttp: false },
  private: { allowPrivateEgress: true, allowInsecureHttp: false },
  http: { allowPrivateEgress: false, allowInsecureHttp: true },
  both: { allowPrivateEgress: true, allowInsecureHttp: true },
} as const;

export type Setting = keyof typeof settings;
export const settingNames: Setting[] = ['none', 'private', 'http', 'both'];

/**
 * Vectors whose verdict follows a lenient URL parser (they are marked ambiguous): a line break inside the text is
 * refused here under every setting, so that the saved text and the dialed address are the same.
 */
const stricterThanVectors = new Set(['S241', 'S242']);

/** Reads the shared vectors beside the tests. */
export function readSsrfVectors(): SsrfVector[] {
  const file = new URL('../vectors/ssrf-vectors.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as SsrfVector[];
}

/** True when the guard must refuse this vector under this setting. */
export function mustBlock(vector: SsrfVector, setting: Setting): boolean {
  return vector.verdict[setting] || stricterThanVectors.has(vector.id);
}
