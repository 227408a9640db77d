import 'virtual:texts/context';
import type { Assistant } from '@homeport/contracts/assistants';
import { ActionIcon } from '@mantine/core';
import { CircleAlert, X } from 'lucide-react';
import { useText } from '../../i18n/i18n.ts';
import { AssistantPicture } from '../../layout/records/assistant-picture.tsx';
import classes from './assistant-chip.module.css';
import { useMissingParts } from './use-missing-parts.ts';

type Props = {
  /** Null: the conversation had one that its reader may not use any more. */
  assistant: Assistant | null;
  onRemove: () => void;
  isDisabled: boolean;
};

/** The assistant of the next answer, its missing parts, and a button that removes it. */
export function AssistantChip({ assistant, onRemove, isDisabled }: Props) {
  const t = useText();
  const missing = useMissingParts(assistant);
  const name = assistant?.name ?? t('suggest.gone');
  return (
    <p className={classes.chip}>
      <span className="visually-hidden">{t('suggest.chip')}</span>
      {assistant ? <AssistantPicture icon={assistant.icon} name={name} /> : <CircleAlert size={15} aria-hidden />}
      <span className={classes.words}>
        <bdi className={classes.name}>{name}</bdi>
        {missing === undefined ? null : <span className={classes.missing}> {missing}</span>}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={24}
        radius="xl"
        disabled={isDisabled}
        aria-label={t('suggest.remove', { name })}
        title={t('suggest.remove', { name })}
        onClick={onRemove}
      >
        <X size={14} />
      </ActionIcon>
    </p>
  );
}
