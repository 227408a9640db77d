import 'virtual:texts/mcp';
import { useCatalogueOwner } from '../catalogue/catalogue-api.ts';
import { useText } from '../i18n/i18n.ts';
import { McpServersView } from '../mcp/mcp-servers-view.tsx';
import { OwnWebSearchCard } from '../web-search/web-search-cards.tsx';
import { RulesCard } from './rules-card.tsx';

/** `/settings/tools` */
export function ToolsPage() {
  const t = useText();
  const owner = useCatalogueOwner();
  return (
    <McpServersView
      {...(owner ? { userId: owner.userId } : {})}
      title={owner ? t('users.toolsOf', { name: owner.name }) : t('settings.tools')}
      text={t(owner ? 'users.toolsText' : 'mcp.text')}
    >
      {owner ? null : (
        <>
          <OwnWebSearchCard />
          <RulesCard />
        </>
      )}
    </McpServersView>
  );
}
