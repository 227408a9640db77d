import '../mcp/mcp-texts.ts';
import { useText } from '../i18n.ts';
import { McpServersView } from '../mcp/mcp-servers-view.tsx';
import { Section } from './section.tsx';

/** `/settings/tools` */
export function ToolsPage() {
  const t = useText();
  return (
    <Section title={t('settings.tools')} text={t('mcp.text')}>
      <McpServersView />
    </Section>
  );
}
