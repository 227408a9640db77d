import '../../forms/forms.css';
import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from './branding.module.css';

/** A six-digit hex color, chosen in the browser's picker or typed. */
export function ColorField({
  label,
  value,
  error,
  onChange,
}: {
  label: string;
  value: string;
  error?: ReactNode;
  onChange: (value: string) => void;
}) {
  const t = useText();
  return (
    <div className={classes.color}>
      <input
        type="color"
        className={classes.swatch}
        aria-label={t('branding.pick', { name: label })}
        value={/^#[0-9a-f]{6}$/i.test(value) ? value : '#000000'}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <TextInput
        label={label}
        value={value}
        error={error}
        aria-invalid={Boolean(error)}
        onChange={(event) => onChange(withSign(event.currentTarget.value))}
        maxLength={7}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        className={classes.hex}
      />
    </div>
  );
}

function withSign(text: string): string {
  const value = text.trim().toLowerCase();
  return /^[0-9a-f]{6}$/.test(value) ? `#${value}` : value;
}
