import type { ReactNode } from 'react';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { ConversationView } from '../../conversation/conversation-view.ts';
import type { NewChat } from '../../conversation/new-chat.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { EffortChoice } from '../model/effort-choice.tsx';
import { ModelPicker } from '../model/model-picker.tsx';
import type { UsedContext } from '../panels/used-context.ts';
import { AttachButton } from './attach-button.tsx';
import classes from './composer.module.css';
import type { TurnOptions } from './use-turn-options.ts';

const ContextGauge = lazyComponent(async () => (await import('../panels/context-gauge.tsx')).ContextGauge);

type Props = {
  store: ConversationStore;
  /** Undefined while the conversation does not exist. */
  chat: ConversationView['chat'];
  /** Undefined once the conversation exists. */
  newChat: NewChat | undefined;
  usedContext: UsedContext | undefined;
  options: TurnOptions;
  isRunning: boolean;
  isSaving: boolean;
  isDisabled: boolean;
  onFiles: (files: File[]) => void;
  /** The buttons that stop and send. */
  children: ReactNode;
};

/** Row below the message field: attachments, options of the next turn, and buttons. */
export function ComposerTools(props: Props) {
  const { store, chat, newChat, usedContext, options, isRunning, isSaving, isDisabled, onFiles, children } = props;
  const t = useText();
  const { servers, web, effort, answering } = options;
  return (
    <div className={classes.tools}>
      <AttachButton
        chat={newChat ? undefined : chat}
        newChat={newChat}
        store={store}
        web={web}
        serverIds={servers.ids}
        onServers={servers.choose}
        onFiles={onFiles}
        onEffort={effort.ask}
        isDisabled={isDisabled}
      />
      <ModelPicker isNew={newChat !== undefined} answering={answering} isDisabled={isDisabled} />
      <EffortChoice chat={chat} answering={answering} effort={effort} isDisabled={isDisabled} />
      {chat && usedContext ? (
        <ContextGauge
          store={store}
          model={answering.model}
          context={usedContext}
          isDisabled={isRunning || isDisabled}
        />
      ) : null}
      <span className={classes.gap} />
      {isSaving ? (
        <span role="status" className={classes.saving}>
          {t('composer.saving')}
        </span>
      ) : null}
      {children}
    </div>
  );
}
