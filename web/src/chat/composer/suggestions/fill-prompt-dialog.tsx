import 'virtual:texts/conversation';
import '../../../forms/forms.css';
import type { Prompt } from '@homeport/contracts/prompts';
import { Button, Textarea } from '@mantine/core';
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from 'react';
import { fillPlaceholders, placeholderNames } from '../../../conversation/draft/placeholders.ts';
import classes from '../../../forms/form.module.css';
import { useText } from '../../../i18n/i18n.ts';
import { FormDialog } from '../../../layout/dialogs/form-dialog.tsx';

type Props = { prompt: Pick<Prompt, 'title' | 'text'>; onText: (text: string) => void; onClose: () => void };

/** Asks for the placeholders of a saved prompt. Empty fields keep their placeholder. */
export function FillPromptDialog({ prompt, onText, onClose }: Props) {
  return (
    <FormDialog title={prompt.title} onClose={onClose}>
      {({ cancel, onDirty }) => <FillForm text={prompt.text} cancel={cancel} onDirty={onDirty} onText={onText} />}
    </FormDialog>
  );
}

type FormProps = {
  text: string;
  cancel: ReactNode;
  onDirty: (isDirty: boolean) => void;
  onText: (text: string) => void;
};

function FillForm({ text, cancel, onDirty, onText }: FormProps) {
  const t = useText();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const change = (name: string, value: string) => {
    const next = { ...values, [name]: value };
    setValues(next);
    onDirty(Object.values(next).some((each) => each !== ''));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onDirty(false);
    onText(fillPlaceholders(text, new Map(Object.entries(values))));
  };
  // As in the message field, Shift makes a new line.
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      {placeholderNames(text).map((name, index) => (
        <Textarea
          key={name}
          label={name}
          value={values[name] ?? ''}
          onChange={(event) => change(name, event.currentTarget.value)}
          onKeyDown={onKeyDown}
          maxLength={10_000}
          autosize
          minRows={1}
          maxRows={6}
          data-autofocus={index === 0 || undefined}
        />
      ))}
      <div className={classes.actions}>
        {cancel}
        <Button type="submit">{t('composer.promptInsert')}</Button>
      </div>
    </form>
  );
}
