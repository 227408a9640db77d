import 'virtual:texts/context';
import 'virtual:texts/files';
import 'virtual:texts/mcp';
import 'virtual:texts/web-search';
import type { McpServer } from '@homeport/contracts/mcp/mcp';
import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Brain, Folder, Paperclip, Server, Settings2 } from 'lucide-react';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { NewChat } from '../../conversation/new-chat.ts';
import { useText } from '../../i18n/i18n.ts';
import { AnchoredMenu } from '../../layout/menus/anchored-menu.tsx';
import type { MenuPlace } from '../../layout/menus/use-menu.ts';
import { useAccess } from '../../layout/use-access.ts';
import { mcpServersQuery, serverState } from '../../mcp/mcp-api.ts';
import { hasSearchService, ownWebSearchQuery } from '../../web-search/web-search-api.ts';
import { useTemporary } from './use-temporary.ts';
import type { WebChoice } from './use-web-choice.ts';

type Props = MenuPlace & {
  onUpload: () => void;
  onEffort: () => void;
  /** Absent where there are no files yet. */
  onFiles: (() => void) | undefined;
  /** Chooses among the resources of these servers. */
  onResources: (servers: readonly McpServer[]) => void;
  web: WebChoice;
  newChat: NewChat | undefined;
  store: ConversationStore;
  /** null: all servers that are trusted. */
  serverIds: readonly string[] | null;
  onServers: (ids: string[] | null) => void;
};

/** Menu of the composer: attaches files and chooses the MCP servers for the next answer. */
export function ComposerMenu(props: Props) {
  const { onUpload, onEffort, onFiles, onResources, web, newChat, store, serverIds, onServers, ...place } = props;
  const t = useText();
  const { canEditTools } = useAccess();
  const toggleTemporary = useTemporary(store.chatId);
  const { data } = useQuery(mcpServersQuery());
  const servers = (data?.servers ?? []).filter((server) => server.enabled);
  const usable = servers.filter(isUsable).map((server) => server.id);
  const chosen = serverIds === null ? usable : serverIds.filter((id) => usable.includes(id));
  const toggle = (id: string, isChosen: boolean) => {
    const next = isChosen ? [...chosen, id] : chosen.filter((each) => each !== id);
    onServers(next);
  };
  return (
    <AnchoredMenu {...place} label={t('files.menu')} position="top-start" width={280} offset={8}>
      <Menu.Item leftSection={<Paperclip size={16} />} onClick={onUpload}>
        {t('files.add')}
      </Menu.Item>
      {onFiles ? (
        <Menu.Item leftSection={<Folder size={16} />} onClick={onFiles}>
          {t('files.ofConversation')}
        </Menu.Item>
      ) : null}
      {usable.length > 0 ? (
        <Menu.Item leftSection={<Server size={16} />} onClick={() => onResources(servers.filter(isUsable))}>
          {t('mcp.resourceMenu')}
        </Menu.Item>
      ) : null}
      <Menu.Item leftSection={<Brain size={16} />} onClick={onEffort}>
        {t('effort.choose')}
      </Menu.Item>
      <WebItem web={web} />
      {newChat ? (
        <Menu.CheckboxItem checked={newChat.temporary} onChange={() => toggleTemporary(newChat)}>
          {t('temporary.title')}
        </Menu.CheckboxItem>
      ) : null}
      {servers.length === 0 && !canEditTools ? null : (
        <>
          <Menu.Divider />
          <Menu.Label>{t('mcp.chooseLabel')}</Menu.Label>
          {servers.length === 0 ? <Menu.Item disabled>{t('mcp.chooseNone')}</Menu.Item> : null}
          {usable.length > 1 ? (
            <Menu.CheckboxItem
              checked={serverIds === null}
              closeMenuOnClick={false}
              onChange={(isAll) => onServers(isAll ? null : [])}
            >
              {t('mcp.chooseAll')}
            </Menu.CheckboxItem>
          ) : null}
          {servers.map((server) => (
            <Menu.CheckboxItem
              key={server.id}
              checked={chosen.includes(server.id)}
              disabled={!isUsable(server)}
              closeMenuOnClick={false}
              onChange={(isChosen) => toggle(server.id, isChosen)}
              rightSection={<ServerFact server={server} />}
            >
              <bdi>{server.name}</bdi>
            </Menu.CheckboxItem>
          ))}
          <Menu.Item component={Link} to="/settings/tools" leftSection={<Settings2 size={16} />}>
            {t('mcp.chooseSettings')}
          </Menu.Item>
        </>
      )}
    </AnchoredMenu>
  );
}

/** Whether models may use the web in this conversation; nothing where no search service is connected. */
function WebItem({ web: { isOn, choose } }: { web: WebChoice }) {
  const t = useText();
  const { data } = useQuery(ownWebSearchQuery);
  if (data === undefined || !hasSearchService(data.webSearch)) return null;
  return (
    <Menu.CheckboxItem checked={isOn} closeMenuOnClick={false} onChange={choose}>
      {t('webSearch.choose')}
    </Menu.CheckboxItem>
  );
}

function isUsable(server: McpServer): boolean {
  return serverState(server) === 'trusted';
}

function ServerFact({ server }: { server: McpServer }) {
  const t = useText();
  if (isUsable(server)) return <>{t('mcp.toolsOf', { count: server.tools.length })}</>;
  return <>{t(server.connection === 'needed' ? 'mcp.state.signIn' : 'mcp.chooseUnusable')}</>;
}
