import '../../forms/forms.css';
import { Button, TextInput } from '@mantine/core';
import { useId } from 'react';
import { FormFailure } from '../../forms/notice.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from '../workspace.module.css';

type Props = {
  label: string;
  /** The text of the button. */
  action: string;
  name: string;
  /** Throws the server's refusal. */
  onName: (name: string) => Promise<void>;
  onClose: () => void;
};

/** Asks for a name in place. Escape leaves everything as it is. */
export function NameForm({ label, action, name, onName, onClose }: Props) {
  const t = useText();
  const id = useId();
  const { form, formProps, isBusy, failure } = useApiForm<{ name: string }>({
    initialValues: { name },
    validate: ({ name: given }) => ({ name: fault(given.trim(), t) }),
    submit: async ({ name: given }) => {
      if (given.trim() !== name) await onName(given.trim());
      onClose();
    },
    placeFailure: ({ code, message }) =>
      code === 'path_taken'
        ? { field: 'name', text: t('files.taken') }
        : code === 'invalid_path' || code === 'invalid_request'
          ? { field: 'name', text: message }
          : undefined,
  });
  return (
    <form {...formProps} className={classes.nameForm}>
      <TextInput
        {...form.getInputProps('name')}
        id={id}
        aria-label={label}
        className={classes.nameField}
        size="xs"
        autoComplete="off"
        spellCheck={false}
        maxLength={255}
        autoFocus
        onFocus={(event) => selectStem(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          event.preventDefault();
          onClose();
        }}
      />
      <Button type="submit" size="xs" loading={isBusy}>
        {action}
      </Button>
      <Button size="xs" variant="default" onClick={onClose}>
        {t('app.cancel')}
      </Button>
      <FormFailure failure={failure} />
    </form>
  );
}

/** Typing over a file's name keeps its extension. */
function selectStem(field: HTMLInputElement): void {
  const dot = field.value.lastIndexOf('.');
  if (dot > 0) field.setSelectionRange(0, dot);
  else field.select();
}

function fault(name: string, t: ReturnType<typeof useText>): string | null {
  if (name === '') return t('form.required');
  return name.includes('/') ? t('workspace.noSlash') : null;
}
