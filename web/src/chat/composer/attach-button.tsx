import type { Chat } from '@homeport/contracts/chat/conversations';
import type { McpServer } from '@homeport/contracts/mcp/mcp';
import { ActionIcon } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { NewChat } from '../../conversation/new-chat.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { useMenu } from '../../layout/menus/use-menu.ts';
import { Tip } from '../../layout/tip.tsx';
import type { WebChoice } from './use-web-choice.ts';

const ResourceDialog = lazyComponent(async () => (await import('../../mcp/resource-dialog.tsx')).ResourceDialog);
const ComposerMenu = lazyComponent(async () => (await import('./composer-menu.tsx')).ComposerMenu);

type Props = {
  chat: Chat | undefined;
  newChat: NewChat | undefined;
  store: ConversationStore;
  web: WebChoice;
  serverIds: readonly string[] | null;
  onServers: (ids: string[] | null) => void;
  onFiles: (files: File[]) => void;
  onEffort: () => void;
  isDisabled: boolean;
};

/** Opens the menu of what a message can be given. */
export function AttachButton({
  chat,
  newChat,
  store,
  web,
  serverIds,
  onServers,
  onFiles,
  onEffort,
  isDisabled,
}: Props) {
  const t = useText();
  const navigate = useNavigate();
  const picker = useRef<HTMLInputElement>(null);
  const { place, buttonProps } = useMenu(ComposerMenu);
  const [servers, setServers] = useState<readonly McpServer[]>();
  const label = t('composer.attach');
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        data-file-picker
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
          if (!matchMedia('(pointer: coarse)').matches) document.querySelector<HTMLElement>('[data-composer]')?.focus();
        }}
      />
      <Tip label={label}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={32}
          radius="xl"
          aria-label={label}
          disabled={isDisabled}
          {...buttonProps}
        >
          <Plus size={19} />
        </ActionIcon>
      </Tip>
      {place ? (
        <ComposerMenu
          {...place}
          web={web}
          newChat={newChat}
          store={store}
          serverIds={serverIds}
          onServers={onServers}
          onEffort={onEffort}
          onResources={setServers}
          onUpload={() => picker.current?.click()}
          onFiles={
            chat
              ? () => void navigate({ to: '/c/$chatId', params: { chatId: chat.id }, search: { panel: 'files' } })
              : undefined
          }
        />
      ) : null}
      {servers ? <ResourceDialog servers={servers} onFiles={onFiles} onClose={() => setServers(undefined)} /> : null}
    </>
  );
}
