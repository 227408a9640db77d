import type { Person } from '@homeport/contracts/projects';
import type { Share, ShareAudience } from '@homeport/contracts/sharing';
import type { CallOptions } from '../api/api.ts';
import type { End } from '../layout/dialogs/share-fields.tsx';

/** Values of the form that changes a share. */
export type ShareValues = {
  audience: ShareAudience;
  people: readonly Person[];
  end: End | 'keep';
  /** Empty: the present one stays. */
  password: string;
  hasNoPassword: boolean;
};

type Changes = Omit<CallOptions<'PATCH /api/shares'>['body'], 'id'>;

export function shareValues({ audience, people }: Pick<Share, 'audience' | 'people'>): ShareValues {
  return { audience, people, end: 'keep', password: '', hasNoPassword: false };
}

/** The changed members only. */
export function shareChanges(
  share: Pick<Share, 'audience' | 'userIds'>,
  values: ShareValues,
  endOf: (end: End) => string | null,
): Changes {
  const userIds = values.people.map(({ id }) => id).toSorted();
  const hasOtherPeople = values.audience === 'people' && userIds.join() !== share.userIds.toSorted().join();
  return {
    ...(values.audience === share.audience ? {} : { audience: values.audience }),
    ...(hasOtherPeople ? { userIds } : {}),
    ...(values.end === 'keep' ? {} : { expiresAt: endOf(values.end) }),
    ...(values.hasNoPassword ? { password: null } : values.password === '' ? {} : { password: values.password }),
  };
}
