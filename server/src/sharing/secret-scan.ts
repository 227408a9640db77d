import { setImmediate } from 'node:timers/promises';

/** Formats of keys that must not be published by accident. */
const formats: readonly { kind: string; pattern: RegExp }[] = [
  { kind: 'private key', pattern: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/g },
  { kind: 'Homeport token', pattern: /\b(?:hp_[A-Za-z0-9]{49}|w[sm]t_[\w-]{43})/g },
  { kind: 'API key', pattern: /\b(?:sk|rk|pk)[-_](?:[a-z]{2,12}[-_]){0,3}[A-Za-z0-9_-]{16,}/g },
  { kind: 'API key', pattern: /\b(?:xai|gsk|hf|pplx|r8|nvapi|csk|fw|tgp_v1|npm|pypi|dop_v1|shpat)[-_][\w-]{20,100}/g },
  { kind: 'GitHub token', pattern: /\b(?:gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,})/g },
  { kind: 'GitLab token', pattern: /\bglpat-[\w-]{20,}/g },
  { kind: 'AWS access key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { kind: 'Google API key', pattern: /\b(?:AIza[\w-]{35}|ya29\.[\w-]{20,})/g },
  { kind: 'Slack token', pattern: /\bxox[abeoprs]-[\w-]{10,}/g },
  { kind: 'SendGrid key', pattern: /\bSG\.[\w-]{16,64}\.[\w-]{16,}/g },
  { kind: 'JSON Web Token', pattern: /\.eyJ[\w-]{10,2000}\./g },
  { kind: 'password in an address', pattern: /:\/\/[^\s:/@]{1,60}:[^\s:/@]{3,100}@/g },
  {
    kind: 'authorization header',
    pattern: /\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic)\s[\w.~+/=-]{12,}/gi,
  },
  {
    kind: 'secret',
    pattern:
      /(?:api[_-]?key|secret[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|password|passwd)["']?[ \t]?[:=][ \t]?["']?[\w.~+/=!@#$%^&*-]{12,80}/gi,
  },
];

/** A hit: the format, and the first characters of the text that matched. */
export type FoundSecret = { kind: string; start: string };

const shownLength = 6;
const pieceLength = 128 * 1024;
/** A key that lies across the border of two pieces is in one of them as a whole. */
const overlap = 1024;

/** All texts in a value, one per line. JSON text would join a key to the escape before it. */
export function textsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textsOf).join('\n');
}

/** Finds texts that look like keys, at most `most`; yields to the event loop between pieces of 128 KiB. */
export async function findSecrets(text: string, most: number): Promise<FoundSecret[]> {
  const found = new Map<string, FoundSecret>();
  for (let from = 0; from < text.length && found.size < most; from += pieceLength) {
    if (from > 0) await setImmediate();
    const piece = text.slice(from, from + pieceLength + overlap);
    for (const { kind, pattern } of formats) {
      for (const [hit] of piece.matchAll(pattern)) {
        // A word without a digit after `password =` is code, not a password.
        if (kind === 'secret' && !/\d/.test(hit)) continue;
        // The same text that two formats match is one hit.
        const key = hit.slice(-24);
        if (found.size < most && !found.has(key)) found.set(key, { kind, start: `${hit.slice(0, shownLength)}…` });
      }
    }
  }
  return [...found.values()];
}
