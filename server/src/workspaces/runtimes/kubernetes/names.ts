import { createHash } from 'node:crypto';

/** Whose an object is, which workspace's, and which of its lives. */
export const labels = {
  installation: 'homeport.installation',
  workspace: 'homeport.workspace',
  generation: 'homeport.generation',
} as const;

/** The user's id as it is, which a label could not hold. */
export const idAnnotation = 'homeport.user';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const nameLength = 26;

/** A DNS label for any id: 130 bits of its SHA-256. Two ids that differ in anything have different names. */
export function shortName(id: string): string {
  const digest = createHash('sha256').update(id, 'utf8').digest();
  let name = '';
  for (let bit = 0; name.length < nameLength; bit += 5) {
    const window = (digest.readUInt8(bit >> 3) << 8) | digest.readUInt8((bit >> 3) + 1);
    name += alphabet[(window >> (11 - (bit & 7))) & 31];
  }
  return name;
}

/** Of all objects of one workspace. Its pod gets `-0` and a label of eleven characters more: 63 are allowed. */
export function workspaceName(installation: string, id: string): string {
  return `${installation}-ws-${shortName(id)}`;
}

export function podName(installation: string, id: string): string {
  return `${workspaceName(installation, id)}-0`;
}

/** Of what all workspaces of an installation share. */
export function sharedName(installation: string): string {
  return `${installation}-workspaces`;
}
