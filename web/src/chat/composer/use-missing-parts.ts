import type { Assistant } from '@homeport/contracts/assistants';
import { useText } from '../../i18n/i18n.ts';

/** Text that lists the parts of an assistant that the reader can't use; undefined if there are none. */
export function useMissingParts(assistant: Assistant | null): string | undefined {
  const t = useText();
  if (!assistant) return undefined;
  const { model, mcpServers } = assistant.missing;
  const texts = [
    ...(model ? [t('suggest.missingModel')] : []),
    ...(mcpServers > 0 ? [t('suggest.missingServers', { count: mcpServers })] : []),
  ];
  return texts.length === 0 ? undefined : texts.join(' ');
}
