import type { Chat } from '@homeport/contracts/chat/conversations';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useClientSession } from '../conversation/client-session.ts';
import { useText } from '../i18n/i18n.ts';
import { showToast } from '../layout/toasts.tsx';
import { attach } from './attachments/attachment-uploads.ts';
import { FilePanel, type PanelProps } from './file-panel.tsx';

type Props = Pick<PanelProps, 'origins' | 'empty' | 'below'> & { chatId: string; chat: Chat | undefined };

/** A conversation's side panel; the URL determines its content. */
export function ConversationFiles({ chatId, chat, ...list }: Props) {
  const t = useText();
  const navigate = useNavigate();
  const { file, cite, at } = useSearch({ from: '/signed-in/c/$chatId' });
  const { drafts } = useClientSession();
  const scope = useMemo(() => ({ chatId }), [chatId]);
  const show = (search: { file?: string; panel?: 'files' }) =>
    void navigate({ to: '/c/$chatId', params: { chatId }, search, resetScroll: false });
  const onAttach = (artifact: Artifact) => {
    attach(drafts, chatId, artifact);
    showToast(t('files.attachedToast', { name: artifact.filename }));
  };
  const onFix = (request: string) => {
    const draft = drafts.read(chatId).trimEnd();
    drafts.replace(chatId, draft === '' ? request : `${draft}\n\n${request}`);
    showToast(t('files.draftToast'));
  };
  return (
    <FilePanel
      scope={scope}
      fileId={file}
      cited={
        cite === undefined || at === undefined
          ? undefined
          : { name: cite, at, projectId: chat?.projectId, assistantId: chat?.assistantId }
      }
      {...list}
      canUpload={chat?.archived === false}
      onFile={(id) => show(id === undefined ? { panel: 'files' } : { file: id })}
      onAttach={chat?.archived === false ? onAttach : undefined}
      onFix={chat?.archived === false ? onFix : undefined}
      onClose={() => show({})}
    />
  );
}
