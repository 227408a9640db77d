import 'virtual:texts/context';
import type { Summary } from '@homeport/contracts/chat/summaries';
import { limits } from '@homeport/contracts/limits';
import { Button } from '@mantine/core';
import { ScrollText } from 'lucide-react';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { call } from '../../api/api.ts';
import { compactConversation } from '../../conversation/compaction.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import { Autosize } from '../composer/autosize.tsx';
import classes from './summary-line.module.css';

type Props = {
  store: ConversationStore;
  summary: Summary;
  /** The one that the model is sent; those before it are in it. */
  isNewest: boolean;
  isRunning: boolean;
};

/**
 * Line in the thread for the summary of everything above; opens its text, which can be edited, regenerated and undone.
 */
export function SummaryLine({ store, summary, isNewest, isRunning }: Props) {
  const t = useText();
  const [isEditing, setEditing] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const isLocked = isRunning || isBusy;
  const { chatId } = store;
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    try {
      await work();
      return true;
    } catch (error) {
      showFailure(t('nav.changeFailed'), failureText(error, t));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const close = () => {
    flushSync(() => setEditing(false));
    edit.current?.focus();
  };
  const save = async (text: string) => {
    if (!(await attempt(() => call('PATCH /api/chats/summaries', { body: { chatId, id: summary.id, text } })))) return;
    close();
    store.restart();
  };
  const undo = async () => {
    if (!(await attempt(() => call('DELETE /api/chats/summaries', { query: { chatId, id: summary.id } })))) return;
    document.querySelector<HTMLElement>('[data-composer]')?.focus();
    showToast(t('summary.undone'));
    store.restart();
  };
  return (
    <details className={classes.summary} data-summary={summary.id}>
      <summary>
        <span className={classes.title}>
          <ScrollText size={14} aria-hidden />
          {t('summary.line')}
        </span>
      </summary>
      <div className={classes.body}>
        <p className={classes.about}>{t(isNewest ? 'summary.about' : 'summary.aboutEarlier')}</p>
        {isEditing ? (
          <Editor text={summary.text} isBusy={isBusy} onSave={(text) => void save(text)} onClose={close} />
        ) : (
          <div className={classes.text} dir="auto">
            {summary.text}
          </div>
        )}
        {isNewest && !isEditing ? (
          <div className={classes.buttons}>
            <Button ref={edit} size="xs" variant="default" disabled={isLocked} onClick={() => setEditing(true)}>
              {t('summary.edit')}
            </Button>
            <Button
              size="xs"
              variant="default"
              disabled={isLocked}
              onClick={() => void attempt(() => compactConversation(store))}
            >
              {t('summary.again')}
            </Button>
            <Button size="xs" variant="default" disabled={isLocked} onClick={() => void undo()}>
              {t('summary.undo')}
            </Button>
          </div>
        ) : null}
      </div>
    </details>
  );
}

type EditorProps = { text: string; isBusy: boolean; onSave: (text: string) => void; onClose: () => void };

function Editor({ text, isBusy, onSave, onClose }: EditorProps) {
  const t = useText();
  const [value, setValue] = useState(text);
  const canSave = !isBusy && value.trim() !== '';
  return (
    <>
      <Autosize
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === 'Escape') onClose();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && canSave) onSave(value);
        }}
        maxLength={limits.summaryTextMax}
        aria-label={t('summary.editLabel')}
        disabled={isBusy}
        autoFocus
        className={classes.field}
      />
      <div className={classes.buttons}>
        <Button size="xs" disabled={!canSave} loading={isBusy} onClick={() => onSave(value)}>
          {t('summary.save')}
        </Button>
        <Button size="xs" variant="default" onClick={onClose}>
          {t('app.cancel')}
        </Button>
      </div>
    </>
  );
}
