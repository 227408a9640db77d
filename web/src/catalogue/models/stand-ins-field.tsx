import '../../forms/forms.css';
import 'virtual:texts/catalogue';
import type { Model } from '@homeport/contracts/catalogue/catalogue';
import { limits } from '@homeport/contracts/limits';
import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { useText } from '../../i18n/i18n.ts';

type Props = { model: Model; value: string[]; onChange: (standIns: string[]) => void };

/** Choice of the models that answer when this model's provider fails, in the order of choosing. */
export function StandInsField({ model, value, onChange }: Props) {
  const t = useText();
  const { data } = useQuery(catalogueQuery);
  const others = (data?.providers ?? []).flatMap((provider) =>
    provider.models
      .filter(({ id }) => id !== model.id)
      .map(({ id, displayName }) => ({ value: id, label: `${displayName} (${provider.name})` })),
  );
  const unlisted = value.filter((id) => !others.some((other) => other.value === id));
  const known = [...others, ...unlisted.map((id) => ({ value: id, label: t('standIns.unknown') }))];
  const places = Array.from({ length: Math.min(value.length + 1, limits.standInsMax) }, (_, place) => place);
  return places.map((place) => (
    <NativeSelect
      key={place}
      label={t('standIns.label', { number: place + 1 })}
      description={place === 0 ? t('standIns.hint') : undefined}
      data={[
        { value: '', label: t('standIns.none') },
        ...known.filter((other) => other.value === value[place] || !value.includes(other.value)),
      ]}
      value={value[place] ?? ''}
      onChange={(event) => onChange(value.toSpliced(place, 1, event.currentTarget.value).filter((id) => id !== ''))}
    />
  ));
}
