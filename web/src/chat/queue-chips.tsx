import type { QueuedInput } from '@homeport/contracts/conversations';
import { ActionIcon } from '@mantine/core';
import { CornerDownRight, X } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api.ts';
import { failureText } from '../failure-text.ts';
import { showFailure } from '../frame/toasts.tsx';
import { useText } from '../i18n.ts';
import classes from './composer.module.css';
import type { ConversationStore } from './conversation-store.ts';
import { plainText } from './message-view.tsx';

/** The inputs that wait for their turn, in the order they will be applied. */
export function QueueChips({ store, inputs }: { store: ConversationStore; inputs: readonly QueuedInput[] }) {
  const t = useText();
  if (inputs.length === 0) return null;
  return (
    <ol className={classes.queue} aria-label={t('queue.label')}>
      {inputs.map((input, index) => (
        <Chip key={input.id} store={store} input={input} position={index + 1} />
      ))}
    </ol>
  );
}

function Chip({ store, input, position }: { store: ConversationStore; input: QueuedInput; position: number }) {
  const t = useText();
  const [isBusy, setBusy] = useState(false);
  const text = plainText(input.message.parts);
  const cancel = async () => {
    setBusy(true);
    try {
      await call('DELETE /api/chat/turn-inputs', { query: { chatId: store.chatId, id: input.id } });
      store.removeQueued(input.id);
    } catch (error) {
      showFailure(t('queue.cancelFailed'), failureText(error, t));
      store.follow();
      setBusy(false);
    }
  };
  return (
    <li className={classes.chip}>
      <CornerDownRight size={14} aria-hidden className={classes.chipIcon} />
      <span className="visually-hidden">{t('queue.position', { position })}</span>
      <span className={classes.chipText} dir="auto">
        {text}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={24}
        disabled={isBusy}
        onClick={() => void cancel()}
        aria-label={t('queue.cancel', { text: text.slice(0, 60) })}
      >
        <X size={14} />
      </ActionIcon>
    </li>
  );
}
