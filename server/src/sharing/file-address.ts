import { createHmac } from 'node:crypto';
import { limits } from '@homeport/contracts/limits';
import type { SharingPolicy } from '@homeport/contracts/sharing';
import { equalSecret } from '../secrets/equal-secret.ts';

/** Signed addresses of files in shares that not everybody with the link may read. */

const validMs = limits.shareFileMinutes * 60_000;

/** A signature belongs to one revision of a share and to the setting under which it was made. */
export type SignedFile = { shareId: string; revision: number; policy: SharingPolicy; n: number };

/** The query of an address that is valid for ten minutes. */
export function signFile(authSecret: string, file: SignedFile, now: number): string {
  const expires = now + validMs;
  return `?expires=${expires}&signature=${signatureOf(authSecret, file, String(expires))}`;
}

export function isSigned(
  authSecret: string,
  file: SignedFile,
  query: { expires?: string | undefined; signature?: string | undefined },
  now: number,
): boolean {
  const { expires = '', signature = '' } = query;
  if (!/^\d{1,16}$/.test(expires) || Number(expires) <= now || Number(expires) > now + validMs) return false;
  return equalSecret(signatureOf(authSecret, file, expires), signature);
}

function signatureOf(authSecret: string, { shareId, revision, policy, n }: SignedFile, expires: string): string {
  const text = ['homeport share file', shareId, revision, policy, n, expires].join('\n');
  return createHmac('sha256', authSecret).update(text).digest('base64url');
}
