import 'virtual:texts/ask';
import { useQuery } from '@tanstack/react-query';
import { administratorsQuery } from '../../api/queries.ts';
import { numberLocale } from '../../i18n/format-locale.ts';

/** The administrators to ask, as the value `names` of texts: "Mara or Ada"; `none` while they are unknown. */
export function useAdministrators(): { names: string } {
  const { data } = useQuery(administratorsQuery);
  const names = data?.names ?? [];
  if (names.length === 0) return { names: 'none' };
  return { names: new Intl.ListFormat(numberLocale(), { type: 'disjunction' }).format(names) };
}
