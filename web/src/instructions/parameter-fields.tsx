import 'virtual:texts/instructions';
import 'virtual:texts/pages';
import '../forms/forms.css';
import { NativeSelect, NumberInput, Textarea } from '@mantine/core';
import type { ReactNode } from 'react';
import { Disclosure } from '../forms/disclosure.tsx';
import formClasses from '../forms/form.module.css';
import { numberSeparators } from '../forms/number-separators.ts';
import { numberLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import classes from './instructions.module.css';
import { countSet, efforts, type ParameterValues, verbosities } from './parameter-values.ts';

type Props = {
  values: ParameterValues;
  onChange: (values: ParameterValues) => void;
  errors: Partial<Record<keyof ParameterValues, ReactNode>>;
  label?: string;
  /** Scope of the parameters, and the defaults while unset. */
  hint: string;
  /** Left out where the form has a field for it already. */
  withoutLength?: boolean;
};

/** How a model is to answer, folded away until something is set. */
export function ParameterFields({ values, onChange, errors, label, hint, withoutLength = false }: Props) {
  const t = useText();
  const unset = t('parameters.unset');
  const set = <K extends keyof ParameterValues>(name: K, value: ParameterValues[K]) =>
    onChange({ ...values, [name]: value });
  const number = (name: 'temperature' | 'topP' | 'maxOutputTokens' | 'seed') => ({
    label: t(`parameters.${name}`),
    description: t(`parameters.${name}Hint`),
    value: values[name],
    onChange: (value: number | string) => set(name, value),
    error: errors[name],
    placeholder: unset,
    hideControls: true,
    ...numberSeparators(numberLocale()),
  });
  const counted = countSet(withoutLength ? { ...values, maxOutputTokens: '' } : values);
  return (
    <Disclosure
      label={label ?? t('parameters.title')}
      count={counted}
      opens={counted > 0 || Object.values(errors).some(Boolean)}
    >
      <div className={classes.parameters}>
        <p className={classes.hint}>{hint}</p>
        <div className={formClasses.pair}>
          <NativeSelect
            label={t('parameters.reasoningEffort')}
            description={t('parameters.reasoningEffortHint')}
            value={values.reasoningEffort}
            onChange={(event) => set('reasoningEffort', event.currentTarget.value)}
            error={errors.reasoningEffort}
            data={[
              { value: '', label: unset },
              ...efforts.map((value) => ({ value, label: t(`parameters.effort.${value}`) })),
            ]}
          />
          <NativeSelect
            label={t('parameters.verbosity')}
            description={t('parameters.verbosityHint')}
            value={values.verbosity}
            onChange={(event) => set('verbosity', event.currentTarget.value)}
            error={errors.verbosity}
            data={[
              { value: '', label: unset },
              ...verbosities.map((value) => ({ value, label: t(`parameters.verbosity.${value}`) })),
            ]}
          />
        </div>
        <div className={formClasses.pair}>
          <NumberInput
            {...number('temperature')}
            allowNegative={false}
            decimalScale={2}
            step={0.1}
            thousandSeparator=""
          />
          <NumberInput {...number('topP')} allowNegative={false} decimalScale={3} step={0.05} thousandSeparator="" />
        </div>
        <div className={formClasses.pair}>
          {withoutLength ? null : (
            <NumberInput {...number('maxOutputTokens')} allowDecimal={false} allowNegative={false} />
          )}
          <NumberInput {...number('seed')} allowDecimal={false} thousandSeparator="" />
        </div>
        <Textarea
          className={classes.stop}
          label={t('parameters.stop')}
          description={t('parameters.stopHint')}
          value={values.stop}
          onChange={(event) => set('stop', event.currentTarget.value)}
          error={errors.stop}
          placeholder={unset}
          rows={2}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="none"
        />
      </div>
    </Disclosure>
  );
}
