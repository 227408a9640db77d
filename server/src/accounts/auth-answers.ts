import type { Selectable } from 'kysely';
import type { SessionsTable, UsersTable } from '../db/tables/people.ts';

/** The bodies of /api/auth (contract.md section 3). */

/** A user as the /api/auth routes return them. */
export function authUser(row: Selectable<UsersTable>) {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    emailVerified: row.email_verified,
    image: row.image,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    role: row.role,
    enabled: row.enabled,
    mustChangePassword: row.must_change_password,
  };
}

/** The session of a cookie, for those who already have the cookie. */
export function authSession(row: Selectable<SessionsTable>) {
  return {
    id: row.id,
    userId: row.user_id,
    token: row.token,
    expiresAt: row.expires_at.toISOString(),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
  };
}
