import './forms.css';
import { limits } from '@homeport/contracts/limits';
import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { Check, Circle } from 'lucide-react';
import { useId, useState } from 'react';
import { useText } from '../i18n.ts';
import classes from './form.module.css';
import { passwordRules } from './rules.ts';

/** A password that can be shown, by keyboard too. */
export function PasswordField(props: PasswordInputProps) {
  const t = useText();
  const [isShown, setShown] = useState(false);
  return (
    <PasswordInput
      {...props}
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

/** A password to be chosen, with its rules and which of them it meets. */
export function NewPasswordField({ value, ...props }: PasswordInputProps & { value: string }) {
  const id = useId();
  return (
    <div>
      <PasswordField
        {...props}
        value={value}
        autoComplete="new-password"
        maxLength={limits.passwordMax}
        aria-describedby={id}
        inputWrapperOrder={['label', 'description', 'input', 'error']}
      />
      <PasswordRules id={id} value={value} />
    </div>
  );
}

function PasswordRules({ id, value }: { id: string; value: string }) {
  const t = useText();
  return (
    <ul id={id} className={classes.rules}>
      {passwordRules(value).map(({ name, isMet }) => (
        <li key={name} data-met={isMet || undefined}>
          {isMet ? <Check size={15} aria-hidden /> : <Circle size={9} aria-hidden />}
          {t(`person.rule${name}`, { min: limits.passwordMin, max: limits.passwordMax })}
          <span className="visually-hidden">{t(isMet ? 'person.ruleMet' : 'person.ruleOpen')}</span>
        </li>
      ))}
    </ul>
  );
}
