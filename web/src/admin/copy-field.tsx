import '../forms/forms.css';
import { Button, TextInput } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import { useCopy } from '../clipboard.ts';
import { useText } from '../i18n/i18n.ts';
import classes from './admin.module.css';

/** Something to copy: shown in full, copied with one press. */
export function CopyField({
  label,
  description,
  value,
  isFocused = false,
}: {
  label: string;
  description?: ReactNode;
  value: string;
  /** Whether a dialog focuses its button. */
  isFocused?: boolean;
}) {
  const t = useText();
  const { isCopied, copy } = useCopy();
  return (
    <div>
      <TextInput
        label={label}
        description={description}
        value={value}
        readOnly
        spellCheck={false}
        onFocus={(event) => event.currentTarget.select()}
        inputContainer={(input) => (
          <div className={classes.copy}>
            {input}
            <Button
              variant="default"
              data-autofocus={isFocused || undefined}
              leftSection={isCopied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />}
              aria-label={isCopied ? t('app.copied') : t('admin.copyNamed', { name: label })}
              onClick={() => copy(value)}
            >
              {t(isCopied ? 'app.copied' : 'app.copy')}
            </Button>
          </div>
        )}
      />
      <span role="status" className="visually-hidden">
        {isCopied ? t('app.copied') : ''}
      </span>
    </div>
  );
}
