import { Button, type PasswordInputProps } from '@mantine/core';
import classes from './form.module.css';
import { PasswordField } from './password-field.tsx';

type Props = Pick<PasswordInputProps, 'label' | 'description' | 'inputWrapperOrder'> & {
  /** The form's props for its field. */
  input: object;
  isStored: boolean;
  /** The stored secret is removed when the form is saved. */
  isCleared: boolean;
  onToggle: () => void;
  clearLabel: string;
  keepLabel: string;
};

/** A secret goes in and never comes out: a stored one can be kept, replaced or removed. */
export function StoredSecretField({ input, isStored, isCleared, onToggle, clearLabel, keepLabel, ...field }: Props) {
  return (
    <div className={classes.nested}>
      <PasswordField
        {...input}
        {...field}
        autoComplete="new-password"
        disabled={isCleared}
        data-1p-ignore
        data-lpignore="true"
      />
      {isStored ? (
        <Button size="compact-xs" variant="subtle" mt={6} onClick={onToggle}>
          {isCleared ? keepLabel : clearLabel}
        </Button>
      ) : null}
    </div>
  );
}
