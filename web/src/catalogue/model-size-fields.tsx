import '../forms/forms.css';
import type { ModelTier } from '@homeport/contracts/catalogue';
import { NativeSelect, NumberInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import classes from '../forms/form.module.css';
import { numberSeparators } from '../forms/number-separators.ts';
import { i18n, useText } from '../i18n.ts';
import { tierLabel } from '../tier-label.ts';
import type { ModelSizes } from './model-values.ts';

type SizeForm = Pick<UseFormReturnType<ModelSizes>, 'getInputProps'>;

/** Context window, longest answer and tier, for one model or many at once. */
export function ModelSizeFields({ form, tiers }: { form: SizeForm; tiers: readonly ModelTier[] }) {
  const t = useText();
  const count = {
    hideControls: true,
    ...numberSeparators(i18n.locale),
    allowDecimal: false,
    allowNegative: false,
  } as const;
  return (
    <div className={classes.pair}>
      <NumberInput
        {...form.getInputProps('contextWindow')}
        {...count}
        label={t('model.contextWindow')}
        description={t('model.contextWindowHint')}
      />
      <NumberInput
        {...form.getInputProps('maxOutputTokens')}
        {...count}
        label={t('model.maxOutput')}
        description={t('model.maxOutputHint')}
      />
      <NativeSelect
        {...form.getInputProps('tier')}
        label={t('model.tier')}
        description={t('model.tierHint')}
        data={tiers.map((tier) => ({ value: String(tier.value), label: tierLabel(tier, t) }))}
      />
    </div>
  );
}
