import 'virtual:texts/conversation';
import 'virtual:texts/shares';
import type { Chat } from '@homeport/contracts/chat/conversations';
import { Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import {
  Archive,
  ArchiveRestore,
  Braces,
  FileText,
  Folder,
  FolderInput,
  ListChecks,
  MessageSquareText,
  Monitor,
  PencilLine,
  Share2,
  Trash2,
} from 'lucide-react';
import { fileAddress } from '../../api/api.ts';
import { useText } from '../../i18n/i18n.ts';
import { titleText } from '../../i18n/title-text.ts';
import { useHasWorkspace } from '../records/use-has-workspace.ts';
import { AnchoredMenu } from './anchored-menu.tsx';
import type { MenuPlace } from './use-menu.ts';

export type ConversationActions = {
  rename: () => void;
  setArchived: () => void;
  /** Into a project, or out of one. */
  move: () => void;
  /** Opens its instructions and parameters. */
  instructions: () => void;
  /** Opens the dialog that makes a link to it. */
  share: () => void;
  remove: () => void;
  /** Absent if there is no list to select from. */
  select?: () => void;
};

/** Menu entries for one conversation. */
function ConversationMenuItems({ chat, actions }: { chat: Chat; actions: ConversationActions }) {
  const t = useText();
  const navigate = useNavigate();
  const { hasWorkspace } = useHasWorkspace();
  const exportAs = (format: 'markdown' | 'json') => ({
    component: 'a' as const,
    href: fileAddress('GET /api/chats/export', { id: chat.id, format }),
    download: true,
  });
  return (
    <>
      <Menu.Item leftSection={<PencilLine size={15} />} onClick={actions.rename}>
        {t('nav.rename')}
      </Menu.Item>
      {actions.select ? (
        <Menu.Item leftSection={<ListChecks size={15} />} onClick={actions.select}>
          {t('nav.select')}
        </Menu.Item>
      ) : null}
      <Menu.Item
        leftSection={chat.archived ? <ArchiveRestore size={15} /> : <Archive size={15} />}
        onClick={actions.setArchived}
      >
        {t(chat.archived ? 'nav.restore' : 'nav.archive')}
      </Menu.Item>
      <Menu.Item leftSection={<FolderInput size={15} />} onClick={actions.move}>
        {t('nav.move')}
      </Menu.Item>
      <Menu.Item leftSection={<MessageSquareText size={15} />} onClick={actions.instructions}>
        {t('nav.instructions')}
      </Menu.Item>
      {chat.temporary ? null : (
        <Menu.Item leftSection={<Share2 size={15} />} onClick={actions.share}>
          {t('share.menu')}
        </Menu.Item>
      )}
      <Menu.Item
        leftSection={<Folder size={15} />}
        onClick={() => void navigate({ to: '/c/$chatId', params: { chatId: chat.id }, search: { panel: 'files' } })}
      >
        {t('nav.files')}
      </Menu.Item>
      {hasWorkspace ? (
        <Menu.Item
          leftSection={<Monitor size={15} />}
          onClick={() =>
            void navigate({ to: '/c/$chatId', params: { chatId: chat.id }, search: { panel: 'workspace' } })
          }
        >
          {t('nav.workspace')}
        </Menu.Item>
      ) : null}
      <Menu.Divider />
      <Menu.Item leftSection={<FileText size={15} />} {...exportAs('markdown')}>
        {t('nav.exportMarkdown')}
      </Menu.Item>
      <Menu.Item leftSection={<Braces size={15} />} {...exportAs('json')}>
        {t('nav.exportJson')}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item color="var(--text-danger)" leftSection={<Trash2 size={15} />} onClick={actions.remove}>
        {t('nav.delete')}
      </Menu.Item>
    </>
  );
}

type Props = MenuPlace & { chat: Chat; actions: ConversationActions };

/** The list's only menu, at the button of the row it is open for: a thousand rows do not need a thousand menus. */
export function RowMenu({ chat, actions, ...place }: Props) {
  const t = useText();
  return (
    <AnchoredMenu
      {...place}
      label={t('nav.more', { title: titleText(chat.title, t) })}
      position="bottom-end"
      width={212}
    >
      <ConversationMenuItems chat={chat} actions={actions} />
    </AnchoredMenu>
  );
}
