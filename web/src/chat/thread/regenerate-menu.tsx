import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { groupByTier } from '../../conversation/choices/model-choice.ts';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { useText } from '../../i18n/i18n.ts';
import { AnchoredMenu } from '../../layout/menus/anchored-menu.tsx';
import type { MenuPlace } from '../../layout/menus/use-menu.ts';

/** The models that can answer, by tier. */
export function RegenerateMenu({ messageId, ...place }: MenuPlace & { messageId: string }) {
  const t = useText();
  const { regenerate } = useThreadActions();
  const { data } = useQuery(catalogueQuery);
  return (
    <AnchoredMenu {...place} label={t('message.regenerateWith')} position="top-start" width={260}>
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
    </AnchoredMenu>
  );
}
