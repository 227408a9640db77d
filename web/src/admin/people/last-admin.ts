import { ApiFailure } from '../../api/api-failure.ts';
import type { Translate } from '../../i18n/i18n.ts';

/** For `last_admin`: why the change is refused and what to do first; undefined for any other failure. */
export function lastAdminText(failure: unknown, t: Translate): string | undefined {
  return failure instanceof ApiFailure && failure.code === 'last_admin' ? t('users.lastAdmin') : undefined;
}
