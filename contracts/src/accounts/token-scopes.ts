/** Permissions of access tokens (contract.md section 12); each endpoint declares the one that it needs. */
export const tokenScopes = [
  'models',
  'chats:read',
  'chats:write',
  'files:read',
  'files:write',
  'usage:read',
  'admin:read',
  'admin:write',
  'metrics',
] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** Scopes that only administrators can give to a token, and that work only while they are administrators. */
export const adminScopes: readonly TokenScope[] = ['admin:read', 'admin:write', 'metrics'];

/** Whether a token with these scopes may do what needs `needed`: writing includes reading. */
export function grantsScope(scopes: readonly TokenScope[], needed: TokenScope): boolean {
  if (scopes.includes(needed)) return true;
  return needed.endsWith(':read') && scopes.some((scope) => scope === `${needed.slice(0, -':read'.length)}:write`);
}
