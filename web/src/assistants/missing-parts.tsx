import type { Assistant } from '@homeport/contracts/assistants';
import { Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';

/** Lists parts of the assistant that the reader can't use, and the substitutes. */
export function MissingParts({ missing }: { missing: Assistant['missing'] }) {
  const t = useText();
  if (!missing.model && missing.mcpServers === 0) return null;
  return (
    <Notice kind="info" title={t('assistant.lacksTitle')}>
      {missing.model ? <div>{t('assistant.lacksModel')}</div> : null}
      {missing.mcpServers > 0 ? <div>{t('assistant.lacksServers', { count: missing.mcpServers })}</div> : null}
    </Notice>
  );
}
