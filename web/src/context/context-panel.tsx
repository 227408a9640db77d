import 'virtual:texts/context';
import 'virtual:texts/pages';
import type { AnswerContext } from '@homeport/contracts/chat/context';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiFailure } from '../api/api-failure.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { useThreadActions } from '../conversation/thread-actions.ts';
import fileClasses from '../files/files.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { SidePanel, useIsPanelOver } from '../layout/panel/side-panel.tsx';
import classes from './context.module.css';
import { contextQuery } from './context-api.ts';
import { ContextBar } from './context-bar.tsx';
import { ContextMessages } from './context-messages.tsx';
import { ParameterList } from './parameter-list.tsx';

type Props = {
  store: ConversationStore;
  messageId: string;
  onClose: () => void;
  /** Always as a drawer. */
  isOver?: boolean;
};

/** Panel with the prompt context of one answer. */
export function ContextPanel({ store, messageId, onClose, isOver = false }: Props) {
  const t = useText();
  const isNarrow = useIsPanelOver();
  const { data, error } = useQuery(contextQuery(store.chatId, messageId));
  return (
    <SidePanel
      label={t('message.saw')}
      subject={messageId}
      closeLabel={t('app.close')}
      isOver={isOver}
      onClose={onClose}
    >
      {body()}
    </SidePanel>
  );

  function body(): ReactNode {
    if (error instanceof ApiFailure && error.code === 'not_found')
      return <NothingKept store={store} messageId={messageId} />;
    if (error && !data) return <FormFailure failure={error} />;
    if (!data) return <div className={fileClasses.bone} aria-busy="true" />;
    return <PromptContext context={data} store={store} onLeave={isNarrow || isOver ? onClose : undefined} />;
  }
}

/** Shown for answers without a record: older ones, and those that failed before the model was called. */
function NothingKept({ store, messageId }: { store: ConversationStore; messageId: string }) {
  const t = useText();
  const { regenerate } = useThreadActions();
  const parentId = store.messageOf(messageId)?.parentId;
  return (
    <div className={fileClasses.empty}>
      <p className={fileClasses.emptyTitle}>{t('saw.noneTitle')}</p>
      <p>{t('saw.noneText')}</p>
      {parentId ? (
        <Button
          size="xs"
          variant="default"
          leftSection={<RotateCcw size={15} aria-hidden />}
          onClick={() => regenerate(parentId)}
        >
          {t('message.regenerate')}
        </Button>
      ) : null}
    </div>
  );
}

type PromptContextProps = { context: AnswerContext; store: ConversationStore; onLeave: (() => void) | undefined };

function PromptContext({ context, store, onLeave }: PromptContextProps) {
  const t = useText();
  const { model, parameters, instructions, tools, summary } = context;
  const toolTokens = tools.reduce((all, { tokens }) => all + tokens, 0);
  return (
    <>
      <section className={classes.section}>
        <h3>{t('saw.window')}</h3>
        <ContextBar context={context} />
      </section>
      <section className={classes.section}>
        <h3>{t('saw.model')}</h3>
        <p className={classes.model}>
          <bdi>{model.providerModelId}</bdi> <span className={classes.soft}>{model.providerName}</span>
        </p>
        <ParameterList parameters={parameters} />
      </section>
      <section className={classes.section}>
        <h3>{t('saw.instructions')}</h3>
        {instructions.length === 0 ? <p className={classes.soft}>{t('saw.noInstructions')}</p> : null}
        {instructions.map(({ layer, text, tokens }) => (
          <Disclosure key={layer} title={t(`saw.layer.${layer}`)} tokens={tokens}>
            <pre className={classes.text} dir="auto">
              {text}
            </pre>
          </Disclosure>
        ))}
      </section>
      <section className={classes.section}>
        <h3>{t('saw.tools')}</h3>
        {tools.length === 0 ? (
          <p className={classes.soft}>{t('saw.noTools')}</p>
        ) : (
          <Disclosure title={t('saw.toolCount', { count: tools.length })} tokens={toolTokens}>
            <ul className={classes.tools}>
              {tools.map(({ name, tokens }) => (
                <li key={name}>
                  <bdi>{name}</bdi>
                  <span className={classes.amount}>{t('saw.tokens', { tokens })}</span>
                </li>
              ))}
            </ul>
          </Disclosure>
        )}
      </section>
      {summary ? (
        <section className={classes.section}>
          <h3>{t('saw.summary')}</h3>
          <Disclosure title={t('saw.summaryOf')} tokens={summary.tokens}>
            <pre className={classes.text} dir="auto">
              {summary.text}
            </pre>
          </Disclosure>
        </section>
      ) : null}
      <ContextMessages context={context} store={store} onLeave={onLeave} />
    </>
  );
}

function Disclosure({ title, tokens, children }: { title: string; tokens: number; children: ReactNode }) {
  const t = useText();
  return (
    <details className={classes.fold}>
      <summary>
        <span>{title}</span>
        <span className={classes.amount}>{t('saw.tokens', { tokens })}</span>
      </summary>
      {children}
    </details>
  );
}
