import { useId } from 'react';
import { useText } from '../i18n.ts';
import classes from './catalogue.module.css';
import { type ProviderPreset, providerPresets } from './provider-presets.ts';

/** Which provider it is; only fills in the fields below. */
export function PresetChoice({
  value,
  onChange,
}: {
  value: ProviderPreset;
  onChange: (preset: ProviderPreset) => void;
}) {
  const t = useText();
  const name = useId();
  return (
    <fieldset className={classes.presets}>
      <legend className={classes.legend}>{t('provider.preset')}</legend>
      {providerPresets.map((preset) => (
        <label key={preset.key} className={classes.preset}>
          <input
            type="radio"
            name={name}
            checked={preset.key === value.key}
            onChange={() => onChange(preset)}
            className="visually-hidden"
          />
          {preset.name || t('provider.presetOther')}
        </label>
      ))}
    </fieldset>
  );
}
