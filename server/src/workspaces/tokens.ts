import { createHash, randomBytes } from 'node:crypto';
import { deriveToken, type KeyRing } from '../secrets/key-ring.ts';

/** The two tokens of one generation of a workspace (docs/decisions/0021-workspace-leases.md). */

const workspaceTokenPattern = /^wst_[A-Za-z0-9_-]{43}$/;
const modelTokenPattern = /^wmt_[A-Za-z0-9_-]{43}$/;

/** The token that the workspace shows to the control plane: 256 random bits; only its hash is stored. */
export function newWorkspaceToken(): string {
  return `wst_${randomBytes(32).toString('base64url')}`;
}

/** Token of programs in a workspace for model calls: derived from the workspace's token, so it needs no delivery. */
export function modelTokenOf(workspaceToken: string): string {
  return `wmt_${createHash('sha256').update(`homeport models ${workspaceToken}`, 'utf8').digest('base64url')}`;
}

/** The hash under which a token is looked up; undefined if the text cannot be a token. */
export function workspaceTokenHash(token: string): string | undefined {
  return workspaceTokenPattern.test(token) ? sha256(token) : undefined;
}

export function modelTokenHash(token: string): string | undefined {
  return modelTokenPattern.test(token) ? sha256(token) : undefined;
}

/**
 * The token that the control plane shows to the daemon. It is never stored; undefined if its key is no longer in the
 * key ring.
 */
export function daemonToken(ring: KeyRing, keyId: string, id: string, generation: number): string | undefined {
  return deriveToken(ring, keyId, `${id}|${generation}`);
}

/** Hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
