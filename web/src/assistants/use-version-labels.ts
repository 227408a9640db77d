import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../api/queries.ts';
import { useText } from '../i18n/i18n.ts';
import { tierLabel } from '../i18n/tier-label.ts';
import { mcpServersQuery } from '../mcp/mcp-api.ts';
import type { VersionLabels } from './version-diff.ts';

/** Names of the models and servers that a version has by id. */
export function useVersionLabels(): VersionLabels {
  const t = useText();
  const { data: catalogue } = useQuery(catalogueQuery);
  const { data: mcp } = useQuery(mcpServersQuery());
  const models = catalogue?.providers.flatMap((provider) => provider.models) ?? [];
  return {
    model: ({ modelId, tier, missing }) => {
      if (modelId !== null) return models.find(({ id }) => id === modelId)?.displayName ?? t('versions.unknownModel');
      if (missing.model) return t('assistant.modelMissing');
      const known = catalogue?.modelTiers.find(({ value }) => value === tier);
      if (tier === null) return t('assistant.modelDefault');
      return t('assistant.tier', { name: known ? tierLabel(known, t) : String(tier) });
    },
    server: (id) => mcp?.servers.find((server) => server.id === id)?.name ?? t('versions.unknownServer'),
    allServers: t('assistant.serversAll'),
    picture: t('versions.picture'),
    on: t('versions.on'),
    off: t('versions.off'),
  };
}
