import { ActionIcon } from '@mantine/core';
import { ClipboardPaste, TextCursorInput, X } from 'lucide-react';
import { useText } from '../../i18n/i18n.ts';
import classes from './composer.module.css';

type Props = {
  texts: readonly string[];
  isDisabled: boolean;
  onInsert: (index: number) => void;
  onRemove: (index: number) => void;
};

/** Long pasted texts, folded; each can be unfolded into the message or taken out. */
export function PastedChips({ texts, isDisabled, onInsert, onRemove }: Props) {
  const t = useText();
  if (texts.length === 0) return null;
  return (
    <ul className={classes.pasted} aria-label={t('composer.pastedLabel')}>
      {texts.map((text, index) => (
        <li key={index} className={classes.chip}>
          <ClipboardPaste size={15} aria-hidden className={classes.chipIcon} />
          <span className={classes.pastedText}>
            <span>{t('composer.pasted', { count: text.length })}</span>
            <bdi className={classes.excerpt}>{text.slice(0, 120)}</bdi>
          </span>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            disabled={isDisabled}
            onClick={() => onInsert(index)}
            aria-label={t('composer.pastedInsert')}
            title={t('composer.pastedInsert')}
          >
            <TextCursorInput size={14} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            disabled={isDisabled}
            onClick={() => onRemove(index)}
            aria-label={t('composer.pastedRemove')}
            title={t('composer.pastedRemove')}
          >
            <X size={14} />
          </ActionIcon>
        </li>
      ))}
    </ul>
  );
}
