import 'virtual:texts/catalogue';
import '../../forms/forms.css';
import type { Model } from '@homeport/contracts/catalogue/catalogue';
import { NumberInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Disclosure } from '../../forms/disclosure.tsx';
import formClasses from '../../forms/form.module.css';
import { numberSeparators } from '../../forms/number-separators.ts';
import { numberLocale } from '../../i18n/format-locale.ts';
import { type Translate, useText } from '../../i18n/i18n.ts';
import { sourceText } from '../source-text.ts';
import classes from './fact-fields.module.css';
import { priceText } from './model-facts.ts';
import type { FactValues } from './model-patch.ts';

const abilityNames = ['images', 'documents', 'tools', 'temperature'] as const;
const priceNames = ['input', 'output'] as const;

type Props = {
  model: Model;
  form: Pick<UseFormReturnType<FactValues>, 'getInputProps' | 'errors'>;
};

/** Fields for a model's abilities and prices, with their source; a changed value gets the source `person`. */
export function FactFields({ model, form }: Props) {
  const t = useText();
  const number = {
    hideControls: true,
    ...numberSeparators(numberLocale()),
    allowNegative: false,
    decimalScale: 6,
  } as const;
  return (
    <Disclosure label={t('facts.title')} opens={Object.keys(form.errors).some((path) => path.startsWith('prices.'))}>
      <div className={classes.facts}>
        <fieldset className={classes.group}>
          <legend>{t('refresh.field.abilities')}</legend>
          {abilityNames.map((name) => (
            <label key={name} className={classes.ability}>
              <input type="checkbox" {...form.getInputProps(`abilities.${name}`, { type: 'checkbox' })} />
              {t(`facts.ability.${name}`)}
            </label>
          ))}
          <p className={classes.source}>{sourceText(model, 'abilities', t)}</p>
        </fieldset>
        <fieldset className={classes.group}>
          <legend>{t('refresh.field.prices')}</legend>
          <div className={formClasses.pair}>
            {priceNames.map((name) => (
              <NumberInput
                key={name}
                {...form.getInputProps(`prices.${name}`)}
                {...number}
                label={t(`facts.price.${name}`)}
              />
            ))}
          </div>
          <p className={classes.source}>{estimateText(model, t) ?? sourceText(model, 'prices', t)}</p>
        </fieldset>
      </div>
    </Disclosure>
  );
}

/** The list price that counts while no other is known. */
function estimateText({ estimatedPrices }: Model, t: Translate): string | undefined {
  const prices = estimatedPrices ? priceText(estimatedPrices, numberLocale()) : undefined;
  return prices && t('facts.estimate', { prices });
}
