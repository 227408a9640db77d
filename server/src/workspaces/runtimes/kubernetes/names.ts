import { createHash } from 'node:crypto';

/** The labels that say which installation, workspace and generation an object belongs to. */
export const labels = {
  installation: 'homeport.installation',
  workspace: 'homeport.workspace',
  generation: 'homeport.generation',
} as const;

/** The unchanged user id, which may not fit a label. */
export const idAnnotation = 'homeport.user';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const nameLength = 26;

/** A DNS label for any id: 130 bits of its SHA-256. Different ids have different names. */
export function shortName(id: string): string {
  const digest = createHash('sha256').update(id, 'utf8').digest();
  let name = '';
  for (let bit = 0; name.length < nameLength; bit += 5) {
    const window = (digest.readUInt8(bit >> 3) << 8) | digest.readUInt8((bit >> 3) + 1);
    name += alphabet[(window >> (11 - (bit & 7))) & 31];
  }
  return name;
}

/** For all objects of one workspace. Its pod adds `-0` and a label of eleven more characters: 63 are allowed. */
export function workspaceName(installation: string, id: string): string {
  return `${installation}-ws-${shortName(id)}`;
}

export function podName(installation: string, id: string): string {
  return `${workspaceName(installation, id)}-0`;
}

/** For what all workspaces of an installation share. */
export function sharedName(installation: string): string {
  return `${installation}-workspaces`;
}
