import type { Parameters } from '@homeport/contracts/chat/parameters';
import { numberLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import classes from './context.module.css';

/** The parameters that were sent. */
export function ParameterList({ parameters }: { parameters: Parameters }) {
  const t = useText();
  const { temperature, topP, maxOutputTokens, reasoningEffort, verbosity, stop, seed } = parameters;
  const number = (value: number | undefined) => value?.toLocaleString(numberLocale());
  const rows = [
    [t('saw.parameter.reasoningEffort'), reasoningEffort && t(`effort.${reasoningEffort}`)],
    [t('saw.parameter.verbosity'), verbosity && t(`saw.verbosity.${verbosity}`)],
    [t('saw.parameter.temperature'), number(temperature)],
    [t('saw.parameter.topP'), number(topP)],
    [t('saw.parameter.maxOutputTokens'), number(maxOutputTokens)],
    [t('saw.parameter.stop'), stop?.map((text) => JSON.stringify(text)).join(', ')],
    [t('saw.parameter.seed'), seed?.toString()],
  ] as const;
  const set = rows.filter(([, value]) => value !== undefined && value !== '');
  if (set.length === 0) return <p className={classes.soft}>{t('saw.noParameters')}</p>;
  return (
    <dl className={classes.parameters}>
      {set.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
