import type { ManagedShare } from '@homeport/contracts/sharing';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';

type Facts = Pick<ManagedShare, 'audience' | 'views' | 'expiresAt' | 'updatedAt' | 'hasPassword'> & {
  people?: readonly { name: string }[];
};

/** One line about a share: audience, views, password, snapshot and end. */
export function useShareFacts({ audience, views, expiresAt, updatedAt, hasPassword, people = [] }: Facts): string {
  const t = useText();
  const format = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium' });
  const names = new Intl.ListFormat(dateLocale(), { style: 'short' });
  const dateOf = (time: string) => format.format(new Date(time));
  return [
    t('share.facts', {
      audience: people.length > 0 ? names.format(people.map(({ name }) => name)) : t(`share.audience.${audience}`),
      views,
    }),
    ...(hasPassword ? [t('share.hasPassword')] : []),
    t('share.updatedAt', { date: dateOf(updatedAt) }),
    ...(expiresAt === null ? [] : [t('share.endsAt', { date: dateOf(expiresAt) })]),
  ].join(' ·\u00a0');
}
