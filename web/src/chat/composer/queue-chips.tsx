import type { QueuedInput } from '@homeport/contracts/chat/conversations';
import { ActionIcon } from '@mantine/core';
import { ArrowUp, CornerDownRight, Pencil, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { call } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import { attachedOf, filesName, parseAttached, storeAttached } from '../../conversation/draft/attached-files.ts';
import { messageText } from '../../conversation/message-text.ts';
import { sendQueuedNow } from '../../conversation/steering.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { showFailure } from '../../layout/toasts.tsx';
import classes from './composer.module.css';

type Props = {
  store: ConversationStore;
  inputs: readonly QueuedInput[];
  /** An answer is running that a message can be sent to. */
  isRunning: boolean;
  /** The field in which an input taken back is changed; closed while it is not free. */
  draft: { name: string; isFree: boolean };
};

/**
 * The inputs that wait for their turn, in the order they will be applied. Each can be taken back as long as it waits.
 */
export function QueueChips({ store, inputs, isRunning, draft }: Props) {
  const t = useText();
  if (inputs.length === 0) return null;
  return (
    <ol className={classes.queue} aria-label={t('queue.label')}>
      {inputs.map((input, index) => (
        <Chip key={input.id} store={store} input={input} isRunning={isRunning} position={index + 1} draft={draft} />
      ))}
    </ol>
  );
}

type ChipProps = Pick<Props, 'store' | 'isRunning' | 'draft'> & { input: QueuedInput; position: number };

function Chip({ store, input, isRunning, position, draft }: ChipProps) {
  const t = useText();
  const { drafts } = useClientSession();
  const [isBusy, setBusy] = useState(false);
  const text = messageText(input.message.parts);
  const files = attachedOf(input.message.parts);
  const label = text || files.map(({ filename }) => filename).join(', ');
  const cancel = async (): Promise<'taken' | 'applied' | 'unknown'> => {
    setBusy(true);
    try {
      await call('DELETE /api/chat/turn-inputs', { query: { chatId: store.chatId, id: input.id } });
      store.removeQueued(input.id);
      return 'taken';
    } catch (error) {
      showFailure(t('queue.cancelFailed'), failureText(error, t));
      store.follow();
      setBusy(false);
      return error instanceof ApiFailure && error.code === 'input_applied' ? 'applied' : 'unknown';
    }
  };
  const sendNow = async () => {
    setBusy(true);
    const failure = await sendQueuedNow(store, input.id);
    if (failure !== undefined) showFailure(t('queue.sendNowFailed'), failureText(failure, t));
    setBusy(false);
  };
  // The draft comes first: a crash in between leaves the text in both places, never in none.
  const edit = async () => {
    const before = drafts.read(draft.name);
    const after = before.trim() === '' ? text : `${text}\n\n${before}`;
    const filesBefore = drafts.read(filesName(store.chatId));
    drafts.replace(draft.name, after);
    drafts.replace(filesName(store.chatId), storeAttached([...files, ...parseAttached(filesBefore)]));
    const outcome = await cancel();
    if (outcome === 'taken') document.querySelector<HTMLElement>('[data-composer]')?.focus();
    if (outcome !== 'applied' || drafts.read(draft.name) !== after) return;
    drafts.replace(draft.name, before);
    drafts.replace(filesName(store.chatId), filesBefore);
  };
  const short = label.slice(0, 60);
  return (
    <li className={classes.chip}>
      <CornerDownRight size={14} aria-hidden className={classes.chipIcon} />
      <span className="visually-hidden">{t('queue.position', { position })}</span>
      <span className={classes.chipText} dir="auto">
        {label}
      </span>
      {input.state === 'steering' ? <span className={classes.chipState}>{t('queue.steering')}</span> : null}
      {isRunning && input.state === 'queued' ? (
        <ChipButton label={t('queue.sendNow', { text: short })} isDisabled={isBusy} onClick={sendNow}>
          <ArrowUp size={14} />
        </ChipButton>
      ) : null}
      <ChipButton label={t('queue.edit', { text: short })} isDisabled={isBusy || !draft.isFree} onClick={edit}>
        <Pencil size={13} />
      </ChipButton>
      <ChipButton label={t('queue.cancel', { text: short })} isDisabled={isBusy} onClick={cancel}>
        <X size={14} />
      </ChipButton>
    </li>
  );
}

type ChipButtonProps = { label: string; isDisabled: boolean; onClick: () => Promise<unknown>; children: ReactNode };

function ChipButton({ label, isDisabled, onClick, children }: ChipButtonProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={24}
      disabled={isDisabled}
      onClick={() => void onClick()}
      aria-label={label}
      title={label}
    >
      {children}
    </ActionIcon>
  );
}
