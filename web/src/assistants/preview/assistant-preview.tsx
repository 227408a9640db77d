import 'virtual:texts/instructions';
import 'virtual:texts/projects';
import 'virtual:texts/pages';
import 'virtual:texts/assistants';
import { Button, UnstyledButton } from '@mantine/core';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { Announcer } from '../../chat/thread/announcer.tsx';
import { Thread } from '../../chat/thread/thread.tsx';
import { useConversation } from '../../chat/use-conversation.ts';
import { ContextPanel } from '../../context/context-panel.tsx';
import { useClientSession } from '../../conversation/client-session.ts';
import { ThreadActionsContext } from '../../conversation/thread-actions.ts';
import { useText } from '../../i18n/i18n.ts';
import { createId } from '../../ids.ts';
import { AssistantPicture } from '../../layout/records/assistant-picture.tsx';
import type { AssistantValues } from '../assistant-values.ts';
import classes from './preview.module.css';
import { startersOf } from './preview-chat.ts';
import { PreviewComposer } from './preview-composer.tsx';
import { previewDraft, usePreview } from './use-preview.ts';

/** A conversation with the assistant as the form has it now. */
export function AssistantPreview({ values }: { values: AssistantValues }) {
  const [chatId, setChatId] = useState(createId);
  return <Preview key={chatId} chatId={chatId} values={values} onRestart={() => setChatId(createId())} />;
}

type Props = { chatId: string; values: AssistantValues; onRestart: () => void };

function Preview({ chatId, values, onRestart }: Props) {
  const t = useText();
  const preview = usePreview(chatId, values);
  const { actions, isMade, store, saw } = preview;
  return (
    <section className={classes.preview} aria-label={t('preview.title')}>
      <header className={classes.head}>
        <h2>{t('preview.title')}</h2>
        {isMade ? (
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            leftSection={<RotateCcw size={14} aria-hidden />}
            onClick={() => {
              onRestart();
              focusComposer();
            }}
          >
            {t('preview.restart')}
          </Button>
        ) : null}
      </header>
      <ThreadActionsContext value={actions}>
        {isMade ? <Conversation chatId={chatId} /> : <Start chatId={chatId} values={values} />}
        {saw === undefined ? null : <ContextPanel store={store} messageId={saw} onClose={preview.closeSaw} isOver />}
      </ThreadActionsContext>
      <PreviewComposer chatId={chatId} values={values} preview={preview} />
    </section>
  );
}

function focusComposer(): void {
  // The field of a new preview replaces this one first.
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-composer]')?.focus());
}

function Conversation({ chatId }: { chatId: string }) {
  const { store, view } = useConversation(chatId);
  return (
    <>
      <Thread store={store} view={view} />
      <Announcer view={view} />
    </>
  );
}

/** Content before the first message: as in a new conversation, the starters fill the field. */
function Start({ chatId, values }: { chatId: string; values: AssistantValues }) {
  const t = useText();
  const { drafts } = useClientSession();
  const { icon, name } = values;
  const begin = (text: string) => {
    drafts.replace(previewDraft(chatId), text);
    focusComposer();
  };
  return (
    <div className={classes.start}>
      <AssistantPicture icon={icon} name={name} size="large" />
      <p className={classes.name}>{name.trim() || t('assistant.newTitle')}</p>
      <p className={classes.about}>{t('preview.about')}</p>
      <ul className={classes.starters}>
        {startersOf(values).map((text) => (
          <li key={text}>
            <UnstyledButton className={classes.starter} onClick={() => begin(text)}>
              {text}
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </div>
  );
}
