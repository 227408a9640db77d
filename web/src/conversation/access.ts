import type { User } from '@homeport/contracts/fields';

/** The parts of the installation that a person may manage. */
export type Access = { isAdmin: boolean; canEditProviders: boolean; canEditTools: boolean };

/** Permissions of a person, by the same rules as the server's (control-plane-api.md "Authentication" 4). */
export function accessOf(
  { role, providerSettingsEnabled, mcpSettingsEnabled }: User,
  edition: 'community' | 'managed' | undefined,
): Access {
  const isAdmin = role === 'admin';
  return {
    isAdmin,
    canEditProviders: isAdmin || (edition !== 'managed' && providerSettingsEnabled),
    canEditTools: isAdmin || mcpSettingsEnabled,
  };
}

/** True for people who manage neither models nor tools: technical terms are hidden from them. */
export function isPlain({ canEditProviders, canEditTools }: Access): boolean {
  return !canEditProviders && !canEditTools;
}
