import './forms.css';
import { limits } from '@homeport/contracts/limits';
import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { Check, Circle } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../i18n/i18n.ts';
import classes from './form.module.css';
import { passwordRules } from './rules.ts';

/** A password that can be made visible, also by keyboard. */
export function PasswordField(props: PasswordInputProps) {
  const t = useText();
  const [isShown, setShown] = useState(false);
  return (
    <PasswordInput
      {...props}
      aria-invalid={Boolean(props.error)}
      visible={isShown}
      onVisibilityChange={setShown}
      visibilityToggleButtonProps={{
        'aria-label': t('person.showPassword'),
        'aria-pressed': isShown,
        'aria-hidden': false,
        tabIndex: 0,
      }}
    />
  );
}

/** A new password, with its rules and which of them are met. */
export function NewPasswordField({ value, ...props }: PasswordInputProps & { value: string }) {
  return (
    <PasswordField
      {...props}
      value={value}
      autoComplete="new-password"
      maxLength={limits.passwordMax}
      description={<PasswordRules value={value} />}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
    />
  );
}

/**
 * In the field's description, so that it is read with the field; a description is a paragraph and cannot contain a
 * list.
 */
function PasswordRules({ value }: { value: string }) {
  const t = useText();
  return (
    <span className={classes.rules}>
      {passwordRules(value).map(({ name, isMet }) => (
        <span key={name} className={classes.rule} data-met={isMet || undefined}>
          {isMet ? <Check size={15} aria-hidden /> : <Circle size={9} aria-hidden />}
          {t(`person.rule${name}`, { min: limits.passwordMin, max: limits.passwordMax })}
          <span className="visually-hidden">{t(isMet ? 'person.ruleMet' : 'person.ruleOpen')}</span>
        </span>
      ))}
    </span>
  );
}
