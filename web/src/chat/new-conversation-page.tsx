import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { catalogueQuery } from '../api/queries.ts';
import { enabledModels } from '../conversation/choices/model-choice.ts';
import { useClientSession } from '../conversation/client-session.ts';
import { filesName, newChatName, parseAttached, uploadingChats } from '../conversation/draft/attached-files.ts';
import type { DraftStore } from '../conversation/draft/drafts.ts';
import { newDraftName } from '../conversation/new-chat.ts';
import { useText } from '../i18n/i18n.ts';
import { createId } from '../ids.ts';
import { taglineOf, useBranding, useTitle } from '../layout/branding.ts';
import { lazyComponent } from '../layout/lazy-component.tsx';
import { Composer } from './composer/composer.tsx';
import classes from './conversation-page.module.css';
import { preloadConversationPage } from './lazy-conversation-page.ts';
import { useChoices } from './use-choices.ts';
import { useConversationView } from './use-conversation.ts';
import { useSubmission } from './use-submission.ts';

const StartAssistants = lazyComponent(async () => (await import('./start-assistants.tsx')).StartAssistants);
const NoModel = lazyComponent(async () => (await import('./no-model.tsx')).NoModel);
const ProjectLink = lazyComponent(async () => (await import('../projects/project-link.tsx')).ProjectLink);

/**
 * `/`: a conversation that does not exist yet. Its id is generated here and stored in the receipt, so that a retry of an
 * interrupted first message creates the same conversation.
 */
export function NewConversationPage() {
  const { project, temporary } = useSearch({ from: '/signed-in/' });
  return <NewConversation key={`${project} ${temporary}`} />;
}

function NewConversation() {
  const t = useText();
  const branding = useBranding();
  const { receipts, drafts } = useClientSession();
  const { data } = useQuery(catalogueQuery);
  const { project: projectId, assistant: assistantId, temporary = false } = useSearch({ from: '/signed-in/' });
  const newChat = useMemo(() => ({ projectId, assistantId, temporary }), [projectId, assistantId, temporary]);
  const draftName = newDraftName(newChat);
  const [chatId] = useState(() => receipts.pendingNewChat() ?? chatOfFiles(drafts, draftName) ?? createId());
  const { store, view } = useConversationView(chatId);
  const navigate = useNavigate();
  const submission = useSubmission(store, () => navigate({ to: '/c/$chatId', params: { chatId } }));
  const choices = useChoices(store);
  useTitle(undefined);
  usePreloadedConversation();
  if (data && enabledModels(data.providers).length === 0 && !submission.pending) return <NoModel />;
  return (
    <main id="content" tabIndex={-1} className={classes.new}>
      <div className={classes.welcome}>
        <h1 className={classes.greeting}>{t('empty.greeting')}</h1>
        <p className={classes.tagline}>
          {temporary ? t('temporary.about') : taglineOf(branding, t) || branding.productName}
        </p>
        {projectId === undefined ? null : <ProjectLink projectId={projectId} />}
      </div>
      <Composer
        store={store}
        chat={undefined}
        inputs={view.inputs}
        isRunning={false}
        isStopping={false}
        submission={submission}
        choices={choices}
        draftName={draftName}
        newChat={newChat}
      />
      <StartAssistants assistantId={assistantId} draftName={draftName} />
    </main>
  );
}

/** Loads the page of conversations once this one can be used: sending the first message opens it. */
function usePreloadedConversation(): void {
  useEffect(() => {
    // Safari has no requestIdleCallback.
    const whenIdle = window.requestIdleCallback ?? ((callback: () => void) => window.setTimeout(callback));
    whenIdle(preloadConversationPage);
  }, []);
}

/** The conversation that was made for files of this draft, while they wait for their message. */
function chatOfFiles(drafts: DraftStore, draftName: string): string | undefined {
  const chatId = drafts.read(newChatName(draftName));
  const hasFiles = parseAttached(drafts.read(filesName(chatId))).length > 0 || uploadingChats.has(chatId);
  return chatId !== '' && hasFiles ? chatId : undefined;
}
