import '../../forms/forms.css';
import type { Model, ModelTier } from '@homeport/contracts/catalogue/catalogue';
import { NativeSelect, NumberInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import classes from '../../forms/form.module.css';
import { numberSeparators } from '../../forms/number-separators.ts';
import { numberLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import { tierLabel } from '../../i18n/tier-label.ts';
import { sourceText } from '../source-text.ts';
import type { ModelSizes } from './model-values.ts';

type SizeForm = Pick<UseFormReturnType<ModelSizes>, 'getInputProps'>;

type Props = {
  form: SizeForm;
  tiers: readonly ModelTier[];
  tierOnly?: boolean;
  /** Model whose sources of sizes are shown. */
  model?: Model;
};

/** Context window, longest answer and tier, for one model or many at once. */
export function ModelSizeFields({ form, tiers, tierOnly = false, model }: Props) {
  const t = useText();
  const hint = (name: 'contextWindow' | 'maxOutputTokens', text: string) =>
    model === undefined ? text : `${text} ${sourceText(model, name, t)}`;
  const count = {
    hideControls: true,
    ...numberSeparators(numberLocale()),
    allowDecimal: false,
    allowNegative: false,
  } as const;
  return (
    <div className={classes.pair}>
      {tierOnly ? null : (
        <>
          <NumberInput
            {...form.getInputProps('contextWindow')}
            {...count}
            label={t('model.contextWindow')}
            description={hint('contextWindow', t('model.contextWindowHint'))}
          />
          <NumberInput
            {...form.getInputProps('maxOutputTokens')}
            {...count}
            label={t('model.maxOutput')}
            description={hint('maxOutputTokens', t('model.maxOutputHint'))}
          />
        </>
      )}
      <NativeSelect
        {...form.getInputProps('tier')}
        label={t('model.tier')}
        description={t('model.tierHint')}
        data={tiers.map((tier) => ({ value: String(tier.value), label: tierLabel(tier, t) }))}
      />
    </div>
  );
}
