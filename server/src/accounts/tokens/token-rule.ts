import { ApiError } from '@homeport/contracts/errors';
import type { Role } from '@homeport/contracts/fields';
import type { Settings } from '../../settings/settings.ts';

/** Which tokens work: the rules of the installation, applied at each use. */

/**
 * SQL: the end of token `t` under settings `g`. A shorter life for all tokens also ends those made before; null: no end.
 */
export const tokenEnd = "least(t.expires_at, t.created_at + g.token_max_days * interval '1 day')";

/** SQL: whether token `t` of user `u` works at the time in `now`, under settings `g`. */
export function tokenWorks(now: string): string {
  return `u.enabled and (g.tokens = 'everyone' or (g.tokens = 'administrators' and u.role = 'admin'))
    and coalesce(${tokenEnd} > ${now}, true)`;
}

type Policy = Pick<Settings, 'tokens' | 'tokenMaxDays'>;

/** Whether this person may have tokens. */
export function mayHaveTokens({ tokens }: Pick<Policy, 'tokens'>, { role }: { role: Role }): boolean {
  return tokens === 'everyone' || (tokens === 'administrators' && role === 'admin');
}

/** Throws `forbidden` if this person may have no tokens. */
export function assertMayHaveTokens(policy: Pick<Policy, 'tokens'>, user: { role: Role }): void {
  if (mayHaveTokens(policy, user)) return;
  const { tokens } = policy;
  throw new ApiError(
    'forbidden',
    tokens === 'off'
      ? 'Access tokens are switched off here. Ask an administrator.'
      : 'Only administrators may have access tokens here.',
  );
}

const dayMs = 86_400_000;

/** The end of a new token; `given` is undefined if its creator says nothing. Throws `invalid_request`. */
export function endOfNew(
  { tokenMaxDays }: Pick<Policy, 'tokenMaxDays'>,
  given: string | null | undefined,
  now: number,
  defaultDays: number,
): Date | null {
  if (given === undefined) return new Date(now + Math.min(defaultDays, tokenMaxDays ?? defaultDays) * dayMs);
  if (given === null) {
    if (tokenMaxDays === null) return null;
    throw invalidEnd(`A token lasts at most ${tokenMaxDays} days here`);
  }
  const end = Date.parse(given);
  if (end <= now) throw invalidEnd('A time in the future');
  if (tokenMaxDays !== null && end > now + tokenMaxDays * dayMs) {
    throw invalidEnd(`A token lasts at most ${tokenMaxDays} days here`);
  }
  return new Date(end);
}

function invalidEnd(message: string): ApiError {
  const details = [{ path: 'expiresAt', message }];
  return new ApiError('invalid_request', `The request is not valid. expiresAt: ${message}`, { details });
}
