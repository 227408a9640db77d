import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { groupByTier } from '../conversation/model-choice.ts';
import { useThreadActions } from '../conversation/thread-actions.ts';
import { MenuAt } from '../frame/menu-at.tsx';
import type { MenuPlace } from '../frame/use-menu.ts';
import { useText } from '../i18n.ts';
import { catalogueQuery } from '../queries.ts';

/** The models that can answer, by tier. */
export function RegenerateMenu({ messageId, ...place }: MenuPlace & { messageId: string }) {
  const t = useText();
  const { regenerate } = useThreadActions();
  const { data } = useQuery(catalogueQuery);
  return (
    <MenuAt {...place} label={t('message.regenerateWith')} position="top-start" width={260}>
      {groupByTier(data?.providers ?? [], data?.modelTiers ?? []).map((group) => (
        <div key={group.tier.value}>
          <Menu.Label>{group.tier.label}</Menu.Label>
          {group.models.map((model) => (
            <Menu.Item key={model.id} onClick={() => regenerate(messageId, model.id)}>
              {model.displayName}
            </Menu.Item>
          ))}
        </div>
      ))}
    </MenuAt>
  );
}
