import '../forms/forms.css';
import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { catalogueQuery } from '../api/queries.ts';
import { enabledModels } from '../conversation/choices/model-choice.ts';
import { useText } from '../i18n/i18n.ts';
import { tierLabel } from '../i18n/tier-label.ts';
import { useAccess } from '../layout/use-access.ts';

type Props = { value: string; onChange: (answerer: string) => void; error?: ReactNode; isMissing: boolean };

/** Which model answers: the reader's default, one of a tier, or a certain one. */
export function ModelOrTierField({ value, onChange, error, isMissing }: Props) {
  const t = useText();
  const { data } = useQuery(catalogueQuery);
  const models = enabledModels(data?.providers ?? []);
  const { canEditProviders } = useAccess();
  // People who manage no models choose among the models themselves.
  const tiers = canEditProviders || value.startsWith('tier:') ? (data?.modelTiers ?? []) : [];
  const chosen = value.startsWith('model:') ? value.slice('model:'.length) : undefined;
  // One that is switched off now stays chosen until another is.
  const off = data?.providers
    .flatMap((provider) => provider.models)
    .find(({ id }) => id === chosen && !models.some((model) => model.id === id));
  return (
    <NativeSelect
      label={t('assistant.model')}
      description={t('assistant.modelHint')}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
      data={[
        { value: '', label: t('assistant.modelDefault') },
        ...(isMissing ? [{ value: 'missing', label: t('assistant.modelMissing') }] : []),
        ...(off ? [{ value, label: t('assistant.modelOff', { name: off.displayName }) }] : []),
        ...(tiers.length === 0
          ? []
          : [
              {
                group: t('assistant.tiers'),
                items: tiers.map((tier) => ({
                  value: `tier:${tier.value}`,
                  label: t('assistant.tier', { name: tierLabel(tier, t) }),
                })),
              },
            ]),
        {
          group: t('assistant.models'),
          items: models.map(({ id, displayName }) => ({ value: `model:${id}`, label: displayName })),
        },
      ]}
    />
  );
}
