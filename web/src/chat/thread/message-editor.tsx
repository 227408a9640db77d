import 'virtual:texts/conversation';
import type { Message } from '@homeport/contracts/chat/conversations';
import { limits } from '@homeport/contracts/limits';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { useDraft } from '../../conversation/use-draft.ts';
import { useText } from '../../i18n/i18n.ts';
import { Autosize } from '../composer/autosize.tsx';
import { editDraftName } from './edit-draft-name.ts';
import classes from './message-view.module.css';

type Props = { message: Message; text: string; isRunning: boolean; onClose: () => void };

/** Edits a sent message into a new version of it. The unfinished edit is kept like any draft. */
export function MessageEditor({ message, text, isRunning, onClose }: Props) {
  const t = useText();
  const { resend } = useThreadActions();
  const draft = useDraft(editDraftName(message.id));
  const [isSending, setSending] = useState(false);
  const [value, setValue] = useState(draft.text === '' ? text : draft.text);
  const change = (next: string) => {
    setValue(next);
    draft.setText(next === text ? '' : next);
  };
  const files = message.parts.filter((part) => part.type === 'file');
  const isEmpty = value.trim() === '' && files.length === 0;
  const canSend = !isRunning && !isSending && !isEmpty && value.length <= limits.messageTextMax;
  const send = async () => {
    if (!canSend) return;
    setSending(true);
    const isSent = await resend({ messageId: message.id, parentId: message.parentId, text: value, files });
    setSending(false);
    if (isSent) onClose();
  };
  return (
    <div className={classes.editor}>
      <Autosize
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === 'Escape') onClose();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
        }}
        aria-label={t('message.editLabel')}
        disabled={isSending}
        autoFocus
        className={classes.editorField}
      />
      <div className={classes.editorFoot}>
        <span className={classes.quietText}>{t('message.editHint')}</span>
        <Button size="xs" variant="default" onClick={onClose}>
          {t('app.cancel')}
        </Button>
        <Button size="xs" onClick={() => void send()} disabled={!canSend} loading={isSending}>
          {t('message.editSend')}
        </Button>
      </div>
    </div>
  );
}
